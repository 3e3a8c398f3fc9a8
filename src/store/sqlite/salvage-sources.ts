import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf } from "../../base/errors.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import { decodeBlock } from "../series/block-codec.ts";
import { BlockDamaged } from "../series/decoded-block.ts";
import { type Connection, openForReading } from "./connection.ts";
import { isDamage } from "./faults.ts";

/**
 * The copy beside a gateway's database of all that its readings hang on: each of its tables that has no readings, and `schema`, which says on which page
 * each begins. A database by itself, of a few hundred kilobytes. Where those tables are damaged, `salvage` fills them from it.
 */
export class Essentials {
  readonly #database: Connection;
  readonly #path: string;
  /** Of what the copy was made of; undefined: the next one is made in any case. */
  #digest: string | undefined;

  constructor(database: Connection, path: string) {
    this.#database = database;
    this.#path = path;
  }

  /** Makes the copy where there is none, or something has changed that it must have. Keeps other writers away meanwhile: of two processes the later has the newer. */
  keep(): void {
    const digest = digestOf(this.#database);
    if (digest === this.#digest && existsSync(essentialsPath(this.#path))) return;
    this.#database.run("ATTACH ':memory:' AS essentials");
    try {
      this.#database.run("BEGIN IMMEDIATE");
      for (const table of tablesOf(this.#database).filter((name) => !notEssential.has(name)))
        this.#database.run(`CREATE TABLE essentials.${table} AS SELECT * FROM main.${table}`);
      this.#database.run("CREATE TABLE essentials.schema AS SELECT * FROM main.sqlite_schema");
      writeDurably(essentialsPath(this.#path), this.#database.serialize("essentials"));
    } finally {
      if (this.#database.inTransaction) this.#database.run("ROLLBACK");
      this.#database.run("DETACH essentials");
    }
    this.#digest = digest;
  }

  /** Has the next copy made whether or not that has changed: the rest of it is older each day. */
  renew(): void {
    this.#digest = undefined;
  }

  /** Removes the copy; whether there was one. */
  remove(): boolean {
    const path = essentialsPath(this.#path);
    const there = existsSync(path);
    rmSync(path, { force: true });
    return there;
  }
}

export function essentialsPath(path: string): string {
  return `${path}-essentials`;
}

/** Names of the tables of a database, as they were made. */
export function tablesOf(database: Connection): string[] {
  const rows = database.query(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  );
  return rows.values().flat().map(String);
}

/** Whose readings are whose, under which names and numbers, what was erased, and on which page each table begins. */
function digestOf(database: Connection): string {
  const rows = [
    "SELECT name, rootpage FROM sqlite_schema",
    "SELECT * FROM items",
    "SELECT * FROM streams",
    "SELECT * FROM epochs",
    "SELECT id, place FROM erasures",
    "SELECT id, before_ms FROM pauses",
    "SELECT * FROM records",
    "SELECT * FROM given_names",
    "SELECT * FROM admitted",
    // Without what moves with each broadcast.
    "SELECT json_remove(identity, '$.counter') FROM identities",
    "SELECT address, json_extract(conflict, '$.refused_ms') FROM identity_conflicts",
    "SELECT id FROM tokens",
  ].map((sql) => database.query(sql).values());
  return String(Bun.hash(JSON.stringify(rows)));
}

/** Tables that are made of readings; and what waits for its time, which is numbered in the commit that takes it away: from a copy it would come twice. */
const notEssential = new Set<string>([...seriesNames, "blocks", "totals", "late", "waiting"]);

/**
 * Copies a database whose schema cannot be read, and gives the copy the schema that `essentials` has kept of it. SQLite lets nobody write that table. Its
 * records are those of any other: so the pages of the kept one are put behind all others, and page 1, where the table begins, becomes the one that leads to
 * them. After https://www.sqlite.org/fileformat2.html, sections 1.3 and 1.6.
 */
export function copyWithSchema(options: { from: string; essentials: string; to: string }): void {
  const { from, essentials, to } = options;
  const behind = Math.floor(statSync(from).size / page_bytes);
  const kept = readFileSync(essentials);
  const first = firstPage(kept, rootOfSchema(essentials), behind);
  copyFileSync(from, to);
  const file = openSync(to, "r+");
  try {
    writeSync(file, kept, 0, kept.length, behind * page_bytes);
    writeSync(file, first, 0, page_bytes, 0);
  } finally {
    closeSync(file);
  }
}

/** The header of the kept file, and after it the root of its table, which names the pages below it by where they are now. */
function firstPage(kept: Buffer, root: number, behind: number): Buffer {
  const page = Buffer.from(kept.subarray((root - 1) * page_bytes, root * page_bytes));
  const cells = page.readUInt16BE(3);
  if (page[0] !== inner_table) throw new Error(`${cells} tables and indexes are on one page`);
  const pointers = inner_head_bytes + 2 * cells;
  const children = Array.from({ length: cells }, (_, cell) => page.readUInt16BE(inner_head_bytes + 2 * cell));
  for (const at of [rightmost, ...children]) page.writeUInt32BE(page.readUInt32BE(at) + behind, at);
  page.copyWithin(file_head_bytes, 0, pointers);
  kept.copy(page, 0, 0, file_head_bytes);
  page.writeUInt32BE(behind + kept.length / page_bytes, pages_in_file);
  return page;
}

function rootOfSchema(essentials: string): number {
  using database = openForReading(essentials);
  return Number(database.query("SELECT rootpage FROM sqlite_schema WHERE name = 'schema'").values()[0]?.[0]);
}

const inner_table = 0x05;
/** Offsets and sizes in bytes: of the file, and of a page that leads to others. */
const file_head_bytes = 100;
const pages_in_file = 28;
const inner_head_bytes = 12;
const rightmost = 8;

/** A record as SQLite stores it: integers, texts, bytes, and null. */
type StoredRow = (number | string | Uint8Array | null)[];

/**
 * Hands over every record of every page of tables that the file of a database has, in no order, whether or not a way leads there from the
 * root: below an inner page that is lost all others still stand. What is no record of readings is passed over. The log beside the file is not read. After
 * https://www.sqlite.org/fileformat2.html, sections 1.6 and 2.
 */
export function forEveryStoredRow(path: string, take: (row: StoredRow) => void): void {
  const file = openSync(path, "r");
  const page = Buffer.alloc(page_bytes);
  try {
    for (let at = page_bytes; readSync(file, page, 0, page_bytes, at) === page_bytes; at += page_bytes)
      rowsOfPage(file, page, take);
  } finally {
    closeSync(file);
  }
}

function rowsOfPage(file: number, page: Buffer, take: (row: StoredRow) => void): void {
  const kind = page[0] as number;
  if (![inner_index, leaf_index, leaf_table].includes(kind)) return;
  const cells = page.readUInt16BE(3);
  const pointers = kind === inner_index ? 12 : 8;
  if (pointers + 2 * cells > page_bytes) return;
  for (let cell = 0; cell < cells; cell += 1) {
    try {
      take(recordOf(payloadAt(file, page, page.readUInt16BE(pointers + 2 * cell))));
    } catch (thrown) {
      // A cell that points out of the page, or is none.
      if (!(thrown instanceof RangeError)) throw thrown;
    }
  }
}

/** The bytes of the record of a cell: of one of a table with what stands on other pages. */
function payloadAt(file: number, page: Buffer, cell: number): Buffer {
  const size = varint(page, page[0] === inner_index ? cell + 4 : cell);
  const start = page[0] === leaf_table ? varint(page, size.end).end : size.end;
  if (start + size.value <= page_bytes && size.value <= local_max)
    return page.subarray(start, start + size.value);
  if (page[0] !== leaf_table || size.value > record_bytes_max) throw new RangeError("no record");
  const least = Math.floor(((page_bytes - 12) * 32) / 255) - 23;
  const most = least + ((size.value - least) % (page_bytes - 4));
  const local = most <= local_max ? most : least;
  const payload = Buffer.alloc(size.value);
  let filled = page.copy(payload, 0, start, start + local);
  let next = page.readUInt32BE(start + local);
  const other = Buffer.alloc(page_bytes);
  while (filled < size.value) {
    if (next === 0 || readSync(file, other, 0, page_bytes, (next - 1) * page_bytes) < page_bytes)
      throw new RangeError("no record");
    filled += other.copy(payload, filled, 4);
    next = other.readUInt32BE(0);
  }
  return payload;
}

function recordOf(payload: Buffer): StoredRow {
  const header = varint(payload, 0);
  let body = header.value;
  const row: StoredRow = [];
  for (let at = header.end; at < header.value; ) {
    const { value: type, end } = varint(payload, at);
    at = end;
    const bytes = type >= 12 ? (type - 12) >> 1 : (widths[type] ?? 0);
    row.push(valueAt(payload, body, type, bytes));
    body += bytes;
  }
  return row;
}

function valueAt(payload: Buffer, at: number, type: number, bytes: number): StoredRow[number] {
  if (at + bytes > payload.length) throw new RangeError("out of the record");
  if (type === 0) return null;
  if (type === 8 || type === 9) return type - 8;
  if (type === 7) return payload.readDoubleBE(at);
  if (type === 6) return Number(payload.readBigInt64BE(at));
  if (type >= 1 && type <= 5) return payload.readIntBE(at, bytes);
  if (type >= 13 && type % 2 === 1) return payload.toString("utf8", at, at + bytes);
  if (type >= 12) return payload.subarray(at, at + bytes);
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
const leaf_table = 0x0d;
/** Bytes of a record of a table that stand on its page at most; the rest is on pages of its own. */
const local_max = page_bytes - 35;
/** Of a block: several times what the largest one takes. */
const record_bytes_max = 1024 * 1024;
const widths = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

/** Whether every page of a database can be read and is consistent. False also where the file is no database at all. */
export function isWhole(path: string): boolean {
  try {
    return damageIn(path) === undefined;
  } catch {
    // Whatever is wrong with it, it is not whole.
    return false;
  }
}

/** The first damage that is found in any page of a database; undefined where there is none. Throws where it cannot be opened or read for another reason. */
export function damageIn(path: string): string | undefined {
  try {
    using database = openForReading(path);
    const found = String(database.query("PRAGMA quick_check(1)").values()[0]?.[0]);
    return found === "ok" ? damagedBlockIn(database) : found;
  } catch (thrown) {
    if (isDamage(thrown)) return messageOf(thrown);
    throw thrown;
  }
}

/** The first damaged block: SQLite does not look into them. */
function damagedBlockIn(database: Connection): string | undefined {
  if (!tablesOf(database).includes("blocks")) return undefined;
  const statement = database.prepare("SELECT series, readings FROM blocks");
  try {
    for (const row of statement.iterate()) {
      const { series, readings } = row as { series: SeriesName; readings: Uint8Array };
      decodeBlock(series, readings);
    }
    return undefined;
  } catch (thrown) {
    if (thrown instanceof BlockDamaged) return thrown.message;
    throw thrown;
  } finally {
    statement.finalize();
  }
}

/** The last number that a database has given; undefined where not even that can be read. */
export function lastNumberIn(path: string): number | undefined {
  try {
    using database = openForReading(path);
    const [row] = database.query("SELECT value FROM meta WHERE name = 'last_seq'").values();
    return row === undefined ? undefined : Number(row[0]);
  } catch {
    // Whatever is wrong with it, it tells no number.
    return undefined;
  }
}
