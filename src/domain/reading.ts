import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type ClockQuality, clockQuality } from "../base/clock.ts";
import type { Kind } from "./kinds.ts";
import { identifying, integerOrNull, record, textOrNull, unixTime } from "./records/record-field.ts";
import type { SeriesName, Value } from "./series.ts";

/** A device as its driver knows it: enough to find its item, or to make a provisional one. */
export interface Device {
  readonly kind: Kind;
  /** Hardware address in printed order, lower case, pairs of hex digits joined by colons: `00:0d:6f:00:05:a1:b2:c3`. */
  readonly address: string;
  /** For instance `wall`, `door`, `curtain`, `polled`, `broadcasting`; absent while the device has not told. */
  readonly subtype?: string;
  readonly model?: string;
  readonly vendor?: string;
}

/** A device as it shows itself: whether it is the one that is known under its address is decided in src/domain/identity.ts. What is absent it did not say. */
export interface IdentityClaim {
  readonly device: Pick<Device, "kind" | "address" | "subtype" | "model">;
  /** The part of the driver that heard it, such as a hub of an MQTT broker. */
  readonly part?: string;
  /** The key by which it proves itself; null: it shows itself without one. */
  readonly key?: DeviceKey | null;
  /** It has shown that it holds the key that is known, and now has another. */
  readonly proven?: boolean;
  /** A number that only rises, which is authenticated together with what it says. */
  readonly counter?: number;
}

/** A key without the key itself. */
export interface DeviceKey {
  /** Of the key: tells it from others, and gives nothing of it away. */
  readonly fingerprint: string;
  /** In words: `paired by digits, secure connections`. */
  readonly made: string;
  /** A person wrote it into the configuration. */
  readonly configured?: boolean;
}

/** `new` is added to what is known, `same` is known. Of a `conflict` nothing may be recorded or kept until a person has accepted it. */
export type Verdict = "new" | "same" | "conflict";

/** A person's way out of a conflict at an address. */
export function conflictRemedy(address: string): string {
  return `if it is that device, reset or replaced, run lintel items accept ${address}; else lintel items refuse ${address}`;
}

/** A device that was heard by radio. */
export interface HeardDevice {
  readonly device: Device;
  /** Signal strength in dBm. */
  readonly signal_dbm?: number;
  /** The configuration lets every device in. */
  readonly welcome?: boolean;
}

/** A device that was heard by radio and is not listened to. Times are unix milliseconds. */
export interface Stranger {
  readonly device: Device;
  /** The driver that heard it. */
  readonly listener: string;
  readonly first_ms: number;
  readonly last_ms: number;
  /** How often it was heard. */
  readonly count: number;
  /** Signal strength when it was last heard, dBm. */
  readonly signal_dbm?: number;
}

/** One measurement of one device, as a driver hands it to ingest. */
export interface Reading {
  readonly device: Device;
  readonly series: SeriesName;
  /** When it happened, unix milliseconds: the arrival, taken in the first line of the handler, less any delay the device states. */
  readonly stamp_ms: number;
  /**
   * The quality of the moment of arrival. Where the device's own clock made the stamp: `device` if the moment was
   * synchronised, and `deviceUnmeasured` if the offset is not of this moment at all.
   */
  readonly clock: ClockQuality;
  /**
   * The same instant on the kernel's monotonic clock (`Moment.monotonic_ms` less the same delay): from it the
   * stamp is made later where the system clock was not known to be right.
   */
  readonly monotonic_ms?: number;
  /** By how much `stamp_ms` may be off, where its quality is `bounded` and that is known. */
  readonly unsure_ms?: number;
  /** For a device with a clock of its own: the time of that clock, and the offset added to get `stamp_ms`. */
  readonly deviceClock?: { readonly stamp_ms: number; readonly offset_ms: number };
  /** A value for each field of the series, by name. */
  readonly values: Readonly<Record<string, Value>>;
}

/** How far a device's buffer has been read, in the driver's own form. */
export interface BufferCursor {
  /** Unique within the driver, such as `events 00:0d:6f:00:05:a1`. */
  readonly name: string;
  /** At most `cursor_length_max` characters. */
  readonly value: string;
  /**
   * The same without anything of what it is committed with: kept in its stead where that is not recorded, or is taken away later, as of a pause. null: the
   * cursor then stays where it was, or is forgotten. Absent: `value` tells nothing of it.
   */
  readonly bare?: string | null;
}

export const cursor_length_max = 8_192;

/** State of a device besides readings; absent values stay as they were. */
export interface DeviceState {
  readonly device: Device;
  /** When it was last heard, unix milliseconds. */
  readonly heard_ms: number;
  /** Battery charge, 0 to 100 %. */
  readonly battery_percent?: number;
  /** Battery voltage in millivolts. */
  readonly battery_mv?: number;
  /** Zigbee link quality, 0 to 255. */
  readonly linkquality?: number;
}

/** Why a stretch of time holds no readings although something may have happened. */
export const gapReasons = {
  /** The device's buffer was circular and older events were overwritten before they were fetched. */
  overwritten: "events were overwritten on the device before they were fetched",
  /** The device counted more events than were heard. */
  missed_broadcasts: "the device counted events whose broadcasts were not heard",
  /** A battery device did not answer in its radio window. */
  missed_window: "the device did not answer while its radio was said to be on",
  /** The device said that nobody wore it. */
  not_worn: "the device was not worn",
} as const;

export type GapReason = keyof typeof gapReasons;

/** A stretch of time that a device or driver knows to be incomplete. */
export interface Gap {
  readonly device: Device;
  /** Unix milliseconds, start included, end not. */
  readonly from_ms: number;
  readonly to_ms: number;
  readonly reason: GapReason;
  /** How many events are missing, where the device tells. */
  readonly lost?: number;
}

/** The identity of a reading, the same wherever it is kept. */
export interface ReadingNumber {
  readonly epoch: string;
  readonly number: number;
}

/** How the time of a reading was made: the words that are served for what is kept as a number (`clockQuality`). */
export const clockWords = {
  synchronised: "the gateway's clock was right when it came",
  unsynchronised: "nothing had confirmed the gateway's clock",
  corrected: "it came before the gateway knew the time, which it learned before it was switched off",
  bounded:
    "the gateway never learned the time before it was switched off: it lies between what is known before and after",
  device: "the device's own clock, put right by what it was off when it was read",
  device_unmeasured: "the device's own clock, put right by what it was off when that was last known",
} as const;

export type ClockWord = keyof typeof clockWords;

const wordOf: Readonly<Record<ClockQuality, ClockWord>> = {
  [clockQuality.synchronised]: "synchronised",
  [clockQuality.unsynchronised]: "unsynchronised",
  [clockQuality.corrected]: "corrected",
  [clockQuality.bounded]: "bounded",
  [clockQuality.device]: "device",
  [clockQuality.deviceUnmeasured]: "device_unmeasured",
};

/** The word for a kept number. */
export function clockWord(quality: number): ClockWord {
  return wordOf[quality as ClockQuality];
}

/** Where a reading is from and how its time was made: told of every series, beside its fields, to those who take all of it. */
export const Provenance = Type.Object({
  homeid: identifying(
    "home",
    Type.Union([Type.Integer(), Type.Null()], {
      description: "the home in which it was recorded; null where a gateway was not told its number",
    }),
  ),
  clock: Type.Union((Object.keys(clockWords) as ClockWord[]).map((word) => Type.Literal(word)) as TSchema[], {
    description: `how its time was made: ${Object.entries(clockWords)
      .map(([word, meaning]) => `\`${word}\`: ${meaning}`)
      .join("; ")}`,
  }),
});

export type Provenance = Omit<Static<typeof Provenance>, "clock"> & { readonly clock: ClockWord };

/** A time of which nothing of a home, or of one of its devices, is kept any more. */
const Erased = record("Erased time", {
  typename: textOrNull("type of the device; null: everything of the home"),
  itemid: integerOrNull("its item, where one is known"),
  since: unixTime({ description: "from here on" }),
  until: unixTime({ description: "up to here" }),
  erased: unixTime({ description: "when it was erased" }),
});

/** An epoch: numbers 1, 2, 3 … that one store of a home has given to readings. */
export const EpochRecord = record("Epoch", {
  epoch: Type.String({ description: "name of the epoch, 32 hexadecimal digits" }),
  homeid: integerOrNull("the home whose readings it has; null at a gateway that does not know its number"),
  first: Type.Integer({ description: "the number that its readings begin with" }),
  last: Type.Integer({ description: "all its readings up to this number are here" }),
  erased: Type.Array(Erased, { description: "times of the home of which nothing is kept any more" }),
});

export type EpochRecord = Static<typeof EpochRecord>;
