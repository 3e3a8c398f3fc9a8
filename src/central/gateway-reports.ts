import { StoreOutage } from "../base/errors.ts";
import { isTimezone } from "../base/timezone.ts";
import type { CentralStore, GatewayRecord } from "../store/central/central-store.ts";
import type { GatewayReport } from "../transfer/protocol.ts";

/** The gateway of a home; undefined where none is known, or a machine of the store is away. */
export async function gatewayOf(
  store: CentralStore,
  home: number | undefined,
): Promise<GatewayRecord | undefined> {
  const [gateway] = home === undefined ? [] : await unlessAway(() => store.gateways([home]));
  return gateway;
}

/** The last report of the gateway of a home; empty where it never sent one. */
export async function reportOf(
  store: CentralStore,
  home: number | undefined,
): Promise<Partial<GatewayReport>> {
  return (await gatewayOf(store, home))?.report ?? {};
}

/** Settings of homes by the last reports of their gateways. The zone of a home's record goes before it: see `zoneOf` of the interface. */
export function settingIn(store: CentralStore) {
  let asked: number[] = [];
  let reports: Promise<ReadonlyMap<number, Partial<GatewayReport>>> | undefined;
  return async (home: number) => {
    asked.push(home);
    // One question for all that are asked for at once: a list of homes asks for many.
    reports ??= Promise.resolve().then(async () => {
      const homes = asked;
      [asked, reports] = [[], undefined];
      const gateways = await unlessAway(() => store.gateways(homes));
      return new Map(gateways.map(({ home, report }) => [home, report]));
    });
    const { timezone = "", walking = [] } = (await reports).get(home) ?? {};
    return { timezone: isTimezone(timezone) ? timezone : "UTC", walking };
  };
}

/** The gateways or homes that are asked for; none where a machine of the store is away. */
export async function unlessAway<Found>(
  ask: () => Promise<readonly Found[]>,
  onAway: (outage: StoreOutage) => void = () => {},
): Promise<readonly Found[]> {
  try {
    return await ask();
  } catch (thrown) {
    if (!(thrown instanceof StoreOutage) || thrown.part === undefined) throw thrown;
    onAway(thrown);
    return [];
  }
}
