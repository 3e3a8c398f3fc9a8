import { closeSync, openSync, readSync } from "node:fs";

/** A record as SQLite stores it: integers, texts, and null. */
export type StoredRow = (number | string | null)[];

/**
 * Hands over every record of every page of a table WITHOUT ROWID that the file of a database has, in no order, whether or not a way leads there from the
 * root: below an inner page that is lost all others still stand. What is no such record is passed over. The log beside the file is not read. After
 * https://www.sqlite.org/fileformat2.html, sections 1.6 and 2.
 */
export function forEveryStoredRow(path: string, take: (row: StoredRow) => void): void {
  const file = openSync(path, "r");
  const page = Buffer.alloc(page_bytes);
  try {
    for (let at = page_bytes; readSync(file, page, 0, page_bytes, at) === page_bytes; at += page_bytes)
      rowsOfPage(page, take);
  } finally {
    closeSync(file);
  }
}

function rowsOfPage(page: Buffer, take: (row: StoredRow) => void): void {
  const inner = page[0] === inner_index;
  if (!inner && page[0] !== leaf_index) return;
  const cells = page.readUInt16BE(3);
  const pointers = inner ? 12 : 8;
  if (pointers + 2 * cells > page_bytes) return;
  for (let cell = 0; cell < cells; cell += 1) {
    try {
      take(rowAt(page, page.readUInt16BE(pointers + 2 * cell) + (inner ? 4 : 0)));
    } catch (thrown) {
      // A cell that points out of the page, or is none.
      if (!(thrown instanceof RangeError)) throw thrown;
    }
  }
}

function rowAt(page: Buffer, cell: number): StoredRow {
  const payload = varint(page, cell);
  const header = varint(page, payload.end);
  let body = payload.end + header.value;
  if (payload.end + payload.value > page_bytes || header.value > payload.value)
    throw new RangeError("no record");
  const row: StoredRow = [];
  for (let at = header.end; at < payload.end + header.value; ) {
    const { value: type, end } = varint(page, at);
    at = end;
    const bytes = type >= 12 ? (type - 12) >> 1 : (widths[type] ?? 0);
    row.push(valueAt(page, body, type, bytes));
    body += bytes;
  }
  return row;
}

function valueAt(page: Buffer, at: number, type: number, bytes: number): number | string | null {
  if (at + bytes > page_bytes) throw new RangeError("out of the page");
  if (type === 0) return null;
  if (type === 8 || type === 9) return type - 8;
  if (type === 7) return page.readDoubleBE(at);
  if (type === 6) return Number(page.readBigInt64BE(at));
  if (type >= 1 && type <= 5) return page.readIntBE(at, bytes);
  if (type >= 13 && type % 2 === 1) return page.toString("utf8", at, at + bytes);
  throw new RangeError("no value of a reading");
}

function varint(page: Buffer, from: number): { value: number; end: number } {
  let value = 0;
  for (let at = from; at < from + 8; at += 1) {
    const byte = page.readUInt8(at);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return { value, end: at + 1 };
  }
  throw new RangeError("no length that fits into a page");
}

const page_bytes = 4096;
const leaf_index = 0x0a;
const inner_index = 0x02;
const widths = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];
