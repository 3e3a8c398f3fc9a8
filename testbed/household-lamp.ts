import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import { LampKeeper } from "../src/gateway/attached-drivers.ts";
import { HouseholdPause } from "../src/gateway/household-pause.ts";
import type { Store } from "../src/store/store.ts";

/** The button of a home and its lamp, which notes each state that it shows, as a gateway keeps them. */
export async function lampedHousehold(of: { store: Store; clock: Clock; log: Log }): Promise<{
  readonly household: HouseholdPause;
  readonly shown: readonly string[];
  stop(): void;
}> {
  const shown: string[] = [];
  const lamp = new LampKeeper({
    drivers: () => [{ show: (state: string) => shown.push(state), status: () => ({}) }] as never,
    clock: of.clock,
    isJoining: () => false,
    isPaused: () => household.isPaused,
  });
  const household: HouseholdPause = new HouseholdPause({ ...of, changed: () => lamp.refresh() });
  await household.keep();
  lamp.keep();
  const stop = () => {
    household.stop();
    lamp.stop();
  };
  return { household, shown, stop };
}
