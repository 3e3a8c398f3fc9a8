import { type Clock, clockQuality } from "../clock.ts";
import { freeBytes } from "../disk/free-bytes.ts";
import { type Conflict, conflicts_max, identityText } from "../identity.ts";
import { type MachineHealth, machineHealth } from "../machine-health.ts";
import type { Store } from "../store/store.ts";
import type { UploadStore } from "../store/upload-store.ts";
import type { UpdateReport } from "../update-report.ts";
import {
  dropped_max,
  erasures_reported_max,
  type GatewayReport,
  uncertain_times_reported_max,
} from "./protocol.ts";

/** A gateway's report without the values that only an upload knows. */
export type GatewayDescription = Omit<GatewayReport, "differing_days" | "failure">;

/** Looks at a gateway's store and disk. `directory` is its data directory. */
export async function describeGateway(options: {
  readonly store: Pick<Store, "overview" | "erasures"> & Pick<UploadStore, "uncertainTimes" | "identities">;
  readonly clock: Clock;
  readonly directory: string;
  readonly version: string;
  readonly timezone: string;
  /** How many strangers the gateway hears, where it runs. */
  readonly strangers?: number | undefined;
  /** The machine as the running gateway sees it; absent: it is asked now. */
  readonly machine?: MachineHealth | undefined;
  /** Of its updates, where it updates itself. */
  readonly update?: UpdateReport | undefined;
}): Promise<GatewayDescription> {
  const { store, clock, directory, version, timezone, strangers, update } = options;
  const { last_seq, waiting, bytesOnDisk, dropped } = await store.overview();
  const own = (await store.erasures()).filter((erasure) => erasure.own === 1);
  const erasures = [...new Map(own.map(({ id, at_ms, subject }) => [id, { at_ms, subject }])).values()];
  const doubts = await store.uncertainTimes();
  const conflicts = openConflicts((await store.identities()).conflicts);
  const disk_free_bytes = await freeBytes(directory);
  const { unix_ms, quality } = clock.now();
  return {
    version,
    now_ms: unix_ms,
    clock_synchronised: quality === clockQuality.synchronised,
    timezone,
    last_seq,
    waiting,
    disk_free_bytes,
    bytes_on_disk: bytesOnDisk,
    machine: options.machine ?? machineHealth(directory),
    dropped: Object.fromEntries(Object.entries(dropped).slice(0, dropped_max)),
    strangers,
    update,
    ...(conflicts.length === 0 ? {} : { conflicts }),
    ...(doubts.length === 0 ? {} : { doubts: doubts.slice(-uncertain_times_reported_max) }),
    ...(erasures.length === 0 ? {} : { erasures: erasures.slice(-erasures_reported_max) }),
  };
}

/** Those that wait for a person, in an order that does not change while they do. */
function openConflicts(conflicts: readonly Conflict[]): NonNullable<GatewayReport["conflicts"]> {
  return conflicts
    .filter(({ refused_ms }) => refused_ms === undefined)
    .toSorted((one, other) => one.first_ms - other.first_ms)
    .slice(0, conflicts_max)
    .map(({ known, claimed, why, first_ms, last_ms, count }) => ({
      address: known.address,
      known: identityText(known),
      claimed: identityText(claimed),
      ...{ why, first_ms, last_ms, count },
    }));
}
