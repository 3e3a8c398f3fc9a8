import { day_ms } from "../../durations.ts";
import type { SeriesName } from "../../series.ts";
import { readingDigest, SetDigest } from "../reading-digest.ts";
import type { Homes } from "./homes.ts";
import { type ReadingKey, readingsAfter } from "./readings.ts";
import { placesOf } from "./run.ts";
import type { Database } from "./work.ts";

/** Digests of the readings of a series of a stream by day (days since 1970), read a few thousand readings at a time. */
export async function dayDigests(
  database: Database,
  homes: Homes,
  of: {
    readonly series: SeriesName;
    readonly stream: number;
    readonly home: number;
    readonly from_ms: number;
    readonly before_ms: number;
    /** The number that a reading is compared under, by its own one here; undefined where it is left out. */
    seqOf(own: number): number | undefined;
  },
): Promise<Map<number, SetDigest>> {
  const { series, stream, home, from_ms, before_ms, seqOf } = of;
  const days = new Map<number, SetDigest>();
  let after: ReadingKey = [from_ms, 0];
  for (;;) {
    const rows = await database.page(function* () {
      const place = (yield* placesOf(homes, { series, home: homes.of(home), streams: [stream] })).get(stream);
      return place === undefined ? [] : yield* readingsAfter(place, { after, before_ms, limit: rows_max });
    });
    for (const [stamp_ms, own, ...values] of rows) {
      const seq = seqOf(own);
      if (seq === undefined) continue;
      const day = Math.floor(stamp_ms / day_ms);
      const digest = days.get(day) ?? new SetDigest();
      days.set(day, digest);
      digest.add(readingDigest(seq, stamp_ms, values));
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < rows_max) return days;
    after = [last[0], last[1]];
    // Pages are to be served meanwhile.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Readings that are looked at without a pause. */
const rows_max = 10_000;
