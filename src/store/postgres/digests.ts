import { day_ms } from "../../durations.ts";
import { type SeriesName, seriesOf } from "../../series.ts";
import { numbersOf, sourceOf } from "../core/sources.ts";
import type { OwnNumbers } from "../own-numbers.ts";
import { readingDigest, SetDigest } from "../reading-digest.ts";
import type { DayDigest, DigestRequest } from "../upload-store.ts";
import type { SqlRunner } from "./connection.ts";
import { run } from "./database.ts";
import { rowColumns, type StoredRow } from "./reading-rows.ts";

/** Digests of the stored readings of an epoch, day by day: see `UploadStore.digests`. To be read in one snapshot. */
export async function digests(sql: SqlRunner, request: DigestRequest): Promise<DayDigest[]> {
  const source = await run(sql, sourceOf(request.epoch));
  if (source === undefined) return [];
  const numbers = await run(sql, numbersOf(source));
  const runs = await sql<HeardRun[]>`
    SELECT series, key, address, itemid, provisional FROM heads JOIN items ON key = item
    WHERE home = ${source.home} ORDER BY key, series`;
  const days: DayDigest[] = [];
  for (const run of runs) {
    const { series, key, address, itemid, provisional } = run;
    const device = {
      series,
      // Of the readings, whatever the inventory has made of the item since.
      kind: seriesOf(series).kind,
      address: address ?? "",
      ...(provisional && address !== null ? {} : { itemid }),
    };
    const found = await digestsOf(sql, { series, item: key, home: source.home, numbers, request });
    for (const [day, { count, hash }] of found) days.push({ ...device, day, count, hash });
  }
  return days;
}

/** Digests of a series of an item by day, read a few thousand readings at a time. */
async function digestsOf(
  sql: SqlRunner,
  of: { series: SeriesName; item: number; home: number; numbers: OwnNumbers; request: DigestRequest },
): Promise<Map<number, SetDigest>> {
  const { series, item, home, numbers, request } = of;
  const days = new Map<number, SetDigest>();
  const cursor = sql
    .unsafe(
      `SELECT ${rowColumns[series]} FROM ${series} WHERE item = $1 AND home = $2 AND stamp >= $3 AND stamp < $4`,
      [item, home, request.from_ms, request.before_ms],
      { prepare: true },
    )
    .values()
    .cursor(rows_max);
  for await (const rows of cursor) {
    for (const row of rows) {
      const [, stamp_ms, own, ...values] = row as StoredRow;
      const seq = numbers.seqOf(own);
      if (seq === undefined || seq > request.through_seq) continue;
      const day = Math.floor(stamp_ms / day_ms);
      const digest = days.get(day) ?? new SetDigest();
      days.set(day, digest);
      digest.add(readingDigest(seq, stamp_ms, values));
    }
  }
  return days;
}

/** A series of an item that a home has sent. */
interface HeardRun {
  readonly series: SeriesName;
  readonly key: number;
  readonly address: string | null;
  readonly itemid: number;
  readonly provisional: boolean;
}

/** Readings in memory at once. */
const rows_max = 5_000;
