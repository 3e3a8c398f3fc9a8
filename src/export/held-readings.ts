import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../base/errors.ts";
import { type ClockWord, clockWords, Provenance, type ReadingNumber } from "../domain/reading.ts";
import type { Item } from "../domain/records/item.ts";
import { type SeriesName, seriesTable, type Value } from "../domain/series.ts";
import type { ReadingRow } from "../store/store.ts";
import type { ReadingSource } from "./columns.ts";
import type { EpochAt, EpochTally, NumberSpan } from "./package-readings.ts";

/** A series of one item, which is known by its itemid. */
export interface SeriesOfItem {
  readonly series: SeriesName;
  readonly item: number;
}

/**
 * Readings that a download has received so far, in one SQLite file beside the result. A page and the place where the
 * download goes on are one transaction. So the file always holds a complete beginning of the series, however the
 * program ends. The file is locked while it is open. No received reading is dropped.
 *
 * Where a series had to be received again from the beginning, that is another round. A reading that several rounds have
 * received is held once: of equal readings there are as many as the round with the most of them had.
 */
export class HeldReadings implements ReadingSource {
  readonly #database: Database;
  readonly #path: string;
  #others: "all" | "none" = "all";
  /** Tallies of each series by its name and item; undefined until they are asked for. */
  #tallies: ReadonlyMap<string, readonly EpochTally[]> | undefined;

  /**
   * @param binding what the download is of; the same file serves no other
   * @param anew forgets what is held
   * @throws OperatorError when the file can't be used, another program uses it, or it is of another download
   */
  constructor(path: string, binding: Readonly<Record<string, string>>, { anew = false } = {}) {
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
      if (anew) {
        for (const table of ["settings", "progress", "answers", "epochs", "readings"])
          this.#database.run(`DROP TABLE IF EXISTS ${table}`);
        this.#database.run("VACUUM");
      }
      this.#database.run(schema);
      this.bind({ ...binding, form });
    } catch (thrown) {
      this.#database.close();
      throw fault(thrown, path);
    }
  }

  /** Says what the download is of, once. @throws OperatorError where something else was said */
  bind(binding: Readonly<Record<string, string>>): void {
    for (const [name, value] of Object.entries(binding)) {
      const kept = this.setting(name);
      if (kept === undefined) this.keepSetting(name, value);
      else if (kept !== value) throw otherDownload(dirname(this.#path), name, { kept, value });
    }
  }

  setting(name: string): string | undefined {
    return this.#text("SELECT value FROM settings WHERE name = ?", name);
  }

  keepSetting(name: string, value: string): void {
    this.#write("INSERT OR REPLACE INTO settings VALUES (?, ?)", name, value);
  }

  /** Takes marks of what the server has now, by path, with the readings that it has of a series. */
  list(marks: readonly (readonly [path: string, mark: string, readings: number])[]): void {
    const insert = this.#database.query("INSERT OR REPLACE INTO listed VALUES (?, ?, ?)");
    this.#doing(this.#database.transaction(() => marks.forEach((one) => void insert.run(...one))));
  }

  /** The mark of a path; undefined where none was told. */
  listed(path: string): string | undefined {
    return this.#text("SELECT mark FROM listed WHERE path = ?", path);
  }

  listedReadings(path: string): number {
    return Number(this.#text("SELECT readings FROM listed WHERE path = ?", path) ?? 0);
  }

  /** The parts of a path that marks were told of, each by its query, from old to new: those that end first. */
  listedParts(path: string): [query: string, mark: string][] {
    const rows = this.#database
      .query("SELECT path, mark FROM listed WHERE path >= ?1 AND path < ?1 || '@'")
      .values(path) as [string, string][];
    const queryOf = (of: string) => of.slice(path.length + 1);
    const endOf = (query: string) =>
      Number(new URLSearchParams(query).get("before") ?? Number.MAX_SAFE_INTEGER);
    return rows
      .map(([of, mark]): [string, string] => [queryOf(of), mark])
      .sort(([one], [other]) => endOf(one) - endOf(other));
  }

  /** Forgets answers to a path that no part of it has a mark of any more. */
  forgetParts(path: string): void {
    this.#write(
      `DELETE FROM answers WHERE path >= ?1 AND path < ?1 || '@'
       AND substr(mark, 1, instr(mark, ' ') - 1) NOT IN (SELECT mark FROM listed WHERE path >= ?1 AND path < ?1 || '@')`,
      path,
    );
  }

  /** The answer to a path, where it is held under this mark. */
  answer(path: string, mark: string): string | undefined {
    return this.#text("SELECT body FROM answers WHERE path = ? AND mark = ?", path, mark);
  }

  hasAnswer(path: string, mark: string): boolean {
    return this.#text("SELECT 1 FROM answers WHERE path = ? AND mark = ?", path, mark) !== undefined;
  }

  keepAnswer(path: string, mark: string, body: string): void {
    this.#write("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", path, mark, body);
  }

  #text(statement: string, ...values: string[]): string | undefined {
    const row = this.#database.query(statement).values(...values)[0];
    return row === undefined ? undefined : String(row[0]);
  }

  /** How far a series was received: the query of the page that follows, and a number that changes with every change of its readings. */
  progress({ series, item }: SeriesOfItem): { readonly next: string | undefined; readonly revision: number } {
    const [row] = this.#database
      .query("SELECT next, revision FROM progress WHERE series = ? AND item = ?")
      .values(series, item) as [next: string | null, revision: number][];
    return { next: row?.[0] ?? undefined, revision: row?.[1] ?? 0 };
  }

  /** Adds the rows of a page, in order of arrival, with what identifies each of them, and the query of the page that follows. */
  add(
    { series, item }: SeriesOfItem,
    rows: readonly ReadingRow[],
    numbers: readonly (ReadingNumber | undefined)[],
    next: string,
  ): void {
    const page = this.#database.transaction(() => {
      this.#write(
        `INSERT INTO progress (series, item, round, next, revision) VALUES (?1, ?2, 1, ?3, 1)
         ON CONFLICT DO UPDATE SET next = ?3, revision = revision + 1`,
        series,
        item,
        next,
      );
      for (const epoch of new Set(numbers.flatMap((one) => one?.epoch ?? [])))
        this.#write("INSERT INTO epochs (epoch) VALUES (?) ON CONFLICT DO NOTHING", epoch);
      this.#tallies = undefined;
      for (const [at, [stamp_ms, ...values]] of rows.entries()) {
        const [homeid = null, clock] = values.splice(-2, 2);
        values.push(clocks.indexOf(clock as ClockWord));
        const { epoch = null, number = null } = numbers[at] ?? {};
        const fields = JSON.stringify(values);
        this.#write(addRow, series, item, stamp_ms, fields, at, homeid, epoch, number);
      }
    });
    this.#doing(page);
  }

  /** Begins another round; the readings of earlier ones stay. */
  beginAgain({ series, item }: SeriesOfItem): void {
    const again = "UPDATE progress SET round = round + 1, next = NULL WHERE series = ? AND item = ?";
    this.#write(again, series, item);
  }

  /**
   * Has readings told up to a number of each of these epochs from now on; of other epochs, and where nobody knows which reading it is, all or
   * none.
   */
  tellUpTo(epochs: readonly ReadingNumber[], others: "all" | "none"): void {
    this.#others = others;
    this.#tallies = undefined;
    this.#write("UPDATE epochs SET last = NULL");
    for (const { epoch, number } of epochs)
      this.#write(
        "INSERT INTO epochs (epoch, last) VALUES (?1, ?2) ON CONFLICT (epoch) DO UPDATE SET last = ?2",
        epoch,
        number,
      );
  }

  /** How many readings of a series are told of each epoch, with the first and the last stamp; under an empty name those that nobody knows the epoch of. */
  told({ series, item }: SeriesOfItem): readonly EpochTally[] {
    this.#tallies ??= this.#tallied();
    return this.#tallies.get(`${series} ${item}`) ?? [];
  }

  /** The same of every series, in one pass along the key. */
  #tallied(): ReadonlyMap<string, readonly EpochTally[]> {
    const rows = this.#database
      .query<EpochTally & SeriesOfItem, []>(
        `SELECT series, item, coalesce(epochs.epoch, '') AS epoch, count(*) AS readings, min(stamp_ms) AS first_ms, max(stamp_ms) AS last_ms
         FROM readings JOIN progress ON progress.id = of LEFT JOIN epochs ON epochs.id = readings.epoch
         WHERE ${this.#isTold} GROUP BY of, epochs.epoch ORDER BY of, 3`,
      )
      .all();
    const tallies = new Map<string, EpochTally[]>();
    for (const { series, item, ...tally } of rows) {
      const name = `${series} ${item}`;
      tallies.set(name, [...(tallies.get(name) ?? []), tally]);
    }
    return tallies;
  }

  /** Numbers of epochs from their first on, up to the ones given, that no reading here has: runs of them, at most `limit` of each epoch. */
  missing(epochs: readonly EpochAt[], limit: number): ReadonlyMap<string, readonly NumberSpan[]> {
    const runs = new Map<string, NumberSpan[]>();
    const asked = new Map(epochs.map((one) => [one.epoch, { ...one, next: one.first }]));
    const come = (epoch: string, number: number) => {
      const of = asked.get(epoch);
      if (of === undefined || number < of.next) return;
      const found = runs.get(epoch) ?? [];
      if (number > of.next && found.length < limit) found.push({ first: of.next, last: number - 1 });
      runs.set(epoch, found);
      of.next = number + 1;
    };
    const held = this.#database.query<{ epoch: string; number: number }, []>(
      `SELECT epochs.epoch, number FROM readings JOIN epochs ON epochs.id = readings.epoch
       WHERE number <= last ORDER BY readings.epoch, number`,
    );
    for (const { epoch, number } of held.iterate()) come(epoch, number);
    for (const { epoch, number } of epochs) come(epoch, number + 1);
    return runs;
  }

  /** Everything told of a series in order of time, of epoch and number where times are equal; a bounded number at once. */
  *oldestFirst(series: SeriesName, { itemid }: Pick<Item, "itemid">): Generator<ReadingRow[]> {
    if (this.told({ series, item: itemid }).length === 0) return;
    const readings = this.#database.query<
      { stamp_ms: number; fields: string; homeid: number | null },
      [string, number]
    >(
      `SELECT stamp_ms, fields, homeid FROM ${this.#toldOf}
       ORDER BY stamp_ms, epochs.epoch, readings.number, round DESC, revision, place`,
    );
    let rows: ReadingRow[] = [];
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

  /** Tables and condition of the readings that are told of a series of an item. */
  get #toldOf(): string {
    return `readings LEFT JOIN epochs ON epochs.id = readings.epoch
      WHERE of = (SELECT id FROM progress WHERE series = ? AND item = ?) AND ${this.#isTold}`;
  }

  get #isTold(): string {
    return `CASE WHEN last IS NULL THEN ${this.#others === "all"} ELSE readings.number <= last END`;
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
-- Answers by what was asked, as JSON, with the mark under which they are the same; of a series that all of it is held.
CREATE TABLE IF NOT EXISTS answers (path TEXT PRIMARY KEY, mark TEXT NOT NULL, body TEXT NOT NULL) STRICT, WITHOUT ROWID;
-- Marks of what the server has, as it was asked in this run.
CREATE TEMP TABLE listed (path TEXT PRIMARY KEY, mark TEXT NOT NULL, readings INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS epochs (id INTEGER PRIMARY KEY, epoch TEXT NOT NULL UNIQUE, last INTEGER) STRICT;
-- fields: the values, then the clock. Epoch and number are those of the reading's gateway. They and the home are no part of what a reading is here: a gateway may learn
-- its number later. Equal readings are the copies 0, 1, 2 …; they came in this order: round, revision, place in its page.
CREATE TABLE IF NOT EXISTS readings (
  of INTEGER, stamp_ms INTEGER, fields TEXT, copy INTEGER, round INTEGER NOT NULL, revision INTEGER NOT NULL, place INTEGER NOT NULL,
  homeid INTEGER, epoch INTEGER, number INTEGER,
  PRIMARY KEY (of, stamp_ms, fields, copy)
) STRICT, WITHOUT ROWID`;

/** The words for a clock, by the number under which they are held here. */
const clocks = Object.keys(clockWords) as ClockWord[];

/** One more reading of the present round: the next of its equals, which an earlier round may have received too. */
const addRow = `
INSERT INTO readings
SELECT id, ?3, ?4,
  (SELECT count(*) FROM readings WHERE of = id AND stamp_ms = ?3 AND fields = ?4 AND round = progress.round),
  round, revision, ?5, ?6, (SELECT id FROM epochs WHERE epoch = ?7), ?8
FROM progress WHERE series = ?1 AND item = ?2
ON CONFLICT DO UPDATE SET round = excluded.round, revision = excluded.revision, place = excluded.place, homeid = excluded.homeid,
  epoch = coalesce(excluded.epoch, epoch), number = coalesce(excluded.number, number)`;

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
