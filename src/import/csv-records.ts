import { definitionOf, fieldsOf, type RecordType } from "../records/record-table.ts";
import { type CsvRow, csvRows } from "./csv-rows.ts";
import { givenText } from "./fault.ts";
import type { RawReceiver } from "./raw-record.ts";
import { requiredFields } from "./required-fields.ts";
import type { TextBlock } from "./text-blocks.ts";
import { unknownField } from "./unknown-field.ts";

/**
 * Hands over the records of a CSV file of one type: the first row names the fields, every other is a record.
 * Yields after each block's worth of rows, so that the caller can put away what it received.
 */
export async function* csvRecords(
  type: RecordType,
  blocks: AsyncIterable<TextBlock>,
  receiver: RawReceiver,
): AsyncGenerator<void> {
  let header: Header | undefined;
  let rows = 0;
  for await (const row of csvRows(blocks)) {
    if (header === undefined) {
      header = headerOf(type, row, receiver);
      if (header === undefined) {
        receiver.brokenOff();
        return;
      }
      continue;
    }
    receive(type, header, row, receiver);
    rows += 1;
    if (rows % rows_between_yields === 0) yield;
  }
  if (header === undefined) {
    receiver.fault(1, {
      type,
      expected: "the file is empty: a first row with the names of the fields expected",
    });
  }
}

interface Header {
  readonly names: readonly string[];
  /** Columns in the order of `names`: a column that names no field is left out. */
  readonly columns: readonly number[];
  readonly width: number;
}

function headerOf(type: RecordType, row: CsvRow, receiver: RawReceiver): Header | undefined {
  const known = fieldsOf(type);
  const [only] = row.cells;
  if (row.cells.length === 1 && only !== undefined && /[;\t\r]/.test(only)) {
    const what = only.includes("\r") ? "lines that end with LF or CRLF" : "cells separated by commas";
    receiver.fault(row.line, { type, given: givenText(only), expected: what });
    return undefined;
  }
  const names: string[] = [];
  const columns: number[] = [];
  row.cells.forEach((name, column) => {
    const line = row.line;
    if (!known.includes(name)) receiver.fault(line, { type, ...unknownField(name, known) });
    else if (names.includes(name)) {
      receiver.fault(line, { type, field: name, expected: "the column stands here twice" });
    } else {
      names.push(name);
      columns.push(column);
    }
  });
  const missing = requiredFields(definitionOf(type)).filter((name) => !names.includes(name));
  for (const field of missing) {
    receiver.fault(row.line, { type, field, expected: "the column is missing, and no record is without it" });
  }
  // Without what identifies a record, each row would only repeat the same fault.
  return missing.length > 0 ? undefined : { names, columns, width: row.cells.length };
}

function receive(type: RecordType, header: Header, row: CsvRow, receiver: RawReceiver): void {
  const { names, columns, width } = header;
  const { line, lines, cells } = row;
  if (cells.length !== width) {
    receiver.fault(line, {
      type,
      given: `a row of ${cells.length}`,
      expected: `${width} cells, as in the first row,`,
    });
    return;
  }
  receiver.record({
    type,
    line,
    names,
    values: columns.map((column) => cells[column]),
    textual: true,
    lineOf: (index) => {
      if (lines === 1) return line;
      const before = cells.slice(0, columns[index]);
      return line + before.reduce((breaks, cell) => breaks + cell.split("\n").length - 1, 0);
    },
  });
}

const rows_between_yields = 1_000;
