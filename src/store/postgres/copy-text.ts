import type { SqlRunner } from "./connection.ts";
import { copyIn } from "./copy-in.ts";

/** A value of a row that is copied; PostgreSQL reads it as the type of its column. */
export type CopyValue = string | number | boolean | null;

/** Puts rows into a table by COPY, in its text format. `target` is a table with its columns, as SQL. */
export function copyText(
  sql: SqlRunner,
  target: string,
  rows: Iterable<readonly CopyValue[]>,
): Promise<void> {
  return copyIn(sql, `COPY ${target} FROM STDIN`, chunksOf(rows));
}

function* chunksOf(rows: Iterable<readonly CopyValue[]>): Generator<string> {
  let text = "";
  for (const row of rows) {
    text += `${row.map(escaped).join("\t")}\n`;
    if (text.length < chunk_length) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

function escaped(value: CopyValue): string {
  if (value === null) return "\\N";
  if (typeof value !== "string") return String(value);
  return special.test(value) ? value.replace(specials, (found) => escapes[found] ?? found) : value;
}

const special = /[\\\t\n\r]/;
const specials = /[\\\t\n\r]/g;
const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r" };
const chunk_length = 65_536;
