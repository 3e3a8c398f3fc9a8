import { CsvError, parse } from "csv-parse";
import { definitionOf, fieldsOf, type RecordType } from "../domain/records/record-table.ts";
import { requiredFields } from "./record-check.ts";
import {
  givenText,
  type RawReceiver,
  type RawValue,
  type TextBlock,
  UnreadableFile,
  unknownField,
} from "./record-files.ts";

/**
 * Hands over the records of a CSV file of one type: the first row names the fields, every other is a record. Yields after
 * each block, so that the caller can put away what it received. Throws UnreadableFile where the quotes don't add up,
 * because nothing after that can be told apart.
 */
export async function* csvRecords(
  type: RecordType,
  blocks: AsyncIterable<TextBlock>,
  receiver: RawReceiver,
): AsyncGenerator<void> {
  let columns: Columns | undefined;
  let empty = true;
  for await (const rows of csvRows(blocks)) {
    for (const row of rows) {
      if (columns !== undefined) receive(type, columns, row, receiver);
      else if (empty) columns = columnsOf(type, row, receiver);
      empty = false;
    }
    if (!empty && columns === undefined) {
      receiver.brokenOff();
      return;
    }
    yield;
  }
  if (empty) {
    receiver.fault(1, {
      record: type,
      expected: "the file is empty: a first row with the names of the fields expected",
    });
  }
}

/** Cells of a row, each with the line on which it begins. */
type CsvRow = readonly (RawValue & { readonly value: string })[];

/**
 * Rows of CSV as RFC 4180 has it, those of a block at a time; rows end with CRLF or LF, and empty lines are passed
 * over. Rows of at most 4 MiB are kept while they are incomplete.
 */
export async function* csvRows(blocks: AsyncIterable<TextBlock>): AsyncGenerator<CsvRow[]> {
  let rows: CsvRow[] = [];
  let line = 1;
  const parser = parse({
    record_delimiter: ["\r\n", "\n"],
    relax_column_count: true,
    max_record_size: row_bytes_max,
    // What there is of a row where it can't be read on.
    raw: true,
    on_record: (whole) => {
      const { record: cells } = whole as unknown as { readonly record: readonly string[] };
      const row = cells.map((value) => {
        const cell = { value, line };
        // The parser's own count takes a CRLF within a cell for two lines.
        line += newlinesIn(value);
        return cell;
      });
      line += 1;
      if (cells.length > 1 || cells[0] !== "") rows.push(row);
      return null;
    },
  });
  // What is written is told of each fault.
  parser.on("error", () => {});
  const put = (text?: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const done = (fault?: Error | null) => (fault ? reject(fault) : resolve());
    if (text === undefined) parser.end(done);
    else parser.write(text, done);
    return promise;
  };
  const taken = () => {
    const complete = rows;
    rows = [];
    return complete;
  };
  try {
    for await (const { text } of blocks) {
      await put(text);
      yield taken();
    }
    await put();
  } catch (thrown) {
    if (!(thrown instanceof CsvError)) throw thrown;
    yield taken();
    throw unreadable(thrown, line);
  }
  yield taken();
}

/** Where a row that begins on `line` can't be read on. */
function unreadable({ code, raw = "" }: CsvError & { raw?: string }, line: number): UnreadableFile {
  const fault = quoteFaults[code];
  if (fault !== undefined) return new UnreadableFile(line + newlinesIn(raw), fault);
  const [closed] = closedCells.exec(raw) ?? [""];
  return new UnreadableFile(line + newlinesIn(closed), "a quote is opened here and never closed");
}

const quoteFaults: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE:
    "a quote stands inside a cell that does not begin with one: put the cell in quotes and double those within",
  CSV_INVALID_CLOSING_QUOTE: "a closing quote is followed by more text: double the quotes within a cell",
};

/** The cells of a row up to the one that is still open. */
const closedCells = /^(?:(?:"[^"]*(?:""[^"]*)*"|[^",]*),)*/;

/** For each column the field that it gives; a column that names none is undefined. */
type Columns = readonly (string | undefined)[];

function columnsOf(type: RecordType, row: CsvRow, receiver: RawReceiver): Columns | undefined {
  const known = fieldsOf(type);
  const [first, ...others] = row;
  const line = first?.line ?? 1;
  if (first !== undefined && others.length === 0 && /[;\t\r]/.test(first.value)) {
    const what = first.value.includes("\r") ? "lines that end with LF or CRLF" : "cells separated by commas";
    receiver.fault(line, { record: type, given: givenText(first.value), expected: what });
    return undefined;
  }
  const names = new Set<string>();
  const inner = fieldsWithin(type);
  const columns = row.map(({ value }) => {
    const name = inner.has(value) ? inner.get(value) : value;
    if (name === undefined) return undefined;
    if (!known.includes(name)) receiver.fault(line, { record: type, ...unknownField(name, known) });
    else if (names.has(name)) {
      receiver.fault(line, { record: type, field: name, expected: "the column stands here twice" });
    } else {
      names.add(name);
      return name;
    }
    return undefined;
  });
  const missing = requiredFields(definitionOf(type)).filter((name) => !names.has(name));
  for (const field of missing) {
    receiver.fault(line, {
      record: type,
      field,
      expected: "the column is missing, and no record is without it",
    });
  }
  // Without what identifies a record, each row would only repeat the same fault.
  return missing.length > 0 ? undefined : columns;
}

/**
 * Columns of a record within a record, as a download names them, `item_itemname`: its name gives the whole field, `item`, and the
 * others are passed over, because its own list has them.
 */
function fieldsWithin(type: RecordType): ReadonlyMap<string, string | undefined> {
  const { embeds } = definitionOf(type);
  if (embeds === undefined) return new Map();
  const inner = fieldsOf("items").map(
    (field) => [`${embeds}_${field}`, field === "itemname" ? embeds : undefined] as const,
  );
  return new Map(inner);
}

function receive(type: RecordType, columns: Columns, row: CsvRow, receiver: RawReceiver): void {
  const line = row[0]?.line ?? 1;
  if (row.length !== columns.length) {
    receiver.fault(line, {
      record: type,
      given: `a row of ${row.length}`,
      expected: `${columns.length} cells, as in the first row,`,
    });
    return;
  }
  const fields = new Map<string, RawValue>();
  row.forEach((cell, at) => {
    const name = columns[at];
    if (name !== undefined) fields.set(name, cell);
  });
  receiver.record({ type, line, fields, textual: true });
}

function newlinesIn(text: string): number {
  return text.split("\n").length - 1;
}

const row_bytes_max = 4_194_304;
