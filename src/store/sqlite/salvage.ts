import type { Database, SQLQueryBindings } from "bun:sqlite";
import { type SeriesName, seriesNames } from "../../series.ts";
import { recountAll } from "../core/count-spans.ts";
import { homesOnSqlite } from "../core/homes.ts";
import { quoted, readingColumns } from "../core/series-tables.ts";
import { type Connection, openForReading, openForWriting } from "./connection.ts";
import { allAtHome, roleOf } from "./role.ts";
import { Runner } from "./runner.ts";
import { insertSql } from "./series-tables.ts";

/** Counts of what could be read of a damaged database. */
export interface Salvaged {
  /** Readings, each with the number it had. */
  readonly readings: number;
  /** Places that could not be read: pages, or what hangs below them. */
  readonly unreadable: number;
}

/** Whether every page of a database can be read and is consistent. False also where the file is no database at all. */
export function isWhole(path: string): boolean {
  try {
    const database = openForReading(path);
    try {
      return database.query("PRAGMA quick_check(1)").values()[0]?.[0] === "ok";
    } finally {
      database.close();
    }
  } catch {
    // Whatever is wrong with it, it is not whole.
    return false;
  }
}

/** The last number that a database has given; undefined where not even that can be read. */
export function lastNumberIn(path: string): number | undefined {
  try {
    const database = openForReading(path);
    try {
      const [row] = database.query("SELECT value FROM meta WHERE name = 'last_seq'").values();
      return row === undefined ? undefined : Number(row[0]);
    } finally {
      database.close();
    }
  } catch {
    // Whatever is wrong with it, it tells no number.
    return undefined;
  }
}

/**
 * Copies into a database what another one, which it was the beginning of, has more: the readings with higher numbers, under these, and
 * what they rest on. What both have stays as it is.
 *
 * @param options.from one that another version of this program may have changed, or damaged
 * @param options.into a copy that was made of it before, of this program's form
 * @param options.after_seq the last number in the copy
 */
export function takeOver(options: { from: string; into: string; after_seq: number }): Salvaged {
  return copyReadable(options);
}

/**
 * Copies what can still be read of a damaged database into a new one: from both ends of every table towards the damage, and of series of
 * each item by itself, so that a page that is lost takes as little as possible along.
 *
 * @param options.from the damaged database
 * @param options.into one that was just made by this program
 */
export function salvage(options: { from: string; into: string }): Salvaged {
  return copyReadable(options);
}

function copyReadable(options: { from: string; into: string; after_seq?: number }): Salvaged {
  const { from, into, after_seq } = options;
  let source: Connection | undefined;
  const target = openForWriting(into);
  try {
    source = openForReading(from);
    // The copy is looked at and thrown away: nothing hangs on it until all of it is there.
    target.run("PRAGMA synchronous = OFF");
    target.run("PRAGMA foreign_keys = OFF");
    return new Salvage(source, target, after_seq).run();
  } catch {
    // Not even its first page can be read.
    return { readings: 0, unreadable: 1 };
  } finally {
    source?.close();
    target.close();
  }
}

class Salvage {
  readonly #source: Connection;
  readonly #target: Connection;
  /** The last number that the target has already; absent: it is a new database. */
  readonly #after_seq: number | undefined;
  #readings = 0;
  #unreadable = 0;

  constructor(source: Connection, target: Connection, after_seq?: number) {
    this.#source = source;
    this.#target = target;
    this.#after_seq = after_seq;
  }

  run(): Salvaged {
    this.#target.transaction(() => {
      const added = this.#after_seq !== undefined;
      for (const table of tablesOf(this.#target)) {
        if (derived.has(table) || (added && ofTheStore.has(table))) continue;
        if (added && ofThisMoment.has(table)) this.#target.run(`DELETE FROM ${table}`);
        this.#table(table);
      }
      for (const table of ["items", "streams"])
        this.#target.run(
          `UPDATE last_keys SET last = max(last, coalesce((SELECT max(key) FROM ${table}), 0)) WHERE name = '${table}'`,
        );
      if (roleOf(this.#target) === "gateway") this.#target.run(allAtHome);
      const streams = this.#target.query("SELECT key FROM streams ORDER BY key").values() as [number][];
      for (const series of seriesNames) for (const [stream] of streams) this.#series(series, stream);
      const runner = new Runner(this.#target);
      for (const series of seriesNames)
        runner.run(recountAll(homesOnSqlite, { series, home: 0, streams: streams.flat() }));
      const newest = seriesNames.map((series) => `SELECT max(seq) AS seq FROM ${series}`).join(" UNION ALL ");
      this.#target.run(
        `UPDATE meta SET value = max(value, coalesce((SELECT max(seq) FROM (${newest})), 0)) WHERE name = 'last_seq'`,
      );
    })();
    return { readings: this.#readings, unreadable: this.#unreadable };
  }

  #table(table: string): void {
    const known = columnsOf(this.#source, table);
    const columns = columnsOf(this.#target, table).filter((column) => known.includes(column));
    if (columns.length === 0) return;
    const key = keyOf(this.#target, table);
    const other = this.#after_seq === undefined ? "REPLACE" : "IGNORE";
    const put = this.#target.prepare(
      `INSERT OR ${other} INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    for (const direction of ["ASC", "DESC"] as const) {
      const order = key.map((column) => `${column} ${direction}`).join(", ");
      const all = this.#read(`SELECT ${columns.join(", ")} FROM ${table} ORDER BY ${order}`, [], (row) => {
        this.#put(put, row);
      });
      if (all) break;
    }
    put.finalize();
  }

  /** Reads from both ends; then the rest in between, where the damage is, in halves again and again, the wider first. */
  #series(series: SeriesName, stream: number): void {
    const put = this.#target.prepare(insertSql[series].replace("INSERT", "INSERT OR IGNORE"));
    const run = { series, stream, put };
    const spans = [{ from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER }];
    for (let tries = 0; tries < tries_max; tries += 1) {
      const span = spans.shift();
      if (span === undefined) break;
      const ahead = this.#oneWay(run, span.from_ms, span.before_ms, "ASC");
      if (ahead === undefined) continue;
      const back = this.#oneWay(run, ahead, span.before_ms, "DESC") ?? ahead;
      if (back - ahead < 2) continue;
      const middle = Math.floor((ahead + back) / 2);
      spans.push({ from_ms: ahead + 1, before_ms: middle }, { from_ms: middle, before_ms: back });
    }
    put.finalize();
  }

  /** The stamp of the last reading that could be read in this direction; undefined where all could. */
  #oneWay(run: Run, from_ms: number, before_ms: number, direction: "ASC" | "DESC"): number | undefined {
    const { series, stream, put } = run;
    let reached = direction === "ASC" ? from_ms : before_ms;
    const sql = `SELECT ${quoted(readingColumns(series))} FROM ${series}
      WHERE stream = ? AND stamp >= ? AND stamp < ? AND seq > ${this.#after_seq ?? 0} ORDER BY stamp ${direction}, seq ${direction}`;
    const all = this.#read(sql, [stream, from_ms, before_ms], (row) => {
      const [, stamp] = row as [number, number];
      reached = stamp;
      if (!this.#put(put, row)) return;
      this.#readings += 1;
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

interface Run {
  readonly series: SeriesName;
  readonly stream: number;
  readonly put: ReturnType<Database["prepare"]>;
}

function tablesOf(database: Database): string[] {
  const rows = database.query(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
  );
  return rows.values().flat().map(String);
}

/** Columns that can be written: not those that are made of others. */
function columnsOf(database: Database, table: string): string[] {
  try {
    return database
      .query(`PRAGMA table_info(${table})`)
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
const derived = new Set<string>([...seriesNames, "totals", "counts", "late"]);
/** Tables in which a database tells of itself: they stay, where readings are added. */
const ofTheStore = new Set(["meta", "epochs", "upload_state", "last_keys", "dropped"]);
/** Tables that go with the last number: how far buffers of devices were read, and what waits for the time. Taken as a whole. */
const ofThisMoment = new Set(["cursors", "waiting", "boots"]);
/** Stretches of a series of an item that are tried, two reads each: enough to close in on twenty damaged pages. */
const tries_max = 1_000;
