import { readsOf, storeOn } from "../core/store.ts";
import { arrays, firstOf } from "../core/work.ts";
import type { GatewayStore } from "../store.ts";
import { admissionStoreOn } from "./admissions.ts";
import { identityStoreOn } from "./identities.ts";
import { nameStoreOn } from "./name-store.ts";
import type { SqliteParts } from "./serve.ts";
import { deviceOffset, timeKnown, uncertainTimes, waitingFacts } from "./time-keeper.ts";

/** The store of a running gateway. */
export function gatewayStoreOn(parts: SqliteParts): GatewayStore {
  const { database, writer, epoch } = parts;
  const { read, snapshot } = readsOf(database);
  return {
    ...storeOn(parts),
    ...admissionStoreOn(parts),
    ...identityStoreOn(parts),
    ...nameStoreOn(parts),
    epoch,
    append: (readings, notes = {}) => writer.ask("commit", { readings, ...notes }),
    keepEssentials: () => writer.ask("keepEssentials"),
    timeKnown: snapshot(timeKnown),
    uncertainTimes: snapshot(uncertainTimes),
    waiting: read(waitingFacts),
    deviceOffset: read(deviceOffset),
    cursor: read(function* (name: string) {
      const row = yield* firstOf(arrays<[string]>("SELECT value FROM cursors WHERE name = $1", name));
      return row?.[0];
    }),
  };
}
