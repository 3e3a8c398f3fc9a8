import type { Database } from "bun:sqlite";
import { stamp_end_ms } from "../../base/clock.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../domain/series.ts";
import type { BatchDevice, ReadingColumns } from "../batch.ts";
import { seq_max } from "../exchange.ts";
import { homesOnSqlite } from "../inventory/homes.ts";
import { decodeBlock, readingAt, type StreamReading } from "../series/block-codec.ts";
import { eachReading } from "../series/readings.ts";
import { readingColumns } from "../series/series-columns.ts";
import { placesOf } from "../series/streams.ts";
import { UnkeptTimes } from "./remembered-streams.ts";
import { forEveryStoredRow } from "./salvage-sources.ts";
import { insertSql } from "./schema.ts";
import { Runner } from "./sqlite-database.ts";

/**
 * Copies readings to which no way leads from the root any more into the tables of rows; answers how many. One that was removed, or went into a block, may
 * still stand on a free page: what is in the target already is left, and so is what is older than what stays, and what was erased. The totals of the target
 * are made, and are to be made again.
 */
export function takeStrays({ from, into }: { from: string; into: Database }): number {
  const strays = new Strays(into);
  forEveryStoredRow(from, (row) => strays.see(row));
  return strays.takeRows();
}

class Strays {
  readonly #target: Database;
  readonly #runner: Runner;
  readonly #unkept: UnkeptTimes;
  readonly #places: ReadonlyMap<string, StrayPlace>;
  readonly #from_ms: number;
  readonly #rows = new Map<StrayPlace, StreamReading[]>();
  #taken = 0;

  constructor(target: Database) {
    this.#target = target;
    this.#runner = new Runner(target as ConstructorParameters<typeof Runner>[0]);
    this.#unkept = new UnkeptTimes(this.#runner);
    this.#places = this.#known();
    const pruned = target.query("SELECT value FROM upload_state WHERE name = 'pruned_before_ms'").values();
    this.#from_ms = Number(pruned[0]?.[0] ?? 0);
  }

  /** Takes the readings of a block; a row waits for `takeRows`. */
  see(row: readonly (Value | Uint8Array)[]): void {
    const last = row.at(-1);
    if (last instanceof Uint8Array) {
      const place = this.#places.get(`${row[0]} ${row[1]}`);
      const readings = place && decoded(place.series, last);
      if (place && readings)
        this.#take(
          place,
          [...readings.seq.keys()].map((index) => readingAt(readings, index)),
        );
      return;
    }
    const [stream, stamp_ms, seq, ...values] = row as Value[];
    const place = this.#places.get(`${stream} ${row.length}`);
    if (place === undefined || typeof stamp_ms !== "number" || typeof seq !== "number") return;
    const readings = this.#rows.get(place) ?? [];
    this.#rows.set(place, readings);
    readings.push([stamp_ms, seq, ...values]);
  }

  takeRows(): number {
    for (const [place, readings] of this.#rows) this.#take(place, readings);
    return this.#taken;
  }

  /** Puts readings that are not here into their table. */
  #take(place: StrayPlace, readings: readonly StreamReading[]): void {
    const { series, stream, device } = place;
    const wanted = readings.filter(
      ([stamp_ms, seq]) =>
        stamp_ms >= this.#from_ms &&
        stamp_ms < stamp_end_ms &&
        seq >= 1 &&
        seq <= seq_max &&
        this.#unkept.why(device, stamp_ms) === undefined,
    );
    if (wanted.length === 0) return;
    let [first, last] = [stamp_end_ms, 0];
    for (const [stamp_ms] of wanted) [first, last] = [Math.min(first, stamp_ms), Math.max(last, stamp_ms)];
    const here = new Set<string>();
    const held = this.#runner.run(placesOf(homesOnSqlite, { series, home: 0, streams: [stream] }));
    for (const run of held.values())
      this.#runner.run(
        eachReading(run, { from_ms: first, before_ms: last + 1 }, ([stamp_ms, seq]) => {
          here.add(`${stamp_ms} ${seq}`);
        }),
      );
    const put = this.#target.prepare(insertSql[series].replace("INSERT", "INSERT OR IGNORE"));
    for (const [stamp_ms, seq, ...values] of wanted) {
      if (here.has(`${stamp_ms} ${seq}`)) continue;
      try {
        this.#taken += put.run(stream, stamp_ms, seq, ...values).changes;
      } catch {
        // An index has rows like these.
      }
    }
    put.finalize();
  }

  /** Series of streams, by the stream with the name of the series, as a block has them, and with how many columns its rows have. */
  #known(): Map<string, StrayPlace> {
    const places = new Map<string, StrayPlace>();
    const streams = this.#target
      .query(
        "SELECT streams.key, typename AS kind, streams.address, streams.itemid FROM streams JOIN items ON items.key = item",
      )
      .all() as (BatchDevice & { key: number })[];
    for (const series of seriesNames)
      for (const { key, ...device } of streams) {
        if (device.kind !== seriesOf(series).kind) continue;
        const place = { series, stream: key, device };
        places.set(`${key} ${series}`, place);
        places.set(`${key} ${readingColumns(series).length}`, place);
      }
    return places;
  }
}

/** A series of a stream, and the device that it is of. */
interface StrayPlace {
  readonly series: SeriesName;
  readonly stream: number;
  readonly device: BatchDevice;
}

/** The readings of a block; undefined where it is damaged. */
export function decoded(series: SeriesName, bytes: Uint8Array): ReadingColumns | undefined {
  try {
    return decodeBlock(series, bytes);
  } catch {
    // Its checksum says so.
    return undefined;
  }
}
