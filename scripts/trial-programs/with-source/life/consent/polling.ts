import type { Log } from "../../../../../src/base/log.ts";
import type { RemoteActions } from "../../../../../src/gateway/remote/remote-actions.ts";
import { RemoteChannel } from "../../../../../src/gateway/remote/remote-channel.ts";
import { remote_hold_ms } from "../../../../../src/transfer/protocol.ts";
import type { SimulatedHome } from "../home.ts";
import type { World } from "../world.ts";

/**
 * Has a box ask central whether there is anything for it, as one with `[remote]` does all the time, until it was told pauses or `for_ms` are over.
 * Answers whether it was told.
 */
export async function hear(
  box: SimulatedHome,
  { world, log, random, for_ms }: { world: World; log: Log; random: () => number; for_ms: number },
): Promise<boolean> {
  const { machine, disk, home, store, process } = box;
  if (store === undefined) return false;
  const told = Promise.withResolvers<boolean>();
  const channel = new RemoteChannel({
    ...{ home, settings: { allow: [], keys: [] }, directory: disk.directory },
    connect: (stop) => box.connect(process, stop, { failures_max: 1, answer_ms_max: 2 * remote_hold_ms }),
    takePauses: async (pauses) => {
      await store.takePauses(pauses);
      told.resolve(true);
    },
    // Nothing is allowed, so nothing is done.
    actions: {} as RemoteActions,
    ...{ clock: machine.clock(process), random, log },
  });
  channel.start();
  world.after(for_ms, () => told.resolve(false));
  const isTold = await told.promise;
  void channel.stop();
  return isTold;
}
