import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";
import { type SeriesName, seriesTable, type Value } from "../series.ts";
import { KeptReadings } from "./kept-readings.ts";
import { merged, packed, unpacked } from "./packed-rows.ts";

/** A reading as it is held: stamp in unix milliseconds, then the values in the order of the series' fields. */
export type HeldRow = readonly [stamp_ms: number, ...values: Value[]];

/** Readings of one series of one item, which is known by its itemid. */
export interface Run {
  readonly series: SeriesName;
  readonly item: number;
}

/** Where the newest walk over a run stands. */
export interface WalkState {
  readonly walk: number;
  /** It ends below this, unix seconds; null: at the oldest reading. */
  readonly floor_s: number | null;
  /** Query of the page that follows; null once the walk is complete. */
  readonly next: string | null;
}

/** A page as it was received, without its rows. */
export interface HeldPage {
  readonly walk: number;
  readonly page: number;
  readonly count: number;
  readonly newest_ms: number;
}

/** A row of a page. */
export interface Place {
  readonly page: HeldPage;
  readonly from: number;
}

/**
 * What a download has received so far, in one SQLite file beside the result. A page and the place where its walk
 * goes on are one transaction, so whatever ends the program, what is held is a whole beginning of the walk. The
 * file is locked for as long as it is open.
 *
 * Walks go from new to old, and each ends where the one before it began: newest first, a run is its walks in
 * descending order with the pages of each in ascending order. The pages are what the server is known to have;
 * what it has no more is kept beside them, and is not forgotten.
 */
export class HeldReadings {
  readonly #database: Database;
  readonly #kept: KeptReadings;
  readonly #path: string;

  /**
   * @param binding what the download is of; the same file serves no other
   * @throws OperatorError when the file can't be used, another program uses it, or it is of another download
   */
  constructor(path: string, binding: Readonly<Record<string, string>>) {
    this.#path = path;
    this.#database = opened(path);
    const database = this.#database;
    try {
      this.#kept = database.transaction(() => {
        database.run(schema);
        return new KeptReadings(database);
      })();
      for (const [name, value] of Object.entries({ ...binding, form })) {
        const kept = this.setting(name);
        if (kept === undefined) this.keepSetting(name, value);
        else if (kept !== value) throw otherDownload(dirname(path), name, { kept, value });
      }
    } catch (thrown) {
      database.close();
      throw fault(thrown, path);
    }
  }

  setting(name: string): string | undefined {
    const row = this.#database.query("SELECT value FROM settings WHERE name = ?").values(name)[0];
    return row === undefined ? undefined : String(row[0]);
  }

  keepSetting(name: string, value: string): void {
    this.#writing(() =>
      this.#database.query("INSERT OR REPLACE INTO settings VALUES (?, ?)").run(name, value),
    );
  }

  /** The newest walk; undefined where none has begun. */
  walk({ series, item }: Run): WalkState | undefined {
    const row = this.#database
      .query("SELECT walk, floor_s, next FROM walks WHERE series = ? AND item = ?")
      .get(series, item);
    return (row as WalkState | null) ?? undefined;
  }

  /** Begins a walk above all that is held, with the query of its first page. */
  begin({ series, item }: Run, start: { floor_s: number | null; next: string }): void {
    const begin = this.#database.query(
      `INSERT INTO walks (series, item, walk, floor_s, next) VALUES (?1, ?2, 1, ?3, ?4)
         ON CONFLICT DO UPDATE SET walk = walk + 1, floor_s = ?3, next = ?4`,
    );
    this.#writing(() => begin.run(series, item, start.floor_s, start.next));
  }

  /** Adds the rows of the walk's next page, newest first, and where the walk goes on: null when it is complete. */
  add({ series, item }: Run, rows: readonly HeldRow[], next: string | null): void {
    const database = this.#database;
    const change = database.transaction(() => {
      const newest = rows[0];
      if (newest !== undefined) {
        database
          .query(
            `INSERT INTO pages SELECT series, item, walk,
               1 + coalesce((SELECT max(page) FROM pages AS p WHERE (p.series, p.item, p.walk) = (w.series, w.item, w.walk)), 0),
               ?3, ?4, ?5 FROM walks AS w WHERE series = ?1 AND item = ?2`,
          )
          .run(series, item, rows.length, newest[0], packed(rows));
        this.#kept.release({ series, item }, rows);
      }
      database
        .query("UPDATE walks SET next = ?3, revision = revision + min(?4, 1) WHERE series = ?1 AND item = ?2")
        .run(series, item, next, rows.length);
    });
    this.#writing(change);
  }

  /** Every page held of a run, newest first. */
  pages({ series, item }: Run): HeldPage[] {
    return this.#database
      .query(
        `SELECT walk, page, count, newest_ms FROM pages WHERE series = ? AND item = ? ORDER BY walk DESC, page`,
      )
      .all(series, item) as HeldPage[];
  }

  /** The rows of a page, newest first. */
  rows({ series, item }: Run, { walk, page }: HeldPage): HeldRow[] {
    const row = this.#database
      .query("SELECT rows FROM pages WHERE series = ? AND item = ? AND walk = ? AND page = ?")
      .values(series, item, walk, page)[0];
    return row === undefined ? [] : unpacked(row[0] as Uint8Array);
  }

  /** How many readings of a run are kept that are not among its pages. */
  kept(run: Run): number {
    return this.#kept.count(run);
  }

  /**
   * Takes from the pages everything newer than row `from` of a page; without a page, everything. It is kept beside
   * them, less what is received again.
   */
  cut(run: Run, place?: Place): void {
    const change = this.#database.transaction(() => {
      for (const page of this.pages(run)) {
        const here = place?.page.walk === page.walk && place.page.page === page.page;
        this.#take(run, page, here ? { from: 0, to: place.from } : {});
        if (here) break;
      }
    });
    this.#writing(change);
  }

  /**
   * Puts the rows that the server has, newest first, where the pages have what is as old as row `from` of a page, or
   * older; what else they had there is kept beside them.
   */
  replaceBelow(run: Run, place: Place, rows: readonly HeldRow[]): void {
    const { series, item } = run;
    const change = this.#database.transaction(() => {
      const pages = this.pages(run);
      const at = pages.findIndex(({ walk, page }) => walk === place.page.walk && page === place.page.page);
      for (const [index, page] of pages.entries())
        if (index >= at) this.#take(run, page, { from: index === at ? place.from : 0 });
      const [newest] = rows;
      if (newest === undefined) return;
      this.#database
        .query("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?)")
        .run(series, item, place.page.walk, place.page.page + 1, rows.length, newest[0], packed(rows));
      const before = this.#kept.count(run);
      this.#kept.release(run, rows);
      if (before - this.#kept.count(run) < rows.length) this.#revise(run);
    });
    this.#writing(change);
  }

  /** Takes rows from a page and keeps them beside. */
  #take(run: Run, page: HeldPage, { from = 0, to = page.count }: { from?: number; to?: number }): void {
    const { series, item } = run;
    const rows = this.rows(run, page);
    const left = [...rows.slice(0, from), ...rows.slice(to)];
    const key = [series, item, page.walk, page.page] as const;
    if (left.length === 0)
      this.#database
        .query("DELETE FROM pages WHERE series = ? AND item = ? AND walk = ? AND page = ?")
        .run(...key);
    else
      this.#database
        .query(
          `UPDATE pages SET count = ?5, newest_ms = ?6, rows = ?7
           WHERE series = ?1 AND item = ?2 AND walk = ?3 AND page = ?4`,
        )
        .run(...key, left.length, left[0]?.[0] ?? 0, packed(left));
    this.#kept.keep(run, rows.slice(from, to));
  }

  /** Everything held of a run in order of time, a page or so at once. */
  oldestFirst(run: Run): Generator<HeldRow[]> {
    return merged(this.#pagesOldestFirst(run), this.#kept.oldestFirst(run));
  }

  *#pagesOldestFirst(run: Run): Generator<HeldRow[]> {
    for (const page of this.pages(run).reverse()) yield this.rows(run, page).reverse();
  }

  #revise({ series, item }: Run): void {
    this.#database
      .query("UPDATE walks SET revision = revision + 1 WHERE series = ? AND item = ?")
      .run(series, item);
  }

  /** A number that changes with every change to what is held of a run. */
  revision({ series, item }: Run): number {
    const row = this.#database
      .query("SELECT revision FROM walks WHERE series = ? AND item = ?")
      .values(series, item)[0];
    return Number(row?.[0] ?? 0);
  }

  close(): void {
    this.#database.close();
  }

  /** @throws OperatorError when the file or the disk refuses */
  #writing(change: () => void): void {
    try {
      change();
    } catch (thrown) {
      throw fault(thrown, this.#path);
    }
  }
}

const schema = `
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS walks (
  series TEXT, item INTEGER, walk INTEGER NOT NULL, floor_s INTEGER, next TEXT, revision INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (series, item)
) STRICT;
CREATE TABLE IF NOT EXISTS pages (
  series TEXT, item INTEGER, walk INTEGER, page INTEGER, count INTEGER NOT NULL, newest_ms INTEGER NOT NULL,
  rows BLOB NOT NULL, PRIMARY KEY (series, item, walk, page)
) STRICT`;

/** The fields that rows have, so that a program with other fields doesn't mistake them. */
const form = JSON.stringify(
  Object.entries(seriesTable).map(([series, { fields }]) => [series, ...Object.keys(fields)]),
);

function opened(path: string): Database {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const database = new Database(path, { create: true, readwrite: true, strict: true });
    try {
      // Exclusive: two downloads into one directory would tear each other's pages.
      database.run("PRAGMA locking_mode = EXCLUSIVE");
      database.run("PRAGMA journal_mode = WAL");
      database.run("PRAGMA synchronous = NORMAL");
      database.run("BEGIN IMMEDIATE");
      database.run("COMMIT");
      return database;
    } catch (thrown) {
      database.close();
      throw thrown;
    }
  } catch (thrown) {
    throw fault(thrown, path);
  }
}

function fault(thrown: unknown, path: string): OperatorError {
  if (thrown instanceof OperatorError) return thrown;
  const code = thrown instanceof SQLiteError ? (thrown.code ?? "") : "";
  if (code.startsWith("SQLITE_BUSY"))
    return new OperatorError(
      `another lintel fetch works in ${dirname(path)}`,
      "wait for it to end, or give another --output",
    );
  if (code === "SQLITE_FULL")
    return new OperatorError(
      `the disk of ${dirname(path)} is full`,
      "free some space; the same command goes on where this one ended",
    );
  return new OperatorError(
    `${path} cannot be used (${messageOf(thrown)})`,
    "give --output a directory that this user may write, or delete that file to download everything again",
    { cause: thrown },
  );
}

function otherDownload(directory: string, name: string, values: { kept: string; value: string }) {
  return new OperatorError(
    name === "form"
      ? `${directory} holds a download of another version of lintel`
      : `${directory} holds a download with ${name} ${values.kept || "absent"}, not ${values.value || "absent"}`,
    "give the same as before, or another --output",
  );
}
