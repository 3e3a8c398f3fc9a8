import { type Static, Type } from "@sinclair/typebox";
import type { DeviceFacts } from "../../domain/device-facts.ts";
import type { Conflict, Identity } from "../../domain/identity.ts";
import type { BufferCursor, Device, DeviceState, Gap, Reading } from "../../domain/reading.ts";
import type { SeriesName } from "../../domain/series.ts";
import type { NameStore } from "../inventory/given-names.ts";
import type { Store } from "../store.ts";

/** The devices that a gateway listens to although anybody in radio range may claim to be one: see src/gateway/ingest/admission.ts. */
export interface AdmissionStore {
  admissions(): Promise<Admissions>;
  /** Keeps devices as admitted, each for the newest reason. */
  admit(admitted: readonly Admitted[]): Promise<void>;
  /** Removes that it was admitted, and its identity with what claims it: it may come back as a new device. Whether there was any of it until now. */
  forgetDevice(address: string): Promise<boolean>;
}

export interface Admissions {
  /** Devices of the inventory; provisional items are not in it. */
  readonly inventory: readonly Pick<Device, "kind" | "address">[];
  readonly admitted: readonly Admitted[];
}

/** A device that was let in, and when, unix milliseconds. */
export const Admitted = Type.Object({
  address: Type.String({ maxLength: 64 }),
  admitted_ms: Type.Integer({ minimum: 0 }),
  /** `hand`: `lintel items admit`. `joining`: it spoke while joining was open. `radio`: the configuration lets every device in. */
  reason: Type.Union([Type.Literal("hand"), Type.Literal("joining"), Type.Literal("radio")]),
});
export type Admitted = Readonly<Static<typeof Admitted>>;

/** Devices that may be admitted by hand. */
export const admitted_max = 1_000;

/** The identities of a gateway's devices, and who claims to be one of them: see src/domain/identity.ts. */
export interface IdentityStore {
  identities(): Promise<IdentityNotes>;
  /** Puts the claimed device of a conflict in the place of the known one, or keeps the conflict as refused, by this person. */
  settleConflict(settling: Settling): Promise<void>;
}

/** Rows to keep, each in the place of the one before it. */
export interface IdentityNotes {
  readonly identities: readonly Identity[];
  readonly conflicts: readonly Conflict[];
}

export interface Settling {
  readonly conflict: Conflict;
  readonly answer: "accepted" | "refused";
  readonly at_ms: number;
  /** Who said so. */
  readonly by: string;
}

/** Times in doubt, and times of which nothing was recorded, as a store of a gateway knows them. */
export interface UncertainTimes {
  /** Stretches of time in boots that never learned it, in the order of boots. */
  uncertainTimes(): Promise<readonly UncertainTime[]>;
  /** For how long of a span the gateway or one of its drivers did not listen, milliseconds: of the worst of these. */
  deaf_ms(during: DeafIn): Promise<number>;
}

export interface DeafIn {
  readonly from_ms: number;
  readonly to_ms: number;
  /** Drivers that should listen; absent: those that did in the span. */
  readonly drivers?: readonly string[] | undefined;
}

/** A stretch of time, unix milliseconds, of which is known only to some minutes or hours when in it something happened. */
export interface UncertainTime {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** A gateway's store: ingest writes to it, everything else reads. */
export interface GatewayStore extends Store, AdmissionStore, UncertainTimes, IdentityStore, NameStore {
  /** This store's name in the world, random and made with the database: (epoch, seq) identifies a reading. */
  readonly epoch: string;

  /**
   * Commits readings in one transaction, with full synchronisation, numbered in the given order without gaps; a device that no item has gets a provisional
   * one. When it resolves all are on disk; when it rejects none is, and the next number is unchanged. `notes` are kept in the same transaction: on an SD
   * card every synchronisation of its own counts. Rejects with ReadingRefused when one reading is at fault,
   * with another OperatorError when the disk or the database is; the same batch may then be tried again.
   */
  append(readings: readonly Reading[], notes?: Notes): Promise<Appended>;

  /** Copies all that readings hang on to a file beside the database, where it has changed: `mend` fills damaged tables from there. */
  keepEssentials(): Promise<void>;

  /** How far a driver has read a device's buffer: what the last commit with a cursor of this name kept. */
  cursor(name: string): Promise<string | undefined>;

  /** Known time of every boot so far, oldest first, and how many facts wait for theirs. */
  timeKnown(): Promise<{ readonly boots: readonly BootTime[]; readonly waiting: number }>;

  /** Facts that wait for their time, in order of boot, then of monotonic time, then as they came. */
  waiting(limit: number): Promise<readonly WaitingFact[]>;

  /**
   * The last offset added to a device's own clock, milliseconds, in a reading of the series whose offset was measured;
   * undefined where there is none.
   */
  deviceOffset(series: SeriesName, device: Device): Promise<number | undefined>;
}

/** Notes stored beside readings, or without any. */
export interface Notes {
  /** States of devices; the last of a device counts. */
  readonly states?: readonly HeardState[];
  /** Additions to the counts of dropped data, by name. */
  readonly dropped?: ReadonlyMap<string, number>;
  /** Kept once, however often the same one is told. */
  readonly gaps?: readonly Gap[];
  /** Cursors of drivers: see `GatewayStore.cursor`. */
  readonly cursors?: readonly MovedCursor[];
  /** Who was listening; kept before the states, in order of time. */
  readonly listening?: readonly ListeningSpan[];
  /** Facts to keep until their time is known, without stamp or number, and ids of those to keep no longer. */
  readonly held?: readonly HeldFact[];
  readonly released?: readonly number[];
  /** New knowledge of the time in these boots; a boot that is new is the latest. */
  readonly boots?: readonly BootTime[];
  /** Identities of devices, and conflicts, as they are now. */
  readonly identities?: IdentityNotes;
}

/** A cursor that is committed; `of` is of what it tells something, and `waits` whether that has no time yet. */
export interface MovedCursor extends BufferCursor {
  readonly of?: { readonly device: Device; readonly at_ms: number; readonly waits: boolean };
}

/** A state with the name of the driver that heard it. */
export interface HeardState extends DeviceState {
  readonly listener?: string;
  readonly facts?: DeviceFacts;
}

/** For how long, unix milliseconds, the gateway or one of its drivers is known to have listened without a break. */
export interface ListeningSpan {
  readonly listener: string;
  readonly from_ms: number;
  readonly to_ms: number;
}

/** A fact with a time that may have to wait for the clock. */
export type GatewayFact =
  | { readonly reading: Reading }
  | { readonly state: HeardState }
  | { readonly gap: Gap }
  | { readonly listening: ListeningSpan };

/** A fact of a boot, with its monotonic time; the unix times in it are not to be trusted. */
export interface HeldFact {
  readonly boot: string;
  readonly monotonic_ms: number;
  readonly fact: GatewayFact;
}

export interface WaitingFact extends HeldFact {
  readonly id: number;
}

/** Converts monotonic time of a boot to unix time, both in milliseconds. */
export interface Timeline {
  /** Unix time is monotonic time plus this. */
  readonly offset_ms: number;
  /** When it was last compared with the system clock, monotonic. */
  readonly compared_ms: number;
  /** The offset that held before this one, until a monotonic time; absent where there was none. */
  readonly before?: { readonly offset_ms: number; readonly until_ms: number };
}

/** Known time in a run of the machine, in milliseconds. */
export interface BootTime {
  readonly boot: string;
  /** Absent while the boot has not learned the time. */
  readonly timeline?: Timeline;
  /** When the boot was last known to run, monotonic. */
  readonly seen_ms: number;
  /** Present where the offset was only put between those of the boots before and after: how far it may be off. */
  readonly bound_ms?: number;
}

export interface Appended {
  readonly first_seq: number;
  readonly last_seq: number;
  /** Names of provisional items that this commit made. */
  readonly created: readonly string[];
  /** Of the readings, and of the facts that were to wait, those that are not kept: of a pause, or of an erased time. By their places. */
  readonly unkept: readonly number[];
  readonly unkeptHeld: readonly number[];
}
