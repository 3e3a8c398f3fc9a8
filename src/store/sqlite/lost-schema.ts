import { closeSync, copyFileSync, openSync, readFileSync, statSync, writeSync } from "node:fs";
import { openForReading } from "./connection.ts";

/**
 * Copies a database whose schema cannot be read, and gives the copy the schema that `essentials` has kept of it. SQLite lets nobody write that table. Its
 * records are those of any other: so the pages of the kept one are put behind all others, and page 1, where the table begins, becomes the one that leads to
 * them. After https://www.sqlite.org/fileformat2.html, sections 1.3 and 1.6.
 */
export function copyWithSchema(options: { from: string; essentials: string; to: string }): void {
  const { from, essentials, to } = options;
  const behind = Math.floor(statSync(from).size / schema_page_bytes);
  const kept = readFileSync(essentials);
  const first = firstPage(kept, rootOfSchema(essentials), behind);
  copyFileSync(from, to);
  const file = openSync(to, "r+");
  try {
    writeSync(file, kept, 0, kept.length, behind * schema_page_bytes);
    writeSync(file, first, 0, schema_page_bytes, 0);
  } finally {
    closeSync(file);
  }
}

/** The header of the kept file, and after it the root of its table, which names the pages below it by where they are now. */
function firstPage(kept: Buffer, root: number, behind: number): Buffer {
  const page = Buffer.from(kept.subarray((root - 1) * schema_page_bytes, root * schema_page_bytes));
  const cells = page.readUInt16BE(3);
  if (page[0] !== inner_table) throw new Error(`${cells} tables and indexes are on one page`);
  const pointers = inner_head_bytes + 2 * cells;
  const children = Array.from({ length: cells }, (_, cell) => page.readUInt16BE(inner_head_bytes + 2 * cell));
  for (const at of [rightmost, ...children]) page.writeUInt32BE(page.readUInt32BE(at) + behind, at);
  page.copyWithin(file_head_bytes, 0, pointers);
  kept.copy(page, 0, 0, file_head_bytes);
  page.writeUInt32BE(behind + kept.length / schema_page_bytes, pages_in_file);
  return page;
}

function rootOfSchema(essentials: string): number {
  const database = openForReading(essentials);
  try {
    return Number(
      database.query("SELECT rootpage FROM sqlite_schema WHERE name = 'schema'").values()[0]?.[0],
    );
  } finally {
    database.close();
  }
}

const schema_page_bytes = 4096;
const inner_table = 0x05;
/** Offsets and sizes in bytes: of the file, and of a page that leads to others. */
const file_head_bytes = 100;
const pages_in_file = 28;
const inner_head_bytes = 12;
const rightmost = 8;
