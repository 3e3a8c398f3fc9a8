import { createHash } from "node:crypto";
import { seriesNames } from "../../series.ts";
import { quoted, readingColumns } from "../core/series-tables.ts";
import { type Connection, openForReading } from "./connection.ts";

/**
 * Whether a database has the form of a copy that was made of it before, and every reading that the copy has, as it is there: of the same device,
 * with the same number, stamp and values. False also where it cannot be read.
 */
export function hasSamePast(database: string, copy: string): boolean {
  let now: Connection | undefined;
  const before = openForReading(copy);
  try {
    now = openForReading(database);
    const last_seq = Number(before.query("SELECT value FROM meta WHERE name = 'last_seq'").values()[0]?.[0]);
    return formOf(now) === formOf(before) && pastOf(now, last_seq) === pastOf(before, last_seq);
  } catch {
    // What cannot be read is not the same.
    return false;
  } finally {
    now?.close();
    before.close();
  }
}

function formOf(database: Connection): string {
  const version = database.query("PRAGMA user_version").values();
  const tables = database.query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").values();
  return JSON.stringify([version, tables]);
}

/** A digest of the readings up to a number, and of whose they are. */
function pastOf(database: Connection, last_seq: number): string {
  const hash = createHash("sha256");
  for (const series of seriesNames) {
    const statement = database.prepare(
      `SELECT streams.address, ${quoted(readingColumns(series))
        .split(", ")
        .map((column) => `${series}.${column}`)
        .join(", ")} FROM ${series} JOIN streams ON streams.key = ${series}.stream
       WHERE seq <= ? ORDER BY stream, stamp DESC, seq DESC`,
    );
    try {
      for (const row of statement.iterate(last_seq))
        hash.update(JSON.stringify(Object.values(row as object)));
    } finally {
      statement.finalize();
    }
    hash.update(series);
  }
  return hash.digest("hex");
}
