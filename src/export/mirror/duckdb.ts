import { realpathSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { messageOf } from "../../base/errors.ts";

/** The part of DuckDB's package that is used. */
interface DuckDb {
  readonly DuckDBInstance: {
    create(path: string, options?: Readonly<Record<string, string>>): Promise<DuckDbInstance>;
  };
}

interface DuckDbInstance {
  connect(): Promise<DuckDbConnection>;
  closeSync(): void;
}

interface DuckDbConnection {
  run(statements: string): Promise<unknown>;
  closeSync(): void;
}

/**
 * Makes a database of DuckDB by some statements, in the place of what was there.
 *
 * @param folder in which DuckDB's package was installed; absent: beside this program
 * @returns why it was not made; undefined where it was
 */
export async function makeDatabase(
  path: string,
  statements: string,
  folder: string | undefined,
): Promise<string | undefined> {
  const duckDb = loaded(folder);
  if (typeof duckDb === "string") return duckDb;
  const unfinished = `${path}.part`;
  rmSync(unfinished, { force: true });
  const instance = await duckDb.DuckDBInstance.create(unfinished);
  try {
    const connection = await instance.connect();
    await connection.run(statements);
    await connection.run("CHECKPOINT");
    connection.closeSync();
  } finally {
    instance.closeSync();
  }
  renameSync(unfinished, path);
  return undefined;
}

/** The main file of DuckDB's package, as `makeDatabase` finds it; why there is none. */
export function duckDbFile(folder: string | undefined): { readonly path: string } | string {
  try {
    return { path: realpathSync(requireIn(folder).resolve(packageName)) };
  } catch (thrown) {
    return missing(thrown);
  }
}

/** DuckDB's package, of the folder that is named or beside this program; why there is none. It is loaded when it is asked for, and comes with no package of Lintel. */
function loaded(folder: string | undefined): DuckDb | string {
  try {
    return requireIn(folder)(packageName) as DuckDb;
  } catch (thrown) {
    return missing(thrown);
  }
}

function requireIn(folder: string | undefined) {
  return createRequire(folder === undefined ? import.meta.url : join(folder, "package.json"));
}

function missing(thrown: unknown): string {
  return `DuckDB cannot be loaded (${messageOf(thrown)}): run npm install --prefix DIR ${packageName}@${packageVersion}, and set LINTEL_DUCKDB=DIR; or run duckdb lintel.duckdb < lintel.sql in the mirror`;
}

const packageName = "@duckdb/node-api";
/** The one that the tests use. */
const packageVersion = "1.5.6-r.1";
