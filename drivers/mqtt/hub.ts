import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import type { EventBit } from "../../src/domain/event-words.ts";
import type { MeasureValues } from "../../src/domain/quantities.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Properties } from "../wire/properties.ts";

/**
 * A table of topics: a kind of hub whose messages are understood. One entry of the list in `hubs.ts`; nothing else names it. Hubs know nothing
 * of brokers, of what was said before, and of each other.
 */
export interface Hub {
  /** Its key below `[mqtt.topics]`. */
  readonly name: string;
  readonly title: string;
  /** How its topics begin unless the configuration says otherwise. */
  readonly prefix: string;
  /** States of a sensor that one would expect it to tell, and that it never does, with its settings as they should be. */
  readonly never: readonly string[];
  /** Words of the hub that are recorded, each with ours: a quantity, a word of `words.ts`, or a bit of an event. Absent where its devices are described by definitions. */
  readonly tells?: Readonly<Record<string, string | EventBit>>;
  /** Whether the keys of its signs are topics: those have names that people gave, and tell nobody how readings are made. */
  readonly keysAreTopics?: true;
  /** Subscriptions below the prefix for what is said of its devices, which are fetched before anything else. */
  readonly directory: readonly string[];
  /** Subscriptions below the prefix for what its devices say. */
  readonly messages: readonly string[];
  /**
   * The meaning of a message. `path` are the levels of its topic, behind the prefix where it has that and `foreign` otherwise. Must not
   * throw whatever it is given; keeps nothing.
   */
  read(message: HubMessage, known: Directory): Heard;
}

export interface HubMessage {
  readonly path: readonly string[];
  /** The whole topic. */
  readonly topic: string;
  readonly payload: Uint8Array;
  /** For a device that has no address of its own: six bytes, of this home. */
  readonly localAddress: string;
}

/** The entries that a hub has told of its devices, by what its messages name them: at most `entries_max`. */
export type Directory = ReadonlyMap<string, Entry>;

/** The firmware of a device and its date, where the hub has told them. */
export type DeviceVersion = Pick<DeviceFacts, "firmware" | "datecode">;

/** An entry of a directory. */
export interface Entry {
  readonly device?: Device;
  /** All that it can tell, where the hub has told that. */
  readonly properties?: Properties;
  readonly version?: DeviceVersion;
  /** Units by quantity, where the hub has told them. */
  readonly units?: Readonly<Record<string, string>>;
  /** The word or quantity that the messages of this name tell. */
  readonly word?: string;
  /** The name of what tells it, where several of a device may tell the same. */
  readonly part?: string;
  /** A topic to subscribe to, where none of `messages` covers it. */
  readonly topic?: string;
}

export type Heard =
  /** Nothing that is recorded, such as a command to a lamp. */
  | "nothing"
  /** Entries for the directory, by name. */
  | { readonly entries: ReadonlyMap<string, Entry> }
  /** A message that is thrown away, and why: a stable name for counting, such as `that are not JSON`. */
  | { readonly fault: string }
  | Told;

/** Information of one device, in one message. */
export interface Told {
  readonly device: Device;
  readonly version?: DeviceVersion;
  readonly signs: readonly Sign[];
  readonly measures: readonly MeasureValues[];
  /** Of the measures that are words, the property that each is a state of, by its quantity. */
  readonly words?: ReadonlyMap<string, string>;
  /**
   * `changes`: the message repeats what was known, so that an equal value says nothing. `all`: each value was measured for this message.
   */
  readonly says: "all" | "changes";
  /** The hub's own time of the device's message, unix milliseconds: tells one message from another, and when it was. */
  readonly stamp_ms?: number;
  /** The part of the device that this tells of, where several may have one stamp. */
  readonly part?: string;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
  readonly linkquality?: number;
  readonly signal_dbm?: number;
  /** Values that were thrown away, as in `fault`. */
  readonly refused?: readonly string[];
}

/** Something that is or is not so. */
export interface Sign {
  /** Tells several of one bit apart: the bit is set while one of them is. */
  readonly key: string;
  readonly bit: EventBit;
  readonly on: boolean;
  /**
   * Whether it is news when it is said again, though each value was measured for this message: `never` where it says how it is, `until ended` where it
   * says that something happens, as long as the device has told no end of that. Absent: always.
   */
  readonly again?: "never" | "until ended";
}

export const entries_max = 4_000;
