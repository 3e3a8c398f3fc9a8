import type { Database } from "bun:sqlite";
import { OperatorError } from "../../base/errors.ts";
import { halfMoved } from "../move/move-state.ts";
import { forEverySeries, readingColumns, valueColumns } from "../series/series-columns.ts";
import readings from "./migrations/0001_readings.sql" with { type: "text" };
import inventory from "./migrations/0002_inventory.sql" with { type: "text" };
import gateway from "./migrations/0003_gateway.sql" with { type: "text" };
import central from "./migrations/0004_central.sql" with { type: "text" };
import replacing from "./migrations/0005_replacing.sql" with { type: "text" };
import pauses from "./migrations/0006_pauses.sql" with { type: "text" };
import consent from "./migrations/0007_consent.sql" with { type: "text" };
import remoteRequests from "./migrations/0008_remote_requests.sql" with { type: "text" };
import restrictions from "./migrations/0009_restrictions.sql" with { type: "text" };
import retention from "./migrations/0010_retention.sql" with { type: "text" };

/** Insert of one reading, by series; parameters in the order of `readingColumns`. */
export const insertSql = forEverySeries((series) => {
  const columns = readingColumns(series);
  return `INSERT INTO ${series} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
});

/**
 * The tables of the series. Stamps are unix milliseconds; `clock` is a ClockQuality; `device_ms` and `offset_ms` are what a device with a clock of
 * its own said, and what was added to it to get the stamp. The key descends, as everything is served: a page is read forwards.
 */
export const seriesTables = forEverySeries((series) => {
  const values = valueColumns(series).map(
    ({ name, sql, nullable }) => `${name} ${sql}${nullable ? "" : " NOT NULL"}`,
  );
  const columns = ["stream INTEGER NOT NULL", "stamp INTEGER NOT NULL", "seq INTEGER NOT NULL", ...values];
  return `CREATE TABLE ${series} (${columns.join(", ")}, PRIMARY KEY (stream, stamp DESC, seq DESC)) WITHOUT ROWID, STRICT;`;
});

/**
 * The schema, step by step: entry n (from 1) takes a database of version n − 1 to n. From the first release on: add, never change. The tables of
 * series follow from src/domain/series.ts: a new series is then an entry there and a step here that makes its table, a new field a step that adds its column where a table lacks it.
 */
export const migrations: readonly string[] = [
  [readings, ...Object.values(seriesTables)].join("\n"),
  inventory,
  gateway,
  central,
  replacing,
  pauses,
  consent,
  remoteRequests,
  restrictions,
  retention,
];

/** The schema that this program works on. */
export const schemaVersion = migrations.length;

/** The version of a database; 0 is an empty file. Throws an OperatorError where it is some other program's. */
export function versionOf(database: Database, path: string): number {
  const version = pragma(database, "user_version");
  const objects = database.query("SELECT count(*) FROM sqlite_schema").values()[0]?.[0];
  if (pragma(database, "application_id") !== applicationId && (version !== 0 || objects !== 0)) {
    throw new OperatorError(
      `${path} is a database of another program`,
      "set another `data` directory, or move the file away",
    );
  }
  return version;
}

/** Throws the OperatorError that says so when the database was made by a newer program. */
export function refuseNewer(version: number, path: string): void {
  if (version <= schemaVersion) return;
  throw new OperatorError(
    `${path} was written by a newer Lintel (schema ${version}; this one knows up to ${schemaVersion})`,
    "install that version again, or restore a backup that was made before the upgrade",
  );
}

/**
 * Takes a database to `schemaVersion`, one transaction a step, and answers the version it had. A new one gets
 * `epoch` as its name. To be called by the holder of the lock only. `moving`: the state of the move that fills it.
 */
export function migrate(database: Database, path: string, epoch: string, moving?: string): number {
  const before = versionOf(database, path);
  refuseNewer(before, path);
  if (moving === undefined) refuseHalfMoved(database, path);
  for (let version = before; version < schemaVersion; version += 1) {
    database.transaction(() => {
      database.run(migrations[version] ?? "");
      if (version === 0) {
        database.run(`PRAGMA application_id = ${applicationId}`);
        database.run("INSERT INTO meta (name, value) VALUES ('epoch', ?), ('last_seq', 0)", [epoch]);
        if (moving !== undefined) database.run("INSERT INTO meta VALUES ('moving', ?)", [moving]);
      }
      database.run(`PRAGMA user_version = ${version + 1}`);
    })();
  }
  return before;
}

/** Throws the OperatorError that says so where a move into the database has not come to its end. */
export function refuseHalfMoved(database: Database, path: string): void {
  if (versionOf(database, path) > 0 && isHalfMoved(database)) throw halfMoved(path);
}

/** Whether a store is being moved into the database. */
export function isHalfMoved(database: Database): boolean {
  return database.query("SELECT 1 FROM meta WHERE name = 'moving'").values().length > 0;
}

function pragma(database: Database, name: string): number {
  return Number(database.query(`PRAGMA ${name}`).values()[0]?.[0]);
}

/** "LNTL": tells a database of ours from any other SQLite file. */
const applicationId = 0x4c_4e_54_4c;
