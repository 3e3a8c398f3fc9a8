import type { DayDigest } from "../day-digest.ts";
import type { DigestRequest } from "../upload-store.ts";
import { dayDigests } from "./day-digests.ts";
import { heldSeries } from "./heard-devices.ts";
import type { Homes } from "./homes.ts";
import { numbersOf, sourceOf } from "./sources.ts";
import type { Database } from "./work.ts";

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
    return { home, runs: yield* heldSeries(homes, home), numbers: yield* numbersOf(source) };
  });
  if (found === undefined) return [];
  const { home, runs, numbers } = found;
  const seqOf = (own: number) => {
    const seq = numbers.seqOf(own);
    return seq === undefined || seq > through_seq ? undefined : seq;
  };
  const all: DayDigest[] = [];
  for (const { series, stream, device } of runs) {
    const { kind, address, itemid } = device;
    const of = { series, stream, home, from_ms, before_ms, seqOf };
    const days = await dayDigests(database, homes, of);
    for (const [day, { count, hash }] of days) all.push({ series, kind, address, itemid, day, count, hash });
  }
  return all;
}
