import type { Writable } from "node:stream";
import type { SqlRunner } from "./connection.ts";

/** A value of a row that is copied; PostgreSQL reads it as the type of its column. */
export type CopyValue = string | number | boolean | null;

/** Puts rows into a table by COPY, in its text format. `target` is a table with its columns, as SQL. */
export async function copyText(
  sql: SqlRunner,
  target: string,
  rows: Iterable<readonly CopyValue[]>,
): Promise<void> {
  const stream = await sql.unsafe(`COPY ${target} FROM STDIN`).writable();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  stream.once("finish", resolve);
  stream.once("error", reject);
  let text = "";
  for (const row of rows) {
    text += `${row.map(escaped).join("\t")}\n`;
    if (text.length < chunk_length) continue;
    await written(stream, text, promise);
    text = "";
  }
  stream.end(text);
  await promise;
}

/** Waits until the stream wants more, or has failed. */
async function written(stream: Writable, text: string, ended: Promise<void>): Promise<void> {
  if (stream.write(text)) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once("drain", resolve);
  await Promise.race([promise, ended]);
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
