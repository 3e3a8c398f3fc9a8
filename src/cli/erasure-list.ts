import { readFileSync } from "node:fs";
import { Value } from "@sinclair/typebox/value";
import { messageOf, OperatorError } from "../base/errors.ts";
import { type ErasedSpan, ErasedSpans, spanOf } from "../store/erasure.ts";

/** The spans in a file that `lintel erase --list --json` has printed. @throws OperatorError */
export function spansIn(file: string): ErasedSpan[] {
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, "utf8"));
  } catch (thrown) {
    throw new OperatorError(
      `${file} cannot be read (${messageOf(thrown)})`,
      "name a file that `lintel erase --list --json` has printed",
    );
  }
  const spans = Array.isArray(read) ? read.map(spanOf) : read;
  if (Value.Check(ErasedSpans, spans)) return spans;
  throw new OperatorError(
    `${file} is no list of erasures`,
    "name a file that `lintel erase --list --json` has printed",
  );
}
