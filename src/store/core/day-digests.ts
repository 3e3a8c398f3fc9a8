import { day_ms } from "../../durations.ts";
import type { SeriesName, Value } from "../../series.ts";
import { readingDigest, SetDigest } from "../reading-digest.ts";
import { valueColumns } from "../series-columns.ts";
import type { Homes } from "./homes.ts";
import { quoted } from "./series-tables.ts";
import { arrays, type Database, rowsOf } from "./work.ts";

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
  const columns = quoted(["stamp", "seq", ...valueColumns(series).map(({ name }) => name)]);
  const text = `SELECT ${columns} FROM ${series}
    WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND (stamp, seq) > ($3, $4) AND stamp < $5
    ORDER BY stamp, seq LIMIT ${rows_max}`;
  const days = new Map<number, SetDigest>();
  let after: readonly [stamp_ms: number, own: number] = [from_ms, 0];
  for (;;) {
    const statement = arrays<Row>(text, stream, homes.of(home), ...after, before_ms);
    const rows = await database.page(() => rowsOf(statement));
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

type Row = [stamp_ms: number, own: number, ...values: Value[]];

/** Readings that are looked at without a pause. */
const rows_max = 10_000;
