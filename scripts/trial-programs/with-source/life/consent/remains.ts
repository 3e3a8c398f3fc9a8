import { Database } from "bun:sqlite";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeBlock } from "../../../../../src/store/series/block-codec.ts";
import { valueColumns } from "../../../../../src/store/series/series-columns.ts";
import { databasePath } from "../../../../../src/store/sqlite/connection.ts";

/*
 * Serials of readings, which can be told from all else in any bytes: numbers that have the same two first bytes of six, as SQLite writes them, and the same
 * first digits of fourteen. A block has a number in bits, so blocks are decoded; it has a text as it is.
 */

const mark = 0x5a3c;
const bits = 2 ** 32;

export function serialOf(random: () => number): number {
  return mark * bits + Math.floor(random() * bits);
}

const digits = /9921[3-8]\d{9}/g;

/** All serials in the files of a directory, in any form, and the file of each. */
export function serialsIn(directory: string): Map<number, string> {
  const found = new Map<number, string>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith("-shm")) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    for (const serial of serialsOf(bytes)) found.set(serial, entry.name);
  }
  for (const [serial, stamp_ms] of keptIn(directory))
    found.set(serial, `its readings, at ${new Date(stamp_ms).toISOString()}`);
  return found;
}

/** Those in bytes that are no database, or are one. */
export function serialsOf(bytes: Buffer): Set<number> {
  const found = new Set<number>();
  for (let at = bytes.indexOf(markBytes); at >= 0; at = bytes.indexOf(markBytes, at + 1))
    if (at + 6 <= bytes.length) found.add(bytes.readUIntBE(at, 6));
  for (const serial of serialsInText(bytes.toString("latin1"))) found.add(serial);
  return found;
}

export function serialsInText(text: string): number[] {
  return (text.match(digits) ?? []).map(Number);
}

const markBytes = Buffer.from([mark >> 8, mark & 0xff]);

/** Serials of the readings that a store has, those in blocks among them, each with the time that it has there. */
export function keptIn(directory: string): Map<number, number> {
  const found = new Map<number, number>();
  const path = databasePath(directory);
  if (!existsSync(path)) return found;
  using database = new Database(path, { readonly: true });
  database.run("PRAGMA mmap_size = 0");
  for (const [series, column] of columns) {
    const place = valueColumns(series).findIndex(({ name }) => name === column);
    const rows = database.query(`SELECT ${column}, stamp FROM ${series}`).values();
    for (const [value, stamp] of rows) found.set(Number(value), Number(stamp));
    for (const [block] of database.query("SELECT readings FROM blocks WHERE series = ?").values(series)) {
      const { stamp_ms, values } = decodeBlock(series, block as Uint8Array);
      for (const [index, value] of [...(values[place] ?? [])].entries())
        found.set(Number(value), stamp_ms[index] as number);
    }
  }
  return found;
}

const columns = [
  ["wirelesssensor_events", "event"],
  ["wirelesssensor_measures", "unit"],
  ["pillbox_events", "event"],
] as const;
