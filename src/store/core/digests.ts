import { type SeriesName, seriesOf } from "../../series.ts";
import type { DayDigest } from "../day-digest.ts";
import type { DigestRequest } from "../upload-store.ts";
import { dayDigests } from "./day-digests.ts";
import { type DeviceRow, deviceColumns, deviceOf, heardItems } from "./heard-devices.ts";
import type { Homes } from "./homes.ts";
import { numbersOf, sourceOf } from "./sources.ts";
import { type Database, objects, rowsOf } from "./work.ts";

/** Digests of the readings that central holds of an epoch, day by day: see `UploadStore.digests`. */
export async function digests(
  database: Database,
  homes: Homes,
  request: DigestRequest,
): Promise<DayDigest[]> {
  const { epoch, through_seq, from_ms, before_ms } = request;
  const found = await database.snapshot(function* () {
    const source = yield* sourceOf(epoch);
    if (source === undefined) return undefined;
    const { home } = source;
    const runs = yield* rowsOf(
      objects<DeviceRow & { series: SeriesName }>(
        `SELECT series, ${deviceColumns} FROM ${heardItems} JOIN totals ON totals.stream = streams.key
         WHERE streams.home = $1 AND totals.home = $2 ORDER BY streams.key, series`,
        home,
        homes.of(home),
      ),
    );
    return { home, runs, numbers: yield* numbersOf(source) };
  });
  if (found === undefined) return [];
  const { home, runs, numbers } = found;
  const seqOf = (own: number) => {
    const seq = numbers.seqOf(own);
    return seq === undefined || seq > through_seq ? undefined : seq;
  };
  const all: DayDigest[] = [];
  for (const { series, ...row } of runs) {
    const { stream } = row;
    // Of the readings, whatever the inventory has made of the item since.
    const { kind } = seriesOf(series);
    const { address, itemid } = deviceOf(row);
    const of = { series, stream, home, from_ms, before_ms, seqOf };
    const days = await dayDigests(database, homes, of);
    for (const [day, { count, hash }] of days) all.push({ series, kind, address, itemid, day, count, hash });
  }
  return all;
}
