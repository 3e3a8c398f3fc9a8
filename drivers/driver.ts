import type { Static, TSchema } from "@sinclair/typebox";
import type { Clock } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import type { DeviceFacts } from "../src/domain/device-facts.ts";
import type { ChannelNoise, MeshScan } from "../src/domain/mesh.ts";
import type {
  BufferCursor,
  Device,
  DeviceState,
  Gap,
  HeardDevice,
  IdentityClaim,
  Reading,
  Verdict,
} from "../src/domain/reading.ts";
import type { SeriesName } from "../src/domain/series.ts";

/**
 * A kind of hardware that Lintel can listen to: one entry of `drivers/index.ts`. `name` is its section in
 * the configuration, `section` what that section may hold; a driver whose section is absent is off.
 */
export interface DriverDefinition<Section extends TSchema = TSchema> {
  readonly name: string;
  readonly section: Section;
  /** Devices of this that can be bought. */
  readonly products?: readonly Product[];
  create(options: { config: Static<Section>; host: Host }): Driver;
  /**
   * Present on a driver whose section names more than a schema can check, such as files: throws an OperatorError for what a person must mend. The gateway
   * then does not start, as with any other fault of its configuration. Asked before anything is opened; of hardware and networks it asks nothing.
   */
  check?(config: Static<Section>): void;
  /**
   * Present on a driver with a library that asks devices by itself: whether a fault that nothing caught is of its making. Such a
   * one is logged and the server goes on, while any other ends it.
   */
  readonly isStray?: (fault: unknown) => boolean;
}

/** A kind of device that can be bought, as docs/sensors.md lists it. */
export interface Product {
  readonly name: string;
  /** Keys that it needs beside the driver's own section. */
  readonly needs?: string;
  readonly series: readonly SeriesName[];
  /** Facts that each of its devices is described by. */
  readonly facts: DeviceFacts;
}

/** A driver at work. It turns bytes into readings and knows nothing of stores, routes or other drivers. */
export interface Driver {
  /**
   * Starts listening and returns at once: hardware that is missing, wrong or silent is reported through
   * `status()` and one log line, and tried again for ever at bounded intervals.
   */
  start(): void;
  /** Ends cleanly: in-flight work finishes or is abandoned within 5 s, ports are closed. */
  stop(): Promise<void>;
  status(): DriverStatus;
  /**
   * Present on a driver whose devices must be let in: opens joining, until closed or `seconds` have passed. `person` is who
   * pairs at the box, where somebody does.
   */
  openJoining?(seconds: number, person?: PairingPerson): Promise<void>;
  closeJoining?(): Promise<void>;
  /**
   * Present on a driver whose adapter may hold a network that is not this gateway's, which it then refuses to use: has the
   * adapter give that network up for a new one, at a try that begins at once. Throws an OperatorError, and does nothing,
   * where there is no other network to give up.
   */
  formNewNetwork?(): void;
  /**
   * Present on a driver that may be in the middle of what cannot be done again for hours: what that is, in some words, undefined when it is not.
   * An update waits for it to end.
   */
  busy?(): string | undefined;
  /**
   * Present on a driver whose devices pass on each other's messages: asks them who hears whom. Takes up to some minutes. Throws an
   * OperatorError where its adapter does not listen.
   */
  scanMesh?(): Promise<MeshScan>;
  /**
   * Present on a driver whose adapter measures noise: takes seconds, in which it hears no device. Throws an OperatorError where the
   * adapter does not listen, or cannot measure.
   */
  measureNoise?(): Promise<ChannelNoise>;
  /** Present on a driver with a lamp: shows the state of the gateway. */
  show?(lamp: Lamp): void;
}

/**
 * The person who pairs, at the terminal: reads and types the numbers by which a device and the gateway make sure of each other.
 * One question at a time. A question ends without an answer when joining closes, and after `question_max_ms`.
 */
export interface PairingPerson {
  /** Whether the person can type; else they can only read. */
  readonly types: boolean;
  /** Shows six digits that are to be typed at the device. */
  reads(address: string, digits: string): void;
  /** Asks for the six digits that the device shows; undefined without an answer. */
  typesNumber(address: string): Promise<string | undefined>;
  /** Asks whether the device shows these six digits; false without an answer. */
  compares(address: string, digits: string): Promise<boolean>;
}

export const question_max_ms = 30_000;

export interface DriverStatus {
  /** `listening`: hears its devices. `starting`: the first try is under way. `retrying`: see `problem`. */
  readonly state: "starting" | "listening" | "retrying" | "stopped";
  /** Since when, unix milliseconds. */
  readonly since_ms: number;
  /** One line that describes its device: adapter and firmware, port, channel. */
  readonly detail: string;
  /** The fault and its remedy, on one line; absent while all is well. */
  readonly problem?: string;
}

/** State of the gateway, as its lamp shows it. */
export type Lamp = "starting" | "ready" | "paused" | "joining" | "joined" | "fault" | "off";

/** The services that the gateway gives to a driver. A text that a device has told may be handed over as it came: each becomes a plain line here. */
export interface Host {
  readonly clock: Clock;
  readonly log: Log;
  /** A directory of the driver's own below the data directory; it exists. */
  readonly directory: string;
  /**
   * Takes a reading. Resolves once it is on disk, and only then may a device's own buffer be released: with whether it is recorded, as what is of a pause is
   * not. What is not recorded a driver writes nowhere else either.
   * Rejects with an OperatorError when it cannot be kept (it has then been counted and said).
   *
   * `cursor` says how far a device's buffer has been read with this reading. It is on disk together with the reading or
   * not at all, so that a driver that goes on from it neither loses nor repeats one, whenever the power fails.
   * Readings are committed in the order of the calls; of one cursor, the last one of a commit counts.
   */
  accept(reading: Reading, cursor?: BufferCursor): Promise<boolean>;
  /** The last value of a cursor of this driver that came on disk; undefined before the first. */
  cursor(name: string): Promise<string | undefined>;
  /**
   * Whether a device is listened to that anybody in radio range may be, or claim to be: one of the inventory, one that was
   * admitted, and a new one while joining is open. Any other is a stranger: it is counted and shown, and its driver does and
   * keeps nothing for it. Asked first for whatever is heard of such a device; costs the same however many there are, never fails.
   * Devices that joined a network, are polled, are on a wire or have a key were let in by that, and are not asked about.
   */
  admits(sighting: HeardDevice): boolean;
  /**
   * Decides whether a device is the one that is known under its address, a new one, or claims to be one that it is not: a conflict, which is kept and shown until a
   * person accepts or refuses it. A new one is known from now on. To be asked for what a driver knows beyond address and kind, which `accept`, `heard`,
   * `describe`, `gap` and `joining` look at by themselves: a key, a model that the device itself has told, a counter. `note: false` asks and keeps nothing.
   * Costs the same however many there are, never fails.
   */
  identify(claim: IdentityClaim, options?: { readonly note?: boolean }): Verdict;
  /**
   * An address for a device that cannot tell its own: of this home, so that no other home has a device with it, and the same
   * after every start.
   */
  readonly localAddress: string;
  /** Notes that a device was heard, with its battery and link if it told them. Never fails, never blocks. */
  heard(state: DeviceState): void;
  /**
   * Tells facts of a device that its readings do not tell, as soon as the driver knows what the device is and whenever they change: of its table of models,
   * or of what the device says of itself. They are stored with its next sign of life, and stay until they are told anew. Never fails, never blocks.
   */
  describe(device: Device, facts: DeviceFacts): void;
  /**
   * Records a stretch of time that is known to be incomplete. Resolves once it is on disk, so that a cursor may move
   * past the lost events; the same gap may be told again. Rejects like `accept`, and keeps a cursor like it: call it when
   * no reading with that cursor is on its way.
   */
  gap(gap: Gap, cursor?: BufferCursor): Promise<void>;
  /** Counts dropped data, under a stable name such as `zigbee bytes outside frames`. */
  dropped(what: string, count?: number): void;
  /** Reports a step of a device that is joining. */
  joining(event: JoinEvent): void;
  /** Asks the gateway to open joining, as a button on the box does. */
  requestJoining(): void;
  /** Asks the gateway to pause the recording or to let it go on, as a button of the household does. */
  requestPause(): void;
}

export type JoinEvent =
  | { readonly state: "started"; readonly address: string }
  | { readonly state: "joined"; readonly device: Device }
  /** It keeps a key of ours, and we keep it too. */
  | { readonly state: "bonded"; readonly address: string }
  | { readonly state: "failed"; readonly address: string; readonly reason: string; readonly remedy: string };
