import { type SeriesName, seriesOf } from "../../series.ts";
import type { DayDigest } from "../day-digest.ts";
import type { DigestRequest } from "../upload-store.ts";
import { dayDigests } from "./day-digests.ts";
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
      objects<HeardRun>(
        `SELECT series, key, address, itemid, provisional
         FROM item_homes JOIN items ON key = item_homes.item JOIN totals ON totals.item = key
         WHERE item_homes.home = $1 AND totals.home = $2 ORDER BY key, series`,
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
  for (const { series, key, address, itemid, provisional } of runs) {
    const device = {
      series,
      // Of the readings, whatever the inventory has made of the item since.
      kind: seriesOf(series).kind,
      address: address ?? "",
      ...(provisional && address !== null ? {} : { itemid }),
    };
    const days = await dayDigests(database, homes, { series, item: key, home, from_ms, before_ms, seqOf });
    for (const [day, { count, hash }] of days) all.push({ ...device, day, count, hash });
  }
  return all;
}

/** A series of an item that was heard in a home. */
interface HeardRun {
  readonly series: SeriesName;
  readonly key: number;
  readonly address: string | null;
  readonly itemid: number;
  readonly provisional: boolean;
}
