import { type Batch, seriesIn } from "../batch.ts";
import { devicesFrom, digestAt, firstIndexFrom, firstNewSeq } from "../batch-acceptance.ts";
import type { Received, Sender } from "../central-store.ts";
import { withoutErased } from "../erasure.ts";
import { Additions } from "./additions.ts";
import { countRefused, erasedIn } from "./erasures.ts";
import type { Homes } from "./homes.ts";
import { heardFrom, streamsOf } from "./items.ts";
import { byDevice } from "./series-rows.ts";
import { holdSource, newestStretch, noteHeld } from "./sources.ts";
import { hold, type Work } from "./work.ts";

/** See `CentralStore.receive`. */
export function* receive(homes: Homes, batch: Batch, sender: Sender): Work<Received> {
  const source = yield* holdSource(batch.epoch, sender);
  const from_seq = firstNewSeq(batch, source, sender);
  if (from_seq === undefined) return { held_seq: source.held_seq, taken: 0 };
  // What is erased while this batch is under way waits for its end; what was erased before is seen from here on.
  yield* hold("inventory");
  const { batch: kept, refused } = withoutErased(batch, yield* erasedIn(sender.home), from_seq);
  const newest = yield* newestStretch(sender.home);
  const first_own = newest === undefined ? 1 : newest.first_own + newest.to_seq - newest.from_seq + 1;
  const taken = yield* take(homes, kept, { from_seq, first_own }, sender);
  const erased = yield* countRefused(refused);
  const { first_seq, to_seq } = batch;
  const what = { newest, first_seq, digest: digestAt(kept, to_seq), at_ms: sender.at_ms };
  yield* noteHeld(source, { first_own, from_seq, to_seq }, what);
  return { held_seq: to_seq, taken, ...(erased === 0 ? {} : { erased }) };
}

/**
 * Puts the readings of a batch from a number on into their tables, and answers how many those are. The home is held, so that of its readings a lower number
 * is never committed after a higher one, and a page that counts readings up to a number stays right.
 */
function* take(
  homes: Homes,
  batch: Batch,
  { from_seq, first_own }: { from_seq: number; first_own: number },
  { home }: Sender,
): Work<number> {
  const heard = devicesFrom(batch, from_seq);
  const keys = yield* streamsOf(heardFrom(batch, from_seq), home);
  const keyOf = new Float64Array(batch.devices.length);
  for (const [index, { place }] of heard.entries()) keyOf[place] = keys[index] as number;
  const additions = new Additions(homes, homes.of(home));
  yield* additions.begin(keys);
  let taken = 0;
  for (const [series, columns] of seriesIn(batch)) {
    const { seq, device } = columns;
    const order = byDevice(device, firstIndexFrom(seq, from_seq), batch.devices.length);
    const stream = device.map((place) => keyOf[place] as number);
    const own = seq.map((number) => first_own + number - from_seq);
    yield* additions.put({ series, home: homes.of(home), columns, order, stream, own });
    taken += order.length;
  }
  yield* additions.settle();
  return taken;
}
