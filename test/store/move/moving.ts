import { SystemClock } from "../../../src/base/clock.ts";
import {
  type CentralPlace,
  openCentral,
  openMoveSource,
  openMoveTarget,
} from "../../../src/cli/store-place.ts";
import { change } from "../../../src/store/database.ts";
import { beginning, type Moved, move, requireSame } from "../../../src/store/move/move.ts";
import type { MoveTarget } from "../../../src/store/move/move-ends.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { fillCentral } from "./filled-central.ts";

export const opening = { clock: new SystemClock(), log: keptLog().log };

/** Makes the store of a central that has a little of everything. */
export async function filled(directory: string): Promise<{ directory: string }> {
  const store = await openCentral({ directory }, opening);
  await fillCentral(store, 60);
  await store.close();
  return { directory };
}

/**
 * Moves a store as the command does, with transactions of about so many rows; ends it after so many of them, and then answers undefined. `spoil` is a
 * statement that changes something in the target after each of them.
 */
export async function moved(
  from: CentralPlace,
  to: CentralPlace,
  { rows_max = 100, transactions_max = Number.POSITIVE_INFINITY, spoil = "" } = {},
): Promise<Moved | undefined> {
  const stop = new AbortController();
  const source = await openMoveSource(from, opening.clock);
  const begun = await beginning(source);
  const target = await openMoveTarget(to, opening.clock, {
    epoch: begun.epoch,
    moving: JSON.stringify(begun),
  });
  let transactions = 0;
  const counted: MoveTarget = {
    name: target.name,
    database: target.database,
    newestFirst: target.newestFirst,
    columns: () => target.columns(),
    homeIn: (...given) => target.homeIn(...given),
    filled: (...given) => target.filled(...given),
    count: (table) => target.count(table),
    bytes: () => target.bytes(),
    settle: () => target.settle(),
    close: () => target.close(),
    write: async (...given) => {
      await target.write(...given);
      if (spoil !== "")
        await target.write([], function* () {
          yield* change(spoil);
        });
      transactions += 1;
      if (transactions >= transactions_max) stop.abort(new Error("ended"));
    },
  };
  try {
    await requireSame({ source, target }, begun);
    return await move({ source, target: counted, onProgress: () => {}, stop: stop.signal, rows_max });
  } catch (thrown) {
    if (thrown !== stop.signal.reason) throw thrown;
    return undefined;
  } finally {
    await target.close();
    await source.close();
  }
}
