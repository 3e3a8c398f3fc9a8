import type { DriverDefinition } from "../../drivers/driver.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/gateway-config.ts";
import type { GatewayStore } from "../store/gateway/gateway-store.ts";
import { AttachedDriver, LampKeeper } from "./attached-drivers.ts";
import { hostOf } from "./driver-host.ts";
import { HouseholdPause } from "./household-pause.ts";
import { Admission } from "./ingest/admission.ts";
import { Identities } from "./ingest/device-identities.ts";
import { Ingest } from "./ingest/ingest.ts";
import { keepListening } from "./ingest/note-book.ts";
import { Joining } from "./joining/joining.ts";

/** Needs of a gateway that listens to its devices. */
interface ListeningOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly drivers: readonly DriverDefinition[];
  /** Told how long each commit took. */
  readonly onCommit?: (duration_ms: number) => void;
  /** Bounds of a commit; those of ingest unless said. */
  readonly commits?: { readonly notesInterval_ms?: number; readonly group_max?: number };
}

/** A part that runs, and how it ends. */
export interface Started {
  readonly name: string;
  stop(): Promise<void>;
}

/** Everything between the drivers and the store. */
export interface ListeningParts {
  readonly store: GatewayStore;
  /** Filled when the drivers start. */
  readonly attached: AttachedDriver[];
  readonly identities: Identities;
  readonly ingest: Ingest;
  readonly joining: Joining;
  readonly household: HouseholdPause;
  readonly admission: Admission;
  readonly lamp: LampKeeper;
}

export async function listeningParts(
  { clock, log, onCommit, commits }: Omit<ListeningOptions, "config" | "drivers">,
  store: GatewayStore,
  started: Started[],
): Promise<ListeningParts> {
  const attached: AttachedDriver[] = [];
  const identities: Identities = new Identities({
    store,
    clock,
    log: log.named("identities"),
    openedAt_ms: () => joining.opened?.since_ms,
    dropped: (what) => ingest.dropped(what),
    onConflict: () => ingest.want(),
  });
  await identities.start();
  const ingest: Ingest = new Ingest({
    identities,
    store,
    clock,
    log: log.named("ingest"),
    ...(onCommit === undefined ? {} : { onCommit }),
    ...commits,
  });
  started.push({ name: "ingest", stop: () => ingest.close() });
  const joining: Joining = new Joining({
    drivers: () => attached,
    clock,
    log,
    changed: (change) => {
      if (change === "opened") admission.opened();
      if (change === "joined") lamp.joined();
      else lamp.refresh();
    },
  });
  const household: HouseholdPause = new HouseholdPause({
    store,
    // A button that is pressed while the clock has leapt must pause now, and not at the time that it shows.
    clock: ingest.clock,
    log: log.named("pause"),
    changed: () => lamp.refresh(),
  });
  const lamp = new LampKeeper({
    drivers: () => attached,
    clock,
    isJoining: () => joining.isOpen,
    isPaused: () => household.isPaused,
  });
  const admission = new Admission({
    store,
    clock,
    log: log.named("admission"),
    isJoining: () => joining.isOpen,
    onJoined: (device, listener) => {
      // By what it broadcasts it may still be another than it seems: only what it tells makes it known.
      if (identities.identify({ device }, listener, { adds: false }) === "conflict") return;
      ingest.joined(device, listener);
      joining.note({ state: "joined", device });
    },
    onStranger: () => ingest.dropped("broadcasts of devices that were not admitted"),
  });
  return { store, attached, identities, ingest, joining, household, admission, lamp };
}

/** Starts the drivers that have a section in the configuration. */
export function startDrivers(
  { config, clock, log, drivers }: ListeningOptions,
  { store, attached, identities, ingest, joining, household, admission, lamp }: ListeningParts,
  started: Started[],
): void {
  for (const definition of drivers) {
    if (!config.drivers.has(definition.name)) continue;
    const section = config.drivers.get(definition.name);
    const { name } = definition;
    const host = hostOf({ name, config, log, store, ingest, admission, identities, joining, household });
    const named = log.named(name);
    attached.push(new AttachedDriver({ definition, config: section, host, clock, log: named }));
  }
  lamp.show("starting");
  for (const driver of attached) {
    started.push({ name: driver.name, stop: () => driver.stop() });
    driver.start();
  }
  started.push({ name: "lamp", stop: async () => lamp.stop() });
  const endListening = keepListening({
    clock,
    listeners: () => attached.filter((one) => one.status().state === "listening").map(({ name }) => name),
    note: (listener) => ingest.listening(listener),
  });
  started.push({ name: "listening", stop: async () => endListening() });
}
