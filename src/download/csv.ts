import type { Cell, Column, Row } from "./column.ts";
import type { Encoder } from "./encoder.ts";
import { type StampForm, stampForms } from "./stamp-form.ts";

/**
 * Comma-separated values as RFC 4180 has them, in UTF-8, with a line of names first. A value that is not there
 * is an empty field; a text without characters is `""`.
 */
export function csv(columns: readonly Column[], stamp: StampForm): Encoder {
  const show = columns.map(({ type }) => (type === "moment" ? stampForms[stamp] : undefined));
  const line = (row: Row) =>
    row.map((cell, at) => field(typeof cell === "number" && show[at] ? show[at](cell) : cell)).join(",");
  const encoder = new TextEncoder();
  const lines = (rows: readonly Row[]) => encoder.encode(rows.map((row) => `${line(row)}\r\n`).join(""));
  return {
    head: () => encoder.encode(`${columns.map(({ name }) => field(name)).join(",")}\r\n`),
    encode: lines,
    tail: () => new Uint8Array(),
  };
}

function field(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  return cell === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
