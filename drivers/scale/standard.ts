import { ByteReader, littleEndian } from "../wire/byte-reader.ts";
import { decodeDateTime, encodeDateTime } from "../wire/date-time.ts";

/**
 * The characteristics of standard scales, by the GATT Specification Supplement. Masses come out in grams, not
 * rounded; values that the scale did not measure are absent.
 */
export const uuids = {
  weightService: "181d",
  weight: "2a9d",
  compositionService: "181b",
  composition: "2a9c",
  batteryService: "180f",
  battery: "2a19",
  heartService: "180d",
  heart: "2a37",
  userService: "181c",
  userControl: "2a9f",
  timeService: "1805",
  currentTime: "2a2b",
  informationService: "180a",
  manufacturer: "2a29",
  model: "2a24",
} as const;

/** The fields of the weighing that both measurements carry. */
export interface Weighing {
  /** The scale's clock, as unix milliseconds of that date and time in UTC. */
  readonly shown_ms?: number;
  /** Index of the user; absent where the scale tells none or did not recognise him. */
  readonly user?: number;
}

/** Weight Measurement, 2A9D. */
export interface WeightMeasurement extends Weighing {
  /** Absent when the measurement failed. */
  readonly weight_g?: number;
}

/** Body Composition Measurement, 2A9C. */
export interface CompositionMeasurement extends Weighing {
  /** One of two packets of the same measurement. */
  readonly multiplePackets: boolean;
  readonly fat_percent?: number;
  readonly muscle_percent?: number;
  readonly muscle_g?: number;
  readonly fatFree_g?: number;
  readonly softLean_g?: number;
  readonly water_g?: number;
  readonly impedance_ohm?: number;
  readonly weight_g?: number;
}

/** Undefined when it is shorter than its flags say. */
export function decodeWeight(bytes: Uint8Array): WeightMeasurement | undefined {
  const reader = new ByteReader(bytes);
  const flags = reader.u8();
  const raw = reader.u16();
  const shown_ms = flags & weightFlag.time ? decodeDateTime(reader) : undefined;
  const user = flags & weightFlag.user ? reader.u8() : user_unknown;
  // Body mass index and height.
  if (flags & weightFlag.height) reader.u32();
  if (!reader.complete) return undefined;
  const weight_g = massOf(raw, (flags & weightFlag.imperial) !== 0);
  return { ...only({ weight_g, shown_ms }), ...(user === user_unknown ? {} : { user }) };
}

export function encodeWeight(measurement: WeightMeasurement & { imperial?: boolean }): Uint8Array {
  const { weight_g, shown_ms, user, imperial = false } = measurement;
  const flags =
    (imperial ? weightFlag.imperial : 0) |
    (shown_ms === undefined ? 0 : weightFlag.time) |
    (user === undefined ? 0 : weightFlag.user);
  return Uint8Array.from([
    flags,
    ...littleEndian([rawOf(weight_g, imperial), 2]),
    ...(shown_ms === undefined ? [] : encodeDateTime(shown_ms)),
    ...(user === undefined ? [] : [user]),
  ]);
}

/** Undefined when it is shorter than its flags say. */
export function decodeComposition(bytes: Uint8Array): CompositionMeasurement | undefined {
  const reader = new ByteReader(bytes);
  const flags = reader.u16();
  const imperial = (flags & compositionFlag.imperial) !== 0;
  const tenths = (flag: number) => {
    const raw = flags & flag ? reader.u16() : unmeasured;
    return raw === unmeasured ? undefined : raw / 10;
  };
  const mass = (flag: number) => (flags & flag ? massOf(reader.u16(), imperial) : undefined);
  const fat = reader.u16();
  const shown_ms = flags & compositionFlag.time ? decodeDateTime(reader) : undefined;
  const user = flags & compositionFlag.user ? reader.u8() : user_unknown;
  // Basal metabolism, and at the end the height.
  if (flags & compositionFlag.metabolism) reader.u16();
  const muscle_percent = tenths(compositionFlag.muscle_percent);
  const muscle_g = mass(compositionFlag.muscle);
  const fatFree_g = mass(compositionFlag.fatFree);
  const softLean_g = mass(compositionFlag.softLean);
  const water_g = mass(compositionFlag.water);
  const impedance_ohm = tenths(compositionFlag.impedance);
  const weight_g = mass(compositionFlag.weight);
  if (flags & compositionFlag.height) reader.u16();
  if (!reader.complete) return undefined;
  const fat_percent = fat === unmeasured ? undefined : fat / 10;
  return {
    multiplePackets: (flags & compositionFlag.multiplePackets) !== 0,
    ...only({ shown_ms, fat_percent, muscle_percent, muscle_g, fatFree_g, softLean_g, water_g }),
    ...only({ impedance_ohm, weight_g }),
    ...(user === user_unknown ? {} : { user }),
  };
}

export function encodeComposition(measurement: CompositionMeasurement & { imperial?: boolean }): Uint8Array {
  const { imperial = false, shown_ms, user } = measurement;
  let flags = imperial ? compositionFlag.imperial : 0;
  const fields: number[] = [];
  const put = (flag: number, bytes: Uint8Array | undefined) => {
    if (bytes === undefined) return;
    flags |= flag;
    fields.push(...bytes);
  };
  const tenths = (value: number | undefined) =>
    value === undefined ? undefined : littleEndian([Math.round(value * 10), 2]);
  const mass = (value: number | undefined) =>
    value === undefined ? undefined : littleEndian([rawOf(value, imperial), 2]);
  put(compositionFlag.time, shown_ms === undefined ? undefined : encodeDateTime(shown_ms));
  put(compositionFlag.user, user === undefined ? undefined : Uint8Array.of(user));
  put(compositionFlag.muscle_percent, tenths(measurement.muscle_percent));
  put(compositionFlag.muscle, mass(measurement.muscle_g));
  put(compositionFlag.fatFree, mass(measurement.fatFree_g));
  put(compositionFlag.softLean, mass(measurement.softLean_g));
  put(compositionFlag.water, mass(measurement.water_g));
  put(compositionFlag.impedance, tenths(measurement.impedance_ohm));
  put(compositionFlag.weight, mass(measurement.weight_g));
  if (measurement.multiplePackets) flags |= compositionFlag.multiplePackets;
  const fat = tenths(measurement.fat_percent) ?? littleEndian([unmeasured, 2]);
  return Uint8Array.from([...littleEndian([flags, 2]), ...fat, ...fields]);
}

/** Battery Level, 2A19: percent; undefined when it is no percentage. */
export function decodeBattery(bytes: Uint8Array): number | undefined {
  const [percent] = bytes;
  return percent === undefined || percent > 100 ? undefined : percent;
}

export function encodeBattery(percent: number): Uint8Array {
  return Uint8Array.of(percent);
}

/** User Control Point, 2A9F: asks for a user's data with the code that he chose on the scale. */
export function encodeConsent(index: number, consent: number): Uint8Array {
  return littleEndian([userOpcode.consent, 1], [index, 1], [consent, 2]);
}

export function decodeConsent(bytes: Uint8Array): { index: number; consent: number } | undefined {
  const reader = new ByteReader(bytes);
  const opcode = reader.u8();
  const [index, consent] = [reader.u8(), reader.u16()];
  return reader.complete && opcode === userOpcode.consent ? { index, consent } : undefined;
}

/** The answer of the User Control Point: to which request, and whether it was granted. */
export function decodeUserResponse(bytes: Uint8Array): { request: number; granted: boolean } | undefined {
  const reader = new ByteReader(bytes);
  const opcode = reader.u8();
  const [request, result] = [reader.u8(), reader.u8()];
  if (!reader.complete || opcode !== userOpcode.response) return undefined;
  return { request, granted: result === userSuccess };
}

export function encodeUserResponse(request: number, granted: boolean): Uint8Array {
  return Uint8Array.of(userOpcode.response, request, granted ? userSuccess : userNotAuthorised);
}

/** Current Time, 2A2B: date and time, day of the week, fractions of a second, reason of the change. */
export function decodeCurrentTime(bytes: Uint8Array): number | undefined {
  const reader = new ByteReader(bytes);
  const shown_ms = decodeDateTime(reader);
  return reader.complete ? shown_ms : undefined;
}

export function encodeCurrentTime(shown_ms: number): Uint8Array {
  // Monday is 1 and Sunday 7.
  const weekday = ((new Date(shown_ms).getUTCDay() + 6) % 7) + 1;
  return Uint8Array.from([...encodeDateTime(shown_ms), weekday, 0, manualUpdate]);
}

export const userOpcode = { register: 0x01, consent: 0x02, response: 0x20 } as const;

export const weightFlag = { imperial: 1, time: 1 << 1, user: 1 << 2, height: 1 << 3 } as const;

export const compositionFlag = {
  imperial: 1,
  time: 1 << 1,
  user: 1 << 2,
  metabolism: 1 << 3,
  muscle_percent: 1 << 4,
  muscle: 1 << 5,
  fatFree: 1 << 6,
  softLean: 1 << 7,
  water: 1 << 8,
  impedance: 1 << 9,
  weight: 1 << 10,
  height: 1 << 11,
  multiplePackets: 1 << 12,
} as const;

/** "Measurement unsuccessful" of weights, masses and the fat percentage. */
const unmeasured = 0xffff;
const user_unknown = 0xff;
const userSuccess = 0x01;
const userNotAuthorised = 0x05;
const manualUpdate = 0x01;
/** 0.005 kg. */
const metricStep_g = 5;
/** 0.01 lb of 453.59237 g. */
const imperialStep_g = 4.5359237;

function massOf(raw: number, imperial: boolean): number | undefined {
  return raw === unmeasured ? undefined : raw * (imperial ? imperialStep_g : metricStep_g);
}

function rawOf(mass_g: number | undefined, imperial: boolean): number {
  return mass_g === undefined ? unmeasured : Math.round(mass_g / (imperial ? imperialStep_g : metricStep_g));
}

/** The fields that are there. */
function only<Fields extends Record<string, number | undefined>>(
  fields: Fields,
): { [Name in keyof Fields]?: number } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]?: number;
  };
}
