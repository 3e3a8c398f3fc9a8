import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { readIfThere, writeDurably } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import type { InterfaceReader } from "../answers.ts";
import { measuredHomes, writePlaces } from "../derived-tables.ts";
import { writeTable } from "../table-file.ts";
import { recordLists, writeList } from "../tables.ts";
import { makeDatabase } from "./duckdb.ts";
import {
  columnsOf,
  fileIn,
  homesIn,
  noHome,
  noMonth,
  partitioned,
  recordsIn,
  removeUnfinished,
  stateIn,
  viewsOf,
} from "./mirror-files.ts";
import { HomeMirroring, type HomeToMirror, type MirrorUpdate } from "./mirrored-home.ts";

export interface MirrorOptions {
  /** Absolute; made if it is missing. */
  readonly directory: string;
  /** Numbers of all homes that the store knows. */
  readonly homes: readonly number[];
  readonly homeOf: (home: number) => Promise<HomeToMirror>;
  /** The interface over the whole store. */
  readonly answers: InterfaceReader;
  /** The folder in which DuckDB's package was installed; absent: beside this program. */
  readonly duckDb?: string | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
  readonly onProgress: (progress: { done: number; total: number; home: number }) => void;
}

/** The outcome of an update. */
export interface Mirrored extends MirrorUpdate {
  readonly homes: number;
  /** Why there is no `lintel.duckdb`; absent where it is there. */
  readonly noDatabase?: string | undefined;
}

/**
 * Brings a mirror up to date: Parquet files of all readings, coverage and measures by home and month, the lists of records, and a database of DuckDB with a view of each. A home that the
 * store does not know any more is taken away first.
 *
 * @throws OperatorError where the directory is another's, or cannot be written
 */
export async function updateMirror(options: MirrorOptions): Promise<Mirrored> {
  const { directory, homes, answers, clock, stop } = options;
  prepare(directory);
  using _ = lockOf(directory);
  removeUnfinished(directory);
  const update: MirrorUpdate = { written: 0, removed: 0, rows: 0 };
  const known = new Set(homes);
  const gone = homesIn(directory).filter((home) => !known.has(home));
  const all = [...gone, ...homes];
  for (const [done, home] of all.entries()) {
    stop.throwIfAborted();
    options.onProgress({ done, total: all.length, home });
    await new HomeMirroring(await options.homeOf(home), { directory, clock, stop, update }).run();
  }
  for (const table of partitioned) await writeEmpty(fileIn(directory, table, noHome, noMonth), table);
  for (const list of recordLists) {
    stop.throwIfAborted();
    const path = recordsIn(directory, list.name);
    await writeList({ answers, list, path, ...form });
  }
  await writePlaces({
    directory: join(directory, "records"),
    answers,
    homes: await measuredHomes(answers, [], undefined),
    ...form,
    stop,
  });
  return { homes: homes.length, ...update, noDatabase: await writeViews(directory, options.duckDb) };
}

/** Makes the directory, and marks it as a mirror: files that are not ours are never taken away. */
function prepare(directory: string): void {
  if (/[*?[\]{}]/.test(directory))
    throw new OperatorError(
      `${directory} has a character that DuckDB takes for a pattern`,
      "name a directory without * ? [ ] { and }",
    );
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const mark = join(directory, markFile);
  if (existsSync(mark)) return;
  if (new Bun.Glob("*").scanSync({ cwd: directory, dot: true, onlyFiles: false }).next().done !== true)
    throw new OperatorError(
      `${directory} has files, and is no mirror`,
      "name an empty directory, or one that does not exist",
    );
  writeDurably(mark, "Made by `lintel central --mirror`: docs/mirror.md says what is here.\n");
}

/** One update at a time: what another is writing would be taken for what a killed one has left. The lock ends with its process. */
function lockOf(directory: string): Disposable {
  mkdirSync(stateIn(directory), { recursive: true, mode: 0o700 });
  const lock = new Database(join(stateIn(directory), "lock.db"));
  try {
    lock.run("BEGIN EXCLUSIVE");
  } catch (thrown) {
    lock.close();
    if ((thrown as { code?: string }).code !== "SQLITE_BUSY") throw thrown;
    throw new OperatorError(`another update of ${directory} is under way`, "wait until it has ended");
  }
  return { [Symbol.dispose]: () => lock.close() };
}

/** A file of columns without rows, so that a table without readings can be read too. */
async function writeEmpty(path: string, table: (typeof partitioned)[number]): Promise<void> {
  if (existsSync(path)) return;
  await writeTable({ path, ...form, columns: columnsOf(table) }, noRows());
}

async function* noRows() {
  yield [];
}

/** Writes `lintel.sql` where it is another, and the database that it makes: that of other statements is none, whether DuckDB can be loaded or not. */
async function writeViews(directory: string, duckDb: string | undefined): Promise<string | undefined> {
  const [statements, database] = [join(directory, "lintel.sql"), join(directory, "lintel.duckdb")];
  const views = viewsOf(directory);
  if (readIfThere(statements) !== views) {
    rmSync(database, { force: true });
    writeDurably(statements, views);
  }
  return existsSync(database) ? undefined : makeDatabase(database, views, duckDb);
}

const form = { format: "parquet", stamp: "iso" } as const;
const markFile = "README";
