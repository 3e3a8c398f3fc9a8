import { plainJson, plainLines, spreadsheetText } from "../base/text.ts";
import type { Encoder, FileCell, FileColumn, FileRow } from "./columns.ts";

/**
 * How CSV and NDJSON show a moment; Parquet has a type for it. Text to the millisecond in UTC
 * (`2026-11-20T12:00:00.250Z`), whole unix seconds as the interface serves them, or unix milliseconds.
 */
export const stampForms = {
  iso: (unix_ms: number) => new Date(unix_ms).toISOString(),
  unix: (unix_ms: number) => Math.floor(unix_ms / 1000),
  unix_ms: (unix_ms: number) => unix_ms,
} as const satisfies Record<string, (unix_ms: number) => string | number>;

export type StampForm = keyof typeof stampForms;

export const stampFormNames = Object.keys(stampForms) as StampForm[];

/**
 * Comma-separated values as RFC 4180 has them, in UTF-8, with a line of names first. A value that is not there
 * is an empty field; a text without characters is `""`. A text that a spreadsheet would compute has an apostrophe before it (csv-text.ts),
 * and control characters are left out.
 */
export function csv(columns: readonly FileColumn[], stamp: StampForm): Encoder {
  const text = columns.map(({ type }) => type === "text");
  const safe = (cell: FileCell, at: number) =>
    text[at] && typeof cell === "string" ? spreadsheetText(plainLines(cell)) : cell;
  const line = (cells: FileRow) => `${cells.map((cell, at) => field(safe(cell, at))).join(",")}\r\n`;
  return encoder(columns, stamp, { head: line(columns.map(({ name }) => name)), line });
}

/** One JSON object a line, with a member for each column; control characters in a text are escapes. */
export function ndjson(columns: readonly FileColumn[], stamp: StampForm): Encoder {
  const line = (cells: FileRow) =>
    `${plainJson(Object.fromEntries(columns.map(({ name }, at) => [name, cells[at] ?? null])))}\n`;
  return encoder(columns, stamp, { head: "", line });
}

/** The encoder of a format that has a line for each row, its moments in the form that was asked for. */
function encoder(
  columns: readonly FileColumn[],
  stamp: StampForm,
  { head, line }: { head: string; line: (cells: FileRow) => string },
): Encoder {
  const utf8 = new TextEncoder();
  const show = columns.map(({ type }) => (type === "moment" ? stampForms[stamp] : undefined));
  const shown = (row: FileRow) =>
    row.map((cell, at) => (typeof cell === "number" ? (show[at]?.(cell) ?? cell) : cell));
  return {
    head: () => utf8.encode(head),
    encode: (rows) => utf8.encode(rows.map((row) => line(shown(row))).join("")),
    tail: () => new Uint8Array(),
  };
}

function field(cell: FileCell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return String(cell);
  return cell === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
