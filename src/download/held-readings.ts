import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";
import { type ClockWord, clockWords, Provenance } from "../provenance.ts";
import type { Item } from "../records/items.ts";
import { type SeriesName, seriesTable, type Value } from "../series.ts";
import type { Readings } from "./readings.ts";

/** A series of one item, which is known by its itemid. */
export interface ItemSeries {
  readonly series: SeriesName;
  readonly item: number;
}

/** A reading as it is held: stamp in unix milliseconds, the values in the order of the series' fields, then `homeid` and `clock`. */
export type HeldRow = readonly [stamp_ms: number, ...values: Value[]];

/**
 * Readings that a download has received so far, in one SQLite file beside the result. A page and the place where the
 * download goes on are one transaction. So the file always holds a complete beginning of the series, however the
 * program ends. The file is locked while it is open. No received reading is dropped.
 *
 * Where a series had to be received again from the beginning, that is another round. A reading that several rounds have
 * received is held once: of equal readings there are as many as the round with the most of them had.
 */
export class HeldReadings implements Readings {
  readonly #database: Database;
  readonly #path: string;

  /**
   * @param binding what the download is of; the same file serves no other
   * @throws OperatorError when the file can't be used, another program uses it, or it is of another download
   */
  constructor(path: string, binding: Readonly<Record<string, string>>) {
    this.#path = path;
    this.#database = this.#doing(() => {
      mkdirSync(dirname(path), { recursive: true });
      return new Database(path, { create: true, readwrite: true, strict: true });
    });
    try {
      // Exclusive: two downloads into one directory would tear each other's pages.
      this.#database.run("PRAGMA locking_mode = EXCLUSIVE");
      this.#database.run("PRAGMA journal_mode = WAL");
      this.#database.run("PRAGMA synchronous = NORMAL");
      this.#database.run("BEGIN IMMEDIATE");
      this.#database.run("COMMIT");
      this.#database.run(schema);
      for (const [name, value] of Object.entries({ ...binding, form })) {
        const kept = this.setting(name);
        if (kept === undefined) this.keepSetting(name, value);
        else if (kept !== value) throw otherDownload(dirname(path), name, { kept, value });
      }
    } catch (thrown) {
      this.#database.close();
      throw fault(thrown, path);
    }
  }

  setting(name: string): string | undefined {
    const row = this.#database.query("SELECT value FROM settings WHERE name = ?").values(name)[0];
    return row === undefined ? undefined : String(row[0]);
  }

  keepSetting(name: string, value: string): void {
    this.#write("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value);
  }

  /** How far a series was received: the query of the page that follows, and a number that changes with every change of its readings. */
  progress({ series, item }: ItemSeries): { readonly next: string | undefined; readonly revision: number } {
    const [row] = this.#database
      .query("SELECT next, revision FROM progress WHERE series = ? AND item = ?")
      .values(series, item) as [next: string | null, revision: number][];
    return { next: row?.[0] ?? undefined, revision: row?.[1] ?? 0 };
  }

  /** Adds the rows of a page, in order of arrival, and the query of the page that follows. */
  add({ series, item }: ItemSeries, rows: readonly HeldRow[], next: string): void {
    const page = this.#database.transaction(() => {
      this.#write(
        `INSERT INTO progress (series, item, round, next, revision) VALUES (?1, ?2, 1, ?3, 1)
         ON CONFLICT DO UPDATE SET next = ?3, revision = revision + 1`,
        series,
        item,
        next,
      );
      for (const [at, [stamp_ms, ...values]] of rows.entries()) {
        const [homeid = null, clock] = values.splice(-2, 2);
        values.push(clocks.indexOf(clock as ClockWord));
        this.#write(addRow, series, item, stamp_ms, JSON.stringify(values), at, homeid);
      }
    });
    this.#doing(page);
  }

  /** Begins another round; the readings of earlier ones stay. */
  beginAgain({ series, item }: ItemSeries): void {
    const again = "UPDATE progress SET round = round + 1, next = NULL WHERE series = ? AND item = ?";
    this.#write(again, series, item);
  }

  /** Everything held of a series in order of time, and of arrival where times are equal; a bounded number at once. */
  *oldestFirst(series: SeriesName, { itemid }: Pick<Item, "itemid">): Generator<HeldRow[]> {
    const readings = this.#database.query<
      { stamp_ms: number; fields: string; homeid: number | null },
      [string, number]
    >(
      `SELECT stamp_ms, fields, homeid FROM readings WHERE of = (SELECT id FROM progress WHERE series = ? AND item = ?)
       ORDER BY stamp_ms, round DESC, revision, place`,
    );
    let rows: HeldRow[] = [];
    for (const { stamp_ms, fields, homeid } of readings.iterate(series, itemid)) {
      const values: Value[] = JSON.parse(fields);
      values.push(homeid, clocks[Number(values.pop())] ?? null);
      rows.push([stamp_ms, ...values]);
      if (rows.length < rowsAtOnce_max) continue;
      yield rows;
      rows = [];
    }
    if (rows.length > 0) yield rows;
  }

  close(): void {
    this.#database.close();
  }

  #write(statement: string, ...values: (string | number | null)[]): void {
    this.#doing(() => this.#database.query(statement).run(...values));
  }

  /** @throws OperatorError when the file or the disk refuses */
  #doing<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (thrown) {
      throw fault(thrown, this.#path);
    }
  }
}

const schema = `
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS progress (
  id INTEGER PRIMARY KEY, series TEXT, item INTEGER, round INTEGER NOT NULL, next TEXT, revision INTEGER NOT NULL, UNIQUE (series, item)
) STRICT;
-- fields: the values, then the clock. The home is no part of what a reading is: a gateway may learn its number later. Equal readings have the numbers 0, 1, 2 …; they came in this order: round, revision, place in its page.
CREATE TABLE IF NOT EXISTS readings (
  of INTEGER, stamp_ms INTEGER, fields TEXT, number INTEGER, round INTEGER NOT NULL, revision INTEGER NOT NULL, place INTEGER NOT NULL,
  homeid INTEGER,
  PRIMARY KEY (of, stamp_ms, fields, number)
) STRICT, WITHOUT ROWID`;

/** The words for a clock, by the number under which they are held here. */
const clocks = Object.keys(clockWords) as ClockWord[];

/** One more reading of the present round: the next of its equals, which an earlier round may have received too. */
const addRow = `
INSERT INTO readings
SELECT id, ?3, ?4,
  (SELECT count(*) FROM readings WHERE of = id AND stamp_ms = ?3 AND fields = ?4 AND round = progress.round),
  round, revision, ?5, ?6
FROM progress WHERE series = ?1 AND item = ?2
ON CONFLICT DO UPDATE SET round = excluded.round, revision = excluded.revision, place = excluded.place, homeid = excluded.homeid`;

/** The fields that rows have, so that a program with other fields doesn't mistake them. */
const form = JSON.stringify(
  Object.entries(seriesTable).map(([series, { fields }]) => [
    series,
    ...Object.keys(fields),
    ...Object.keys(Provenance.properties),
  ]),
);

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

const rowsAtOnce_max = 1_000;
