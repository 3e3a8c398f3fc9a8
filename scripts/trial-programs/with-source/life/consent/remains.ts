import { Database } from "bun:sqlite";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
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
  for (let at = bytes.indexOf(markText); at >= 0; at = bytes.indexOf(markText, at + 1))
    for (const serial of serialsInText(bytes.toString("latin1", at, at + digits_count))) found.add(serial);
  return found;
}

export function serialsInText(text: string): number[] {
  return (text.match(digits) ?? []).map(Number);
}

/** The beginning of each serial as a text, and its length. */
const markText = "9921";
const digits_count = 14;
const markBytes = Buffer.from([mark >> 8, mark & 0xff]);

/** Serials of readings, each with the time that it has in a store. */
export type Kept = Map<number, number>;

/** Those of the readings that a store has, those in blocks among them. */
export function keptIn(directory: string): Kept {
  const found: Kept = new Map();
  const path = databasePath(directory);
  if (!existsSync(path)) return found;
  using database = new Database(path, { readonly: true });
  database.run("PRAGMA mmap_size = 0");
  for (const asked of questions)
    keep(found, asked, {
      rows: database.query(asked.rows).values(),
      blocks: database.query(asked.blocks).values(),
    });
  return found;
}

/** All serials in the rows of every table of a store on PostgreSQL, in any form, and the table of each. */
export async function serialsOnPostgres(url: string): Promise<Map<number, string>> {
  const found = new Map<number, string>();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    const tables = await sql<{ name: string }[]>`
      SELECT quote_ident(table_schema) || '.' || quote_ident(table_name) AS name FROM information_schema.tables
      WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')`;
    for (const { name } of tables)
      for (const row of await sql.unsafe(`SELECT * FROM ${name}`).values())
        for (const serial of row.flatMap((value) => serialsInValue(value))) found.set(serial, name);
  } finally {
    await sql.end();
  }
  for (const [serial, stamp_ms] of await keptOnPostgres(url))
    found.set(serial, `its readings, at ${new Date(stamp_ms).toISOString()}`);
  return found;
}

function serialsInValue(value: unknown): number[] {
  if (value instanceof Uint8Array) return [...serialsOf(Buffer.from(value))];
  return serialsInText(typeof value === "object" ? JSON.stringify(value) : String(value));
}

/** The readings that a store on PostgreSQL has. */
export async function keptOnPostgres(url: string): Promise<Kept> {
  const found: Kept = new Map();
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    for (const asked of questions)
      keep(found, asked, {
        rows: await sql.unsafe(asked.rows).values(),
        blocks: await sql.unsafe(asked.blocks).values(),
      });
  } finally {
    await sql.end();
  }
  return found;
}

function keep(
  found: Kept,
  { series, place }: Pick<(typeof questions)[number], "series" | "place">,
  { rows, blocks }: { readonly rows: readonly unknown[][]; readonly blocks: readonly unknown[][] },
): void {
  for (const [value, stamp] of rows) found.set(Number(value), Number(stamp));
  for (const [block] of blocks) {
    const { stamp_ms, values } = decodeBlock(series, block as Uint8Array);
    for (const [index, value] of [...(values[place] ?? [])].entries())
      found.set(Number(value), stamp_ms[index] as number);
  }
}

/** The column of each series that has the serial, and how a store is asked for it. */
const questions = (
  [
    ["wirelesssensor_events", "event"],
    ["wirelesssensor_measures", "unit"],
    ["pillbox_events", "event"],
  ] as const
).map(([series, column]) => ({
  series,
  place: valueColumns(series).findIndex(({ name }) => name === column),
  rows: `SELECT ${column}, stamp FROM ${series}`,
  blocks: `SELECT readings FROM blocks WHERE series = '${series}'`,
}));
