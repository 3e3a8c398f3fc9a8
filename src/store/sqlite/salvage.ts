import type { Database, SQLQueryBindings } from "bun:sqlite";
import { existsSync, rmSync } from "node:fs";
import { stamp_end_ms } from "../../base/clock.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import type { ReadingColumns } from "../batch.ts";
import { seq_max } from "../exchange.ts";
import { homesOnSqlite } from "../inventory/homes.ts";
import { readingAt } from "../series/block-codec.ts";
import { putBlocks } from "../series/blocks.ts";
import { quoted, readingColumns } from "../series/series-columns.ts";
import type { Between } from "../series/time-spans.ts";
import { recount } from "../series/totals.ts";
import { type Connection, openForReading, openForWriting } from "./connection.ts";
import { isDamage, storeFault } from "./faults.ts";
import { allAtHome, roleOf } from "./role-and-epoch.ts";
import { copyWithSchema, essentialsPath, isWhole, tablesOf } from "./salvage-sources.ts";
import { insertSql } from "./schema.ts";
import { Runner } from "./sqlite-database.ts";
import { decoded, takeStrays } from "./stray-readings.ts";

/** Counts of what could be read of a damaged database. */
export interface Salvaged {
  /** Readings, each with the number it had. */
  readonly readings: number;
  /** Places that could not be read: pages, or what hangs below them. */
  readonly unreadable: number;
  /** Tables of which not all could be read, and that no copy has: all, where not even the schema is known. */
  readonly incomplete: readonly string[] | "all";
}

/**
 * Copies into a database what another one, which it was the beginning of, has more besides readings: what these rest on. What both have stays
 * as it is.
 *
 * @param options.from one that another version of this program may have changed, or damaged
 * @param options.into a copy that was made of it before, of this program's form
 */
export function takeOverTables(options: { from: string; into: string }): void {
  copyReadable({ ...options, part: "tables" });
}

/**
 * The same for readings: those with numbers above `after_seq`, the last one in the copy, under these. A number or stamp that no reading can have is left
 * out: central would refuse it, or be sent all the numbers before it as lost ones.
 */
export function takeOverReadings(options: { from: string; into: string; after_seq: number }): Salvaged {
  return copyReadable({ ...options, part: "readings" });
}

/**
 * Copies what can still be read of a damaged database into a new one: from both ends of every table towards the damage, and of series of
 * each item by itself, so that a page that is lost takes as little as possible along. A table that cannot be read whole is filled from the copy
 * beside the database, where there is one, and over that comes what can be read.
 *
 * @param options.from the damaged database
 * @param options.into one that was just made by this program
 */
export function salvage(options: { from: string; into: string }): Salvaged {
  return copyReadable({ ...options, part: "all" });
}

/** All of a database into a new one; or into a copy that has the beginning of it, what that lacks. */
type SalvagedPart = "all" | "tables" | "readings";

function copyReadable(options: {
  from: string;
  into: string;
  part: SalvagedPart;
  after_seq?: number;
}): Salvaged {
  const { from, into, part, after_seq = 0 } = options;
  const essentials = part === "all" ? wholeEssentials(from) : undefined;
  const patched = `${into}-patched`;
  let source: Connection;
  try {
    source = openDamaged(from, essentials, patched);
  } catch (thrown) {
    rmSync(patched, { force: true });
    if (!isDamage(thrown)) throw storeFault(thrown, from);
    return { readings: 0, unreadable: 1, incomplete: "all" };
  }
  const target = openForWriting(into);
  try {
    // The copy is looked at and thrown away: nothing hangs on it until all of it is there.
    target.run("PRAGMA synchronous = OFF");
    target.run("PRAGMA foreign_keys = OFF");
    if (essentials !== undefined) target.run("ATTACH ? AS essentials", [essentials]);
    return new Salvage(source, target, part, after_seq).run();
  } catch (thrown) {
    throw storeFault(thrown, into);
  } finally {
    source.close();
    target.close();
    rmSync(patched, { force: true });
  }
}

/** The path of the copy of what readings hang on; undefined where there is none, or it is damaged itself. */
function wholeEssentials(of: string): string | undefined {
  const path = essentialsPath(of);
  return existsSync(path) && isWhole(path) ? path : undefined;
}

/** The damaged database itself; or `patched`, a copy with the schema that was kept, where its own cannot be read. */
function openDamaged(path: string, essentials: string | undefined, patched: string): Connection {
  let database: Connection | undefined;
  try {
    database = openForReading(path);
    tablesOf(database);
    return database;
  } catch (thrown) {
    database?.close();
    if (essentials === undefined) throw thrown;
    copyWithSchema({ from: path, essentials, to: patched });
    return openForReading(patched);
  }
}

class Salvage {
  readonly #source: Connection;
  readonly #target: Connection;
  readonly #part: SalvagedPart;
  /** The last number that the target has already. */
  readonly #after_seq: number;
  readonly #runner: Runner;
  #readings = 0;
  #unreadable = 0;
  readonly #incomplete: string[] = [];

  constructor(source: Connection, target: Connection, part: SalvagedPart, after_seq: number) {
    this.#source = source;
    this.#target = target;
    this.#part = part;
    this.#after_seq = after_seq;
    this.#runner = new Runner(target);
  }

  run(): Salvaged {
    this.#target.transaction(() => {
      if (this.#part !== "readings") this.#tables();
      if (this.#part !== "tables") this.#allSeries();
    })();
    return { readings: this.#readings, unreadable: this.#unreadable, incomplete: this.#incomplete };
  }

  #tables(): void {
    const added = this.#part === "tables";
    for (const table of tablesOf(this.#target)) {
      if (derived.has(table) || (added && ofTheStore.has(table))) continue;
      if (added && ofThisMoment.has(table)) this.#wholeTable(table);
      else this.#table(table);
    }
    for (const table of ["items", "streams"])
      this.#target.run(
        `UPDATE last_keys SET last = max(last, coalesce((SELECT max(key) FROM ${table}), 0)) WHERE name = '${table}'`,
      );
    // Of an item that came after the copy nobody knows what it is: its readings stay where they are, and its key is not given again.
    if (this.#part === "all")
      this.#target.run("DELETE FROM streams WHERE item NOT IN (SELECT key FROM items)");
    if (roleOf(this.#target) === "gateway") this.#target.run(allAtHome);
  }

  #allSeries(): void {
    const streams = (
      this.#target.query("SELECT key FROM streams ORDER BY key").values() as [number][]
    ).flat();
    for (const series of seriesNames) for (const stream of streams) this.#series(series, stream);
    this.#recount(streams);
    if (this.#part === "all" && this.#unreadable > 0) {
      this.#readings += takeStrays({ from: this.#source.filename, into: this.#target });
      this.#lastNumber();
      this.#recount(streams);
    }
    this.#target.run(
      "UPDATE meta SET value = max(value, coalesce((SELECT max(newest_number) FROM totals), 0)) WHERE name = 'last_seq'",
    );
  }

  #recount(streams: readonly number[]): void {
    for (const series of seriesNames)
      this.#runner.run(recount(homesOnSqlite, { series, home: 0, streams, changed: true }));
  }

  /** Also of a number whose reading is lost it may still stand that it was given. */
  #lastNumber(): void {
    this.#read("SELECT stream, series, newest_number FROM totals", [], ([, , number]) => {
      this.#target.run("UPDATE meta SET value = max(value, ?) WHERE name = 'last_seq'", [number as number]);
    });
  }

  /** A table in place of the one that is there; where not all of it can be read, that stays. */
  #wholeTable(table: string): void {
    const before = this.#unreadable;
    this.#target.run("SAVEPOINT whole");
    this.#target.run(`DELETE FROM ${table}`);
    const found = this.#table(table);
    if (!found || this.#unreadable > before) this.#target.run("ROLLBACK TO whole");
    this.#target.run("RELEASE whole");
  }

  /** Whether the source has such a table. */
  #table(table: string): boolean {
    const columns = this.#columns(this.#source, table);
    const whole = columns.length > 0 && this.#rows(table, columns);
    if (whole || this.#part !== "all") return columns.length > 0;
    const kept = this.#columns(this.#target, table, "essentials.");
    if (kept.length === 0) this.#incomplete.push(table);
    else {
      const list = kept.join(", ");
      this.#target.run(
        `INSERT OR REPLACE INTO main.${table} (${list}) SELECT ${list} FROM essentials.${table}`,
      );
      if (columns.length > 0) this.#rows(table, columns);
    }
    return columns.length > 0;
  }

  /** Columns of a table that the target has too. */
  #columns(of: Connection, table: string, schema?: string): string[] {
    const known = columnsOf(of, table, schema);
    return columnsOf(this.#target, table).filter((column) => known.includes(column));
  }

  /** Copies the rows of a table; whether all could be read. */
  #rows(table: string, columns: readonly string[]): boolean {
    const key = keyOf(this.#target, table);
    const other = this.#part === "all" ? "REPLACE" : "IGNORE";
    const put = this.#target.prepare(
      `INSERT OR ${other} INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    let all = false;
    for (const direction of ["ASC", "DESC"] as const) {
      const order = key.map((column) => `${column} ${direction}`).join(", ");
      all = this.#read(`SELECT ${columns.join(", ")} FROM ${table} ORDER BY ${order}`, [], (row) => {
        this.#put(put, row);
      });
      if (all) break;
    }
    put.finalize();
    return all;
  }

  /** Copies the rows and the blocks of a series of a stream. */
  #series(series: SeriesName, stream: number): void {
    const put = this.#target.prepare(insertSql[series].replace("INSERT", "INSERT OR IGNORE"));
    const first_seq = this.#after_seq + 1;
    const last_seq = this.#part === "all" ? seq_max : this.#after_seq + later_numbers_max;
    const add = (row: readonly SQLQueryBindings[]) => {
      if (this.#put(put, row)) this.#readings += 1;
    };
    const rows = `SELECT ${quoted(readingColumns(series))} FROM ${series}
      WHERE stream = ? AND stamp >= ? AND stamp < ? AND seq BETWEEN ${first_seq} AND ${last_seq}`;
    this.#fromBothEnds(rows, stream, add);
    const blocks = `SELECT stream, stamp, readings FROM blocks
      WHERE stream = ? AND stamp >= ? AND stamp < ? AND series = '${series}' AND max_seq >= ${first_seq}`;
    this.#fromBothEnds(blocks, stream, ([, , bytes]) => {
      const readings = decoded(series, bytes as Uint8Array);
      if (readings === undefined) this.#unreadable += 1;
      else if (this.#part === "all") this.#readings += this.#copyBlock(series, stream, readings);
      else
        for (const index of readings.seq.keys()) {
          const [stamp_ms, seq, ...values] = readingAt(readings, index);
          if (seq >= first_seq && seq <= last_seq) add([stream, stamp_ms, seq, ...values]);
        }
    });
    put.finalize();
  }

  /** Copies a block, unless it is there; answers how many readings came. */
  #copyBlock(series: SeriesName, stream: number, readings: ReadingColumns): number {
    const run = { homes: homesOnSqlite, series, stream, home: 0, rows_from: stamp_end_ms };
    const { stamp_ms, seq } = readings;
    const there = this.#target
      .query("SELECT 1 FROM blocks WHERE stream = ? AND series = ? AND stamp = ? AND seq = ?")
      .values(stream, series, stamp_ms[0] as number, seq[0] as number);
    if (there.length > 0) return 0;
    this.#runner.run(putBlocks(run, readings));
    return seq.length;
  }

  /** Reads from both ends; then the rest in between, where the damage is, in halves again and again, the wider first. Rows are the stream, the stamp and more. */
  #fromBothEnds(sql: string, stream: number, take: (row: SQLQueryBindings[]) => void): void {
    const spans = [{ from_ms: 0, before_ms: stamp_end_ms }];
    for (let tries = 0; tries < tries_max; tries += 1) {
      const span = spans.shift();
      if (span === undefined) break;
      const ahead = this.#oneWay(sql, stream, take, span, "ASC");
      if (ahead === undefined) continue;
      const back = this.#oneWay(sql, stream, take, { ...span, from_ms: ahead }, "DESC") ?? ahead;
      if (back - ahead < 2) continue;
      const middle = Math.floor((ahead + back) / 2);
      spans.push({ from_ms: ahead + 1, before_ms: middle }, { from_ms: middle, before_ms: back });
    }
  }

  /** The stamp of the last row that could be read in this direction; undefined where all could. */
  #oneWay(
    sql: string,
    stream: number,
    take: (row: SQLQueryBindings[]) => void,
    { from_ms, before_ms }: Between,
    direction: "ASC" | "DESC",
  ): number | undefined {
    let reached = direction === "ASC" ? from_ms : before_ms;
    const order = ` ORDER BY stamp ${direction}, seq ${direction}`;
    const all = this.#read(sql + order, [stream, from_ms, before_ms], (row) => {
      reached = row[1] as number;
      take(row);
    });
    return all ? undefined : reached;
  }

  /** Whether all rows could be read; those before the first that could not are handed over. */
  #read(sql: string, values: readonly SQLQueryBindings[], take: (row: SQLQueryBindings[]) => void): boolean {
    try {
      const statement = this.#source.prepare(sql);
      try {
        for (const row of statement.iterate(...values)) take(Object.values(row as object));
      } finally {
        statement.finalize();
      }
      return true;
    } catch {
      this.#unreadable += 1;
      return false;
    }
  }

  /** Stores a row; whether it was new and valid: values on a damaged page may have the wrong type. */
  #put(statement: ReturnType<Database["prepare"]>, row: readonly SQLQueryBindings[]): boolean {
    try {
      return statement.run(...row).changes > 0;
    } catch {
      this.#unreadable += 1;
      return false;
    }
  }
}

/** Columns that can be written: not those that are made of others. */
function columnsOf(database: Database, table: string, schema = "main."): string[] {
  try {
    return database
      .query(`PRAGMA ${schema}table_info(${table})`)
      .values()
      .map(([, name]) => String(name));
  } catch {
    // Its definition stands on a page that is lost.
    return [];
  }
}

function keyOf(database: Database, table: string): string[] {
  const columns = database.query(`PRAGMA table_info(${table})`).values() as unknown[][];
  const key = columns.filter(([, , , , , place]) => Number(place) > 0);
  return key.toSorted((one, other) => Number(one[5]) - Number(other[5])).map(([, name]) => String(name));
}

/** Series are copied item by item; counts are made anew. */
const derived = new Set<string>([...seriesNames, "blocks", "totals", "late"]);
/** Tables in which a database tells of itself: they stay, where readings are added. */
const ofTheStore = new Set(["meta", "epochs", "upload_state", "last_keys", "dropped"]);
/** Tables that go with the last number: how far buffers of devices were read, what waits for the time, and who the devices are by now. Taken as a whole. */
const ofThisMoment = new Set(["cursors", "waiting", "boots", "identities", "identity_conflicts"]);
/** Numbers that a database can have given since a copy: a busy home gives some thousand a day. */
const later_numbers_max = 100_000_000;
/** Stretches of a series of an item that are tried, two reads each: enough to close in on twenty damaged pages. */
const tries_max = 1_000;
