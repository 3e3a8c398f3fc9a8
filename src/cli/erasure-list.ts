import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { messageOf, OperatorError } from "../base/errors.ts";
import { ErasedSpans, spanOf } from "../store/erasure.ts";
import { closed, number } from "../store/exchange.ts";
import { type Pause, PausedSpan, pausedSpanOf } from "../store/pause.ts";
import type { Unkept } from "./restore/restoring.ts";

/** Pauses as a list has them, beside erasures: with their home, and whether they were asked for there. */
const ListedPauses = Type.Array(
  Type.Object(
    { ...PausedSpan.properties, home: number, own: Type.Union([Type.Literal(0), Type.Literal(1)]) },
    closed,
  ),
);

export function listedPause(pause: Pause): Unkept["pauses"][number] {
  return { ...pausedSpanOf(pause), home: pause.home, own: pause.own };
}

/** The times in a file that `lintel erase --list --json` has printed; with `--pauses` it has those, too. @throws OperatorError */
export function unkeptIn(file: string): Unkept {
  const remedy = "name a file that `lintel erase --list --json` has printed";
  let read: unknown;
  try {
    read = JSON.parse(readFileSync(file, "utf8"));
  } catch (thrown) {
    throw new OperatorError(`${file} cannot be read (${messageOf(thrown)})`, remedy);
  }
  const rows = Array.isArray(read) ? read : [read];
  // Of an erasure it says which of its spans it is.
  const isErasure = (row: unknown) => typeof row !== "object" || row === null || "place" in row;
  const erasures = rows.filter(isErasure).map((row) => (row instanceof Object ? spanOf(row) : row));
  const pauses = rows.filter((row) => !isErasure(row));
  if (Value.Check(ErasedSpans, erasures) && Value.Check(ListedPauses, pauses)) return { erasures, pauses };
  throw new OperatorError(`${file} is no list of erasures`, remedy);
}
