import { Database, SQLiteError } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";
import { type SeriesName, seriesTable } from "../series.ts";
import { type HeldRow, oldestFirst } from "./oldest-first.ts";

/** Readings of one series of one item, which is known by its itemid. */
export interface Run {
  readonly series: SeriesName;
  readonly item: number;
}

/**
 * Readings that a download has received so far, in one SQLite file beside the result. A page and the place where the
 * download goes on are one transaction. So the file always holds a complete beginning of the series, however the
 * program ends. The file is locked while it is open. No received reading is dropped.
 */
export class HeldReadings {
  readonly #database: Database;
  readonly #path: string;

  /**
   * @param binding what the download is of; the same file serves no other
   * @throws OperatorError when the file can't be used, another program uses it, or it is of another download
   */
  constructor(path: string, binding: Readonly<Record<string, string>>) {
    this.#path = path;
    this.#database = opened(path);
    try {
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
    this.#writing(() =>
      this.#database.query("INSERT OR REPLACE INTO settings VALUES (?, ?)").run(name, value),
    );
  }

  /** Query of the page that follows; undefined at the beginning of a walk. */
  next({ series, item }: Run): string | undefined {
    const row = this.#database
      .query("SELECT next FROM runs WHERE series = ? AND item = ?")
      .values(series, item)[0];
    return row?.[0] === undefined || row[0] === null ? undefined : String(row[0]);
  }

  /** Adds the rows of a page, of which there are some, in order of arrival, and the query of the page that follows. */
  add({ series, item }: Run, rows: readonly HeldRow[], next: string): void {
    const database = this.#database;
    const change = database.transaction(() => {
      database
        .query(
          `INSERT INTO runs (series, item, walk, next, revision) VALUES (?1, ?2, 1, ?3, 1)
           ON CONFLICT DO UPDATE SET next = ?3, revision = revision + 1`,
        )
        .run(series, item, next);
      const insert = database.query(
        `INSERT INTO pages (series, item, walk, oldest_ms, rows)
         SELECT series, item, walk, ?3, ?4 FROM runs WHERE series = ?1 AND item = ?2`,
      );
      for (const part of parted(rows)) {
        const oldest_ms = part.reduce((oldest, [ms]) => Math.min(oldest, ms), Number.MAX_SAFE_INTEGER);
        insert.run(series, item, oldest_ms, packed(part));
      }
    });
    this.#writing(change);
  }

  /** Begins another walk; what earlier ones have received stays. */
  beginAgain({ series, item }: Run): void {
    const begin = this.#database.query(
      "UPDATE runs SET walk = walk + 1, next = NULL WHERE series = ? AND item = ?",
    );
    this.#writing(() => begin.run(series, item));
  }

  /** Everything held of a run in order of time, a page or so at once. */
  oldestFirst({ series, item }: Run): Generator<HeldRow[]> {
    const pages = this.#database
      .query("SELECT id, walk, oldest_ms FROM pages WHERE series = ? AND item = ? ORDER BY oldest_ms")
      .values(series, item) as [id: number, walk: number, oldest_ms: number][];
    const read = this.#database.query("SELECT rows FROM pages WHERE id = ?");
    return oldestFirst(
      pages.map(([id, walk, oldest_ms]) => ({
        id,
        walk,
        oldest_ms,
        rows: () => unpacked(read.values(id)[0]?.[0] as Uint8Array),
      })),
    );
  }

  /** A number that changes with every change of a run's readings. */
  revision({ series, item }: Run): number {
    const row = this.#database
      .query("SELECT revision FROM runs WHERE series = ? AND item = ?")
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
CREATE TABLE IF NOT EXISTS runs (
  series TEXT, item INTEGER, walk INTEGER NOT NULL, next TEXT, revision INTEGER NOT NULL, PRIMARY KEY (series, item)
) STRICT;
CREATE TABLE IF NOT EXISTS pages (
  id INTEGER PRIMARY KEY, series TEXT NOT NULL, item INTEGER NOT NULL, walk INTEGER NOT NULL, oldest_ms INTEGER NOT NULL, rows BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS pages_in_time ON pages (series, item, oldest_ms)`;

/** The fields that rows have, so that a program with other fields doesn't mistake them. */
const form = JSON.stringify(
  Object.entries(seriesTable).map(([series, { fields }]) => [series, ...Object.keys(fields)]),
);

/**
 * Rows that came in order of time, and the others: apart, because a page is read when its oldest row is due, and one late row would have all
 * of its page wait in memory.
 */
function parted(rows: readonly HeldRow[]): HeldRow[][] {
  let newest_ms = Number.MIN_SAFE_INTEGER;
  const [inOrder, late]: [HeldRow[], HeldRow[]] = [[], []];
  for (const row of rows) {
    if (row[0] < newest_ms) late.push(row);
    else {
      inOrder.push(row);
      newest_ms = row[0];
    }
  }
  return [inOrder, late].filter(({ length }) => length > 0);
}

/** Rows as they stand in the file: compressed lightly, because each is written once and read a few times. */
function packed(rows: readonly HeldRow[]): Uint8Array {
  return Bun.zstdCompressSync(JSON.stringify(rows), { level: 1 });
}

function unpacked(bytes: Uint8Array): HeldRow[] {
  return JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(bytes)));
}

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
