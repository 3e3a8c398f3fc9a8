import { basename, extname } from "node:path";
import { OperatorError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { isRecordType, type RecordType, recordTypes } from "../records/record-table.ts";

/** How a file of records is to be read. */
export type FileFormat =
  | { readonly kind: "json" }
  | { readonly kind: "ndjson" }
  | { readonly kind: "csv"; readonly type: RecordType };

/** The format that a file's name tells. Throws OperatorError where it tells none. */
export function formatOf(path: string): FileFormat {
  const extension = extname(path).toLowerCase();
  if (extension === ".json") return { kind: "json" };
  if (extension === ".ndjson" || extension === ".jsonl") return { kind: "ndjson" };
  if (extension !== ".csv") {
    throw new OperatorError(
      `can't tell what ${path} holds`,
      "name it .json, .ndjson or, as the records in it are called, items.csv, subjects.csv and so on",
    );
  }
  const name = basename(path, extname(path)).toLowerCase();
  if (isRecordType(name)) return { kind: "csv", type: name };
  const meant = nearest(name, recordTypes);
  throw new OperatorError(
    `can't tell what records ${path} holds`,
    meant === undefined
      ? `name it after one of ${recordTypes.join(", ")}`
      : `it may be meant as ${meant}.csv; the names are ${recordTypes.join(", ")}`,
  );
}
