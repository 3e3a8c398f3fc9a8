import { totalmem } from "node:os";
import { Value } from "@sinclair/typebox/value";
import type { DriverStatus } from "../../drivers/driver.ts";
import { type Clock, clockQuality } from "../base/clock.ts";
import { disk_low_bytes, freeBytes } from "../base/disk/disk-fault.ts";
import { isHot, isPowerLow, isWorn, type MachineHealth, machineHealth } from "../base/machine-health.ts";
import { day_ms } from "../base/time.ts";
import { upload_late_ms } from "../config/gateway-config.ts";
import { acceptanceReportOf } from "../domain/acceptance.ts";
import type { WalkingLine } from "../domain/derived/walking-passes.ts";
import type { UpdateReport } from "../domain/fleet-home.ts";
import { type Conflict, conflicts_max, conflictText, identityText } from "../domain/identity.ts";
import type { OpenJoining } from "../domain/joining-state.ts";
import { type MeshScan, namesByAddress, poorLinks } from "../domain/mesh.ts";
import { conflictRemedy, type Stranger } from "../domain/reading.ts";
import type { UploadStore } from "../store/gateway/upload-store.ts";
import { pausedSpanOf } from "../store/pause.ts";
import type { Overview, Store } from "../store/store.ts";
import {
  dropped_max,
  erasures_reported_max,
  type GatewayReport,
  LineReport,
  lines_reported_max,
  pauses_reported_max,
  poor_links_reported_max,
  uncertain_times_reported_max,
} from "../transfer/protocol.ts";
import { acceptancesIn } from "./acceptance/acceptances.ts";
import { burnInReportOf } from "./burn-in-record.ts";
import { scansIn } from "./mesh-scans.ts";
import { restartsIn } from "./starts.ts";

/** Status of a running gateway: the answer to `lintel status`. Times are unix milliseconds. */
export interface GatewayStatus extends MachineFacts {
  readonly version: string;
  readonly pid: number;
  readonly url: string;
  /** The address that it listens on, such as `0.0.0.0` for every one of the machine. */
  readonly listen: string;
  /** The certificate that TLS is served with; absent: plain HTTP. */
  readonly tls?: { readonly certificate: string; readonly fingerprint: string };
  /** Faults of the configuration that did not prevent the start, one line each. */
  readonly warnings: readonly string[];
  readonly started_ms: number;
  /** Resident memory of the process. */
  readonly memory_bytes: number;
  /** Nothing is recorded now, because the home has asked for that. */
  readonly paused: boolean;
  readonly joining: boolean;
  /** While it is open. */
  readonly opened?: OpenJoining;
  /** Work of drivers that should not be cut off now, in words. */
  readonly busy: readonly string[];
  /** Connections closed since the start because there were too many at once. */
  readonly connections_closed: number;
  /** Requests refused since the start because too much was under way, of their caller or of all. */
  readonly requests_refused: number;
  readonly ingest: IngestFigures;
  /** Devices that were heard and are not listened to, the one heard last first. */
  readonly strangers: readonly Stranger[];
  /** Devices that claim to be another one, open conflicts first. */
  readonly conflicts: readonly Conflict[];
  readonly store: Overview;
}

/** The machine, its clock and its drivers as they are now. */
export interface MachineFacts {
  readonly now_ms: number;
  /** Whether the system clock is known to be right. */
  readonly clock_synchronised: boolean;
  /** Why the clock is not believed although it was set. */
  readonly clock_doubt?: { readonly what: string; readonly remedy: string } | undefined;
  readonly drivers: readonly ({ readonly name: string } & DriverStatus)[];
  readonly disk_free_bytes: number;
  readonly machine: MachineHealth;
}

/** Figures of ingest; those named here are always present. */
type IngestFigures = Readonly<Record<string, unknown>> &
  Readonly<Record<"queued" | "committed" | "refused" | "waiting", number>>;

/** A fault of the gateway, and the remedy, a sentence each. */
export interface Trouble {
  readonly what: string;
  readonly remedy?: string;
  /** While it lasts nothing that is heard has a date. */
  readonly undated?: boolean;
}

/** Parts of a gateway as they are now, as far as somebody may have to mend them. */
export interface GatewayHealth extends MachineFacts {
  /** Why readings cannot be written. */
  readonly problem?: string | undefined;
  /** How uploads have ended; absent where there is nowhere to send to. */
  readonly upload?: {
    readonly since_ms: number;
    readonly uploaded_ms?: number;
    readonly failed_ms?: number;
    readonly failure?: string;
  };
}

/** Faults that somebody should mend at the box itself, worst first. */
export function troublesOf(gateway: GatewayHealth): Trouble[] {
  const { clock_synchronised, drivers, problem, disk_free_bytes } = gateway;
  return [
    ...(problem === undefined ? [] : [{ what: `Readings cannot be written: ${problem}.` }]),
    ...drivers.flatMap(({ name, problem }) =>
      problem === undefined ? [] : [{ what: `Nothing is heard by [${name}]: ${problem}.` }],
    ),
    ...(disk_free_bytes >= disk_low_bytes
      ? []
      : [
          {
            what: `The disk of the gateway is nearly full: ${Math.floor(disk_free_bytes / 2 ** 20)} MiB are free.`,
            remedy: "Have it upload, with keep_days in [upload], or put in a larger card.",
          },
        ]),
    ...machineTroubles(gateway),
    ...(clock_synchronised
      ? []
      : [
          gateway.clock_doubt
            ? { ...gateway.clock_doubt, undated: true }
            : {
                what: "The gateway does not know the time: what it hears is kept, and shown once it does.",
                remedy: "See that it reaches the internet, or a time server.",
                undated: true,
              },
        ]),
    ...uploadTroubles(gateway),
  ];
}

/** Those that an acceptance names; it looks at the clock and at central itself. */
export function acceptanceFaultsOf(
  health: GatewayHealth,
  conflicts: readonly Conflict[],
): { readonly what: string; readonly remedy: string }[] {
  const troubles = troublesOf({ ...health, upload: undefined }).filter(({ undated }) => undated !== true);
  const open = conflicts.filter(({ refused_ms }) => refused_ms === undefined);
  return [
    ...troubles.map(({ what, remedy = "Run lintel doctor." }) => ({ what, remedy })),
    ...open.map((conflict) => ({
      what: conflictText(conflict),
      remedy: `${conflictRemedy(conflict.known.address)}.`,
    })),
  ];
}

function machineTroubles({ machine, now_ms }: GatewayHealth): Trouble[] {
  const { disk = "The disk", temperature_c = 0 } = machine;
  return [
    ...(isPowerLow(machine, now_ms)
      ? [
          {
            what: "The power supply of the gateway is too weak.",
            remedy: "Use the one that is made for this Raspberry Pi, and a short cable.",
          },
        ]
      : []),
    ...(isHot(machine)
      ? [
          {
            what: `The gateway is ${Math.round(temperature_c)} °C hot, and slows itself down.`,
            remedy: "Put it where air comes to it, out of the sun and away from heating.",
          },
        ]
      : []),
    ...(isWorn(machine)
      ? [{ what: `${disk} is nearly worn out, as it says itself.`, remedy: "Make a backup, and replace it." }]
      : []),
  ];
}

function uploadTroubles({ upload, now_ms }: GatewayHealth): Trouble[] {
  if (upload === undefined) return [];
  const { since_ms, uploaded_ms, failed_ms = 0, failure } = upload;
  const late_ms = now_ms - Math.max(since_ms, uploaded_ms ?? 0);
  if (late_ms <= upload_late_ms) return [];
  const what = `Nothing has gone to central for ${Math.floor(late_ms / day_ms)} days`;
  return failure !== undefined && failed_ms > (uploaded_ms ?? 0)
    ? [{ what: `${what}: ${failure}.` }]
    : [{ what: `${what}.`, remedy: "See whether lintel-upload.timer runs." }];
}

/** Facts that only a running gateway knows, as its status has them. */
export type RunningFacts = Pick<GatewayStatus, "machine" | "memory_bytes" | "opened"> & {
  readonly strangers: readonly unknown[];
  readonly drivers: readonly { readonly name: string }[];
};

/** A gateway's report without the values that only an upload knows. */
export type GatewayDescription = Omit<GatewayReport, "differing_days" | "failure">;

/** Looks at a gateway's store and disk. `directory` is its data directory. */
export async function describeGateway(options: {
  readonly store: Pick<Store, "overview" | "erasures" | "pauses"> &
    Pick<UploadStore, "uncertainTimes" | "deaf_ms" | "identities">;
  readonly clock: Clock;
  readonly directory: string;
  readonly version: string;
  readonly timezone: string;
  /** The gateway, where it runs. Without it the machine is read now. */
  readonly running?: RunningFacts | undefined;
  /** Of its updates, where it updates itself. */
  readonly update?: UpdateReport | undefined;
  /** Lines of curtain sensors in its configuration. */
  readonly walking?: readonly WalkingLine[] | undefined;
  /** `HH:MM` at which it uploads; absent or empty where it does not by itself. */
  readonly upload_at?: string;
}): Promise<GatewayDescription> {
  const { store, clock, directory, version, timezone, running, update } = options;
  // One that does not fit would keep the whole report from central, and the readings with it.
  const fitting = (options.walking ?? []).filter((line) => Value.Check(LineReport, line));
  const walking = fitting.slice(0, lines_reported_max);
  const { last_seq, waiting, bytesOnDisk, dropped, items } = await store.overview();
  const poor = poorLinksOf(scansIn(directory), items);
  const own = (await store.erasures()).filter((erasure) => erasure.own === 1);
  const erasures = [...new Map(own.map(({ id, at_ms, subject }) => [id, { at_ms, subject }])).values()];
  const pauses = await store.pauses();
  const doubts = await store.uncertainTimes();
  const conflicts = openConflicts((await store.identities()).conflicts);
  const disk_free_bytes = await freeBytes(directory);
  const { unix_ms, quality } = clock.now();
  const [accepted] = acceptancesIn(directory);
  const drivers = running?.drivers.map(({ name }) => name);
  const deaf = await store.deaf_ms({ from_ms: unix_ms - day_ms, to_ms: unix_ms, drivers });
  return {
    version,
    now_ms: unix_ms,
    clock_synchronised: quality === clockQuality.synchronised,
    timezone,
    ...(options.upload_at ? { upload_due_in_ms: untilTimeOfDay_ms(options.upload_at, unix_ms) } : {}),
    restarts: restartsIn(directory, unix_ms),
    ...(running && { memory_bytes: running.memory_bytes, machine_memory_bytes: totalmem() }),
    ...(running?.opened && { joining_since_ms: running.opened.since_ms }),
    deaf_minutes: Math.floor(Math.min(deaf, day_ms) / 60_000),
    last_seq,
    waiting,
    disk_free_bytes,
    bytes_on_disk: bytesOnDisk,
    machine: running?.machine ?? machineHealth(directory),
    dropped: Object.fromEntries(Object.entries(dropped).slice(0, dropped_max)),
    strangers: running?.strangers.length,
    update,
    burn_in: burnInReportOf(directory),
    ...(accepted && { acceptance: acceptanceReportOf(accepted) }),
    ...(walking.length === 0 ? {} : { walking }),
    ...(poor.length === 0 ? {} : { poor_links: poor }),
    ...(conflicts.length === 0 ? {} : { conflicts }),
    ...(doubts.length === 0 ? {} : { doubts: doubts.slice(-uncertain_times_reported_max) }),
    ...(pauses.length === 0 ? {} : { pauses: pauses.slice(-pauses_reported_max).map(pausedSpanOf) }),
    ...(erasures.length === 0 ? {} : { erasures: erasures.slice(-erasures_reported_max) }),
  };
}

/** Time until it is `HH:MM` again by the calendar of this machine, which its timers follow. */
function untilTimeOfDay_ms(at: string, now_ms: number): number {
  const [hours = 0, minutes = 0] = at.split(":").map(Number);
  const next = new Date(now_ms);
  next.setHours(hours, minutes, 0, 0);
  if (next.getTime() <= now_ms) next.setDate(next.getDate() + 1);
  return next.getTime() - now_ms;
}

/** Links that somebody should look at, by the newest scan. */
function poorLinksOf(
  scans: readonly MeshScan[],
  items: Overview["items"],
): NonNullable<GatewayReport["poor_links"]> {
  const itemOf = namesByAddress(items.map(({ record }) => [record.macaddress, record.itemname]));
  const models = new Map(scans[0]?.nodes.map(({ address, model }) => [address, model]));
  return poorLinks(scans)
    .slice(0, poor_links_reported_max)
    .map(({ address, decline }) => {
      const item = itemOf(address);
      const name = item ?? `${models.get(address) ?? "device"} (${address.slice(-5)})`;
      return { name, item: item !== undefined, fallen: decline !== undefined };
    });
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
