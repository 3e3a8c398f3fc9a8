import type { FileColumn, FileColumnType } from "../column.ts";
import type { StampForm } from "../stamp-form.ts";
import { madeOf } from "./reproducible.ts";
import type { Contents } from "./written.ts";

/** A Frictionless Data Package of a download: every file with its fields, their types, units and meanings. */
export function dataPackage(contents: Contents): object {
  const { tables, format, stamp, origin, made_ms, version } = contents;
  const made = madeOf(contents);
  const tabular = format === "csv";
  return {
    profile: tabular ? "tabular-data-package" : "data-package",
    name: "lintel-download",
    title: "Readings and records of homes, by Lintel",
    description: "codebook.md says the same for people.",
    created: new Date(made_ms).toISOString(),
    sources: [{ title: `Lintel ${version}, from ${origin.name}`, ...(origin.url && { path: origin.url }) }],
    ...(made && { lintel: made }),
    resources: tables.map(({ name, title, path, rows, bytes, sha256, columns }) => ({
      name,
      title,
      path,
      profile: tabular ? "tabular-data-resource" : "data-resource",
      format,
      mediatype: mediaTypes[format],
      ...(format === "parquet" ? {} : { encoding: "utf-8" }),
      ...(tabular
        ? { dialect: { delimiter: ",", lineTerminator: "\r\n", doubleQuote: true, header: true } }
        : {}),
      bytes,
      hash: `sha256:${sha256}`,
      rows,
      schema: { fields: columns.map((column) => fieldOf(column, stamp)), missingValues: [""] },
    })),
  };
}

/** Media types of files of each format. */
export const mediaTypes = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
} as const;

function fieldOf({ name, type, nullable, meaning, unit, bits }: FileColumn, stamp: StampForm): object {
  const moment = stamp === "iso" ? { type: "datetime", format: "any" } : { type: "integer" };
  return {
    name,
    ...(type === "moment" ? moment : { type: fieldTypes[type] }),
    description: meaning,
    ...(unit === "" ? {} : { unit }),
    ...(bits && { bits: bits.map((meaning, bit) => ({ bit, value: 2 ** bit, meaning })) }),
    constraints: { required: !nullable && type !== "text" },
  };
}

const fieldTypes: Readonly<Record<Exclude<FileColumnType, "moment">, string>> = {
  text: "string",
  integer: "integer",
  real: "number",
  boolean: "boolean",
  date: "date",
};
