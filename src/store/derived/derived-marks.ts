import { version } from "../../base/version.ts";
import { definitionText, derivedNames } from "../../domain/derived/derived-table.ts";
import type { SeriesName } from "../../domain/series.ts";
import { arrays, objects, reach, rowsOf, rowsOfAll, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { inHomes, placementsOf } from "../inventory/item-overviews.ts";
import { pausesIn } from "../inventory/pausing.ts";
import { type MeasuredMarks, marked_ms } from "../inventory/record-store.ts";
import { pausedSpanOf } from "../pause.ts";

/** See `OwnerMarks.measured`. To be read in one snapshot. */
export function* measuredMarks(
  homes: Homes,
  epoch: string,
  asked: readonly number[],
  seen: readonly number[] | undefined,
): Work<ReadonlyMap<number, MeasuredMarks>> {
  const begun = Bun.hash(JSON.stringify([epoch, version, seen, derivedNames.map(definitionText)]));
  const found = new Map<number, MeasuredMarks>();
  // At a gateway everything is in one home, whatever its number.
  const all = homes.one ? [0] : asked;
  for (let at = 0; at < all.length; at += homes_at_once) {
    const some = all.slice(at, at + homes_at_once);
    const parts = yield* partsOf(homes, some);
    for (const home of some) found.set(home, marksIn(begun, parts.get(home) ?? []));
  }
  const one = found.get(0);
  return homes.one && one !== undefined ? new Map(asked.map((home) => [home, one])) : found;
}

/** A fact that measures depend on, and the moment behind which it is one. */
interface MarkedPart {
  readonly at_ms: number;
  readonly text: string;
  /** It is a first sign of life. */
  readonly isFirst?: boolean;
}

/** Each part adds to the hash of those before it, so that one pass has the marks of all moments. */
function marksIn(begun: number | bigint, parts: readonly MarkedPart[]): MeasuredMarks {
  const ordered = parts.toSorted((one, other) => one.at_ms - other.at_ms);
  let hash = begun;
  const hashes = ordered.map(({ text }) => {
    hash = Bun.hash(text, BigInt(hash));
    return hash;
  });
  return {
    first_ms: ordered.find(({ isFirst }) => isFirst)?.at_ms,
    before: (at_ms) => {
      const last = ordered.findLastIndex((part) => part.at_ms < at_ms);
      return (hashes[last] ?? begun).toString(36);
    },
  };
}

/** The parts of some homes, by home. */
function* partsOf(homes: Homes, of: readonly number[]): Work<ReadonlyMap<number, MarkedPart[]>> {
  const parts = new Map<number, MarkedPart[]>();
  const add = (home: number | undefined, at_ms: number, fact: readonly unknown[], isFirst = false) => {
    if (home === undefined) return;
    const own = parts.get(home) ?? [];
    if (own.length === 0) parts.set(home, own);
    own.push({ at_ms, text: fact.join(), isFirst });
  };
  const stays = yield* rowsOf(
    arrays<[item: number, home: number, from_ms: number, before_ms: number]>(
      "SELECT item, home, from_ms, before_ms FROM stays WHERE home = ANY ($1::bigint[]) ORDER BY item, from_ms",
      of,
    ),
  );
  // PostgreSQL would read all items and streams, had it to find those of the homes.
  const keys = [...new Set(stays.map(([item]) => item))];
  const items = yield* rowsOf(
    arrays<[number, string]>("SELECT key, record FROM items WHERE key = ANY ($1::bigint[])", keys),
  );
  const records = new Map(items);
  for (const [item, home, from_ms, before_ms] of stays)
    add(home, 0, ["item", from_ms, before_ms, records.get(item)]);
  for (const pause of yield* pausesIn(of)) add(pause.home, 0, ["pause", JSON.stringify(pausedSpanOf(pause))]);
  const placements = inHomes(yield* rowsOf(placementsOf(keys)), of);
  const homeOf = new Map(placements.map(({ stream, home }) => [stream, home]));
  for (const { home, stream, first_ms, heard_ms, listener, last_ms } of placements) {
    if (first_ms !== null) add(home, first_ms, ["first", stream, first_ms, listener], true);
    if (heard_ms !== null) add(home, heard_ms, ["heard", stream, heard_ms]);
    if (last_ms !== null) add(home, last_ms, ["listened", stream, last_ms]);
  }
  yield* reach(of);
  const streams = [...homeOf.keys()];
  const own = [streams, [...new Set(of.map(homes.of))]] as const;
  const ofStreams = "WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[])";
  const [totals, late, silences, gaps, outages] = yield* rowsOfAll<[Total, Late, Bucket, Bucket, Bucket]>(
    objects(
      `SELECT stream, series, revision, pruned, inserted, total, newest_stamp FROM totals ${ofStreams} ORDER BY stream, series`,
      ...own,
    ),
    objects(
      `SELECT stream, series, ${bucketed("stamp")}, count(*) AS readings, sum(seq) AS numbers FROM late ${ofStreams}
       GROUP BY stream, series, bucket ORDER BY stream, series, bucket`,
      ...own,
    ),
    objects(
      `SELECT stream, ${bucketed("start_ms")}, ${counted("start_ms", "stop_ms")} FROM silences ${ofStreams}
       GROUP BY stream, bucket ORDER BY stream, bucket`,
      ...[streams, of],
    ),
    objects(
      `SELECT stream, ${bucketed("from_ms")}, ${counted("from_ms", "to_ms")}, sum(length(reason)) AS reasons FROM gaps ${ofStreams}
       GROUP BY stream, bucket ORDER BY stream, bucket`,
      ...[streams, of],
    ),
    objects(
      `SELECT home, listener, ${bucketed("start_ms")}, ${counted("start_ms", "stop_ms")} FROM outages
       WHERE home = ANY ($1::bigint[]) GROUP BY home, listener, bucket ORDER BY home, listener, bucket`,
      of,
    ),
  );
  for (const { stream, series, revision, pruned, inserted, total, newest_stamp } of totals) {
    add(homeOf.get(stream), 0, ["series", stream, series, revision, pruned, inserted]);
    // All that comes in its order has a later stamp.
    add(homeOf.get(stream), newest_stamp, ["total", stream, series, total]);
  }
  const counts = { late, silence: silences, gap: gaps, outage: outages };
  for (const [name, rows] of Object.entries(counts))
    for (const row of rows) {
      const home = "home" in row ? Number(row.home) : homeOf.get(row.stream);
      add(home, row.bucket * marked_ms, [name, ...Object.values(row)]);
    }
  return parts;
}

/** The bucket of time that a stamp lies in, as a column. */
const bucketed = (stamp: string) => `${stamp} / ${marked_ms} AS bucket`;

/** How many stretches there are, and a number that changes when one of them is moved, as columns. */
export function counted(start: string, stop: string): string {
  return `count(*) AS stretches, sum((${start} % 1000003) * (${stop} % 999983)) AS ends`;
}

interface Bucket {
  readonly stream: number;
  readonly bucket: number;
}
interface Late extends Bucket {
  readonly series: SeriesName;
}
interface Total {
  readonly stream: number;
  readonly series: SeriesName;
  readonly revision: number;
  readonly pruned: number;
  readonly inserted: number;
  readonly total: number;
  readonly newest_stamp: number;
}

/** Homes that are read together: some five thousand streams at the most. */
const homes_at_once = 50;
