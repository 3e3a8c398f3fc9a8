import type { Column, Row } from "./column.ts";
import type { Encoder } from "./encoder.ts";
import { type StampForm, stampForms } from "./stamp-form.ts";

/** One JSON object a line, with a member for each column. */
export function ndjson(columns: readonly Column[], stamp: StampForm): Encoder {
  const encoder = new TextEncoder();
  const show = stampForms[stamp];
  const line = (row: Row) =>
    JSON.stringify(
      Object.fromEntries(
        columns.map(({ name, type }, at) => {
          const cell = row[at] ?? null;
          return [name, type === "moment" && typeof cell === "number" ? show(cell) : cell];
        }),
      ),
    );
  return {
    head: () => new Uint8Array(),
    encode: (rows) => encoder.encode(rows.map((row) => `${line(row)}\n`).join("")),
    tail: () => new Uint8Array(),
  };
}
