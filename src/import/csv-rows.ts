import type { TextBlock } from "./text-blocks.ts";
import { UnreadableFile } from "./text-blocks.ts";

/** A row of a CSV file. */
export interface CsvRow {
  /** The line on which it begins, from 1; a cell may hold further lines. */
  readonly line: number;
  /** Lines that it takes up. */
  readonly lines: number;
  readonly cells: readonly string[];
}

/**
 * Rows of CSV as RFC 4180 has it: commas, cells in double quotes where they hold commas, quotes (doubled) or
 * lines, rows that end with CRLF or LF. Empty lines are passed over. Throws UnreadableFile where the quotes
 * don't add up, because nothing after that can be told apart.
 */
export async function* csvRows(blocks: AsyncIterable<TextBlock>): AsyncGenerator<CsvRow> {
  let carry = "";
  let line = 1;
  for await (const block of blocks) {
    const text = carry + block.text;
    let start = 0;
    for (let row = rowAt(text, 0, line); row !== undefined; row = rowAt(text, start, line)) {
      if (row.cells.length > 1 || row.cells[0] !== "") yield { line, lines: row.lines, cells: row.cells };
      line += row.lines;
      start = row.end;
    }
    carry = text.slice(start);
    if (carry.length > row_length_max) throw unclosed(carry, line);
  }
  if (carry !== "") throw unclosed(carry, line);
}

interface ScannedRow {
  readonly cells: readonly string[];
  /** Where the next row begins. */
  readonly end: number;
  /** Lines that it takes up. */
  readonly lines: number;
}

/** The row that begins at `start`; undefined where the text ends before it does. */
function rowAt(text: string, start: number, line: number): ScannedRow | undefined {
  if (start >= text.length) return undefined;
  const cells: string[] = [];
  let lines = 1;
  let at = start;
  for (;;) {
    if (text.charCodeAt(at) === quote) {
      const close = closingQuote(text, at);
      if (close === -1) return undefined;
      const cell = text.slice(at + 1, close).replaceAll('""', '"');
      cells.push(cell);
      lines += newlinesIn(cell);
      at = close + 1;
      if (text.charCodeAt(at) === carriageReturn) at += 1;
    } else {
      const end = endOfPlain(text, at);
      if (text.charCodeAt(end) === quote) {
        throw new UnreadableFile(
          line + lines - 1,
          "a quote stands inside a cell that does not begin with one: put the cell in quotes and double those within",
        );
      }
      // The carriage return belongs to the end of the row, not to its last cell.
      const last =
        text.charCodeAt(end) === newline && text.charCodeAt(end - 1) === carriageReturn && end > at;
      cells.push(text.slice(at, last ? end - 1 : end));
      at = end;
    }
    if (at >= text.length) return { cells, end: at, lines };
    const next = text.charCodeAt(at);
    if (next === newline) return { cells, end: at + 1, lines };
    if (next !== comma) {
      throw new UnreadableFile(
        line + lines - 1,
        "a closing quote is followed by more text: double the quotes within a cell",
      );
    }
    at += 1;
  }
}

/** Index of the quote that closes the cell opened at `open`; -1 where there is none. */
function closingQuote(text: string, open: number): number {
  let at = text.indexOf('"', open + 1);
  while (at !== -1 && text.charCodeAt(at + 1) === quote) at = text.indexOf('"', at + 2);
  return at;
}

/** Index of the first comma, quote or newline from `start` on, or the end of the text. */
function endOfPlain(text: string, start: number): number {
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === comma || code === newline || code === quote) return at;
  }
  return at;
}

function unclosed(text: string, line: number): UnreadableFile {
  const before = text.slice(0, lastOpening(text));
  return new UnreadableFile(line + newlinesIn(before), "a quote is opened here and never closed");
}

/** Index of the opening quote that has no closing one. */
function lastOpening(text: string): number {
  let at = 0;
  for (;;) {
    if (text.charCodeAt(at) === quote) {
      const close = closingQuote(text, at);
      if (close === -1) return at;
      at = close + 1;
    } else {
      at = endOfPlain(text, at);
      if (at >= text.length) return 0;
      at += 1;
    }
  }
}

function newlinesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

const comma = 0x2c;
const quote = 0x22;
const newline = 0x0a;
const carriageReturn = 0x0d;
const row_length_max = 4_194_304;
