import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../drivers/driver.ts";
import { OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/gateway-config.ts";
import { type BufferCursor, conflictRemedy, type Device } from "../domain/reading.ts";
import type { GatewayStore } from "../store/gateway/gateway-store.ts";
import type { HouseholdPause } from "./household-pause.ts";
import type { Admission } from "./ingest/admission.ts";
import type { Identities } from "./ingest/device-identities.ts";
import type { Ingest } from "./ingest/ingest.ts";
import type { Joining } from "./joining/joining.ts";

/** The gateway as one driver sees it: a directory, cursors and log lines of its own, by its name. */
export function hostOf(options: {
  name: string;
  config: Config;
  log: Log;
  store: GatewayStore;
  ingest: Ingest;
  admission: Admission;
  identities: Identities;
  joining: Joining;
  household: HouseholdPause;
}): Host {
  const { name, config, store, ingest, admission, identities, joining, household } = options;
  const directory = join(config.data, "drivers", name);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const own = (cursor?: BufferCursor) => cursor && { ...cursor, name: `${name} ${cursor.name}` };
  // Checks address and kind here, so that a driver that forgets a check lets no other device into an item.
  const isOther = ({ kind, address }: Device, adds: boolean) =>
    address !== "" && identities.identify({ device: { kind, address } }, name, { adds }) === "conflict";
  const refused = async ({ address }: Device) => {
    throw new OperatorError(`${address} is known as another device`, conflictRemedy(address));
  };
  return {
    clock: ingest.clock,
    log: options.log.named(name),
    directory,
    admits: (sighting) => admission.admits(sighting, name),
    identify: (claim, asked) => identities.identify(claim, name, asked),
    localAddress: localAddress(config.home.id, store.epoch),
    accept: (reading, cursor) =>
      isOther(reading.device, true) ? refused(reading.device) : ingest.accept(reading, own(cursor), name),
    cursor: (key) => store.cursor(`${name} ${key}`),
    heard: (state) => {
      if (!isOther(state.device, false)) ingest.heard(state, name);
    },
    describe: (device, facts) => {
      if (!isOther(device, false)) ingest.describe(device, facts);
    },
    gap: (gap, cursor) => (isOther(gap.device, false) ? refused(gap.device) : ingest.gap(gap, own(cursor))),
    dropped: (what, count) => ingest.dropped(what, count),
    joining: (event) => {
      const device = event.state === "joined" ? event.device : undefined;
      const conflict =
        device !== undefined && identities.identify({ device }, name) === "conflict"
          ? identities.conflictAt(device.address)
          : undefined;
      if (device !== undefined && conflict !== undefined) {
        const { address } = device;
        joining.note({ state: "failed", address, reason: conflict.why, remedy: conflictRemedy(address) });
        return;
      }
      if (device !== undefined) ingest.joined(device, name);
      joining.note(event);
    },
    requestJoining: () => joining.press(),
    requestPause: () => void household.press(),
  };
}

/**
 * A locally administered address that no other home has: `02:` and the number of the home, or `06:` and the beginning of the
 * store's random name where the home has no number.
 */
export function localAddress(home: number | undefined, epoch: string): string {
  const digits =
    home === undefined ? `06${epoch.slice(0, 10)}` : `02${(home % 2 ** 40).toString(16).padStart(10, "0")}`;
  return digits.replace(/(..)(?!$)/g, "$1:");
}
