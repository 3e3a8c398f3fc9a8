import { createHash } from "node:crypto";
import { stamp_end_ms } from "../../base/clock.ts";
import { seriesNames } from "../../domain/series.ts";
import type { Batch } from "../batch.ts";
import { oneHome } from "../inventory/homes.ts";
import { eachReading } from "../series/readings.ts";
import { placesOf } from "../series/streams.ts";
import { type Connection, openForReading } from "./connection.ts";
import { isWhole } from "./salvage-sources.ts";
import { Runner } from "./sqlite-database.ts";
import { searchedColumns } from "./upload-reads.ts";

/**
 * Whether a database has the form of a copy that was made of it before, and every reading that the copy has, as it is there: of the same device,
 * with the same number, stamp and values. So with the readings in `added`, which came after the copy. Nothing of it may be damaged, and no number may be given
 * again. False also where it cannot be read.
 */
export function hasSamePast(database: string, copy: string, added: readonly Batch[] = []): boolean {
  using before = openForReading(copy);
  try {
    using now = openForReading(database);
    const last_seq = Number(before.query("SELECT value FROM meta WHERE name = 'last_seq'").values()[0]?.[0]);
    return (
      formOf(now) === formOf(before) &&
      isWhole(database) &&
      goesOnNumbering(now, before) &&
      pastOf(now, last_seq) === pastOf(before, last_seq) &&
      added.every((batch) => hasBatch(now, batch))
    );
  } catch {
    // What cannot be read is not the same.
    return false;
  }
}

/** Whether the numbers of the copy are still of the same epochs, and the next number is above every other. */
function goesOnNumbering(now: Connection, before: Connection): boolean {
  const epochsOf = (database: Connection) =>
    database
      .query("SELECT first_seq, epoch, restored FROM epochs ORDER BY first_seq")
      .values()
      .map((row) => JSON.stringify(row));
  const epochs = epochsOf(now);
  const rows = seriesNames.map((series) => `SELECT max(seq) AS seq FROM ${series}`);
  const newest = [...rows, "SELECT max(max_seq) AS seq FROM blocks"].join(" UNION ALL ");
  const [given] = now
    .query(
      `SELECT value >= coalesce((SELECT max(seq) FROM (${newest})), 0) FROM meta WHERE name = 'last_seq'`,
    )
    .values();
  return given?.[0] === 1 && epochsOf(before).every((epoch) => epochs.includes(epoch));
}

function hasBatch(now: Connection, batch: Batch): boolean {
  const { from_seq, to_seq } = batch;
  return plain(new Runner(now).run(searchedColumns(from_seq, to_seq))) === plain(batch);
}

/** Readings as text, to compare them: their devices by address alone, which is all that an inventory leaves as it was. */
function plain({ devices, series }: Pick<Batch, "devices" | "series">): string {
  const columns = seriesNames.flatMap((name) => {
    const found = series[name];
    if (found === undefined) return [];
    const addresses = Array.from(found.device, (place) => devices[place]?.address);
    return [
      [name, addresses, [...found.seq], [...found.stamp_ms], found.values.map((column) => [...column])],
    ];
  });
  return JSON.stringify(columns);
}

function formOf(database: Connection): string {
  const version = database.query("PRAGMA user_version").values();
  const tables = database
    .query("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY name")
    .values();
  return JSON.stringify([version, tables]);
}

/** A digest of the readings up to a number, and of whose they are. */
function pastOf(database: Connection, last_seq: number): string {
  const hash = createHash("sha256");
  const runner = new Runner(database);
  const streams = database.query("SELECT key, address FROM streams ORDER BY key").values() as [
    number,
    string,
  ][];
  for (const series of seriesNames)
    for (const [stream, address] of streams) {
      const places = runner.run(placesOf(oneHome, { series, home: 0, streams: [stream] }));
      for (const place of places.values())
        runner.run(
          eachReading(place, { from_ms: 0, before_ms: stamp_end_ms }, (reading) => {
            if (reading[1] <= last_seq) hash.update(JSON.stringify([series, address, ...reading]));
          }),
        );
    }
  return hash.digest("hex");
}
