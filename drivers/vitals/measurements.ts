import { ByteReader, littleEndian } from "../wire/byte-reader.ts";
import { decodeDateTime, encodeDateTime } from "../wire/date-time.ts";

/** The characteristics of belts and thermometers, by the GATT Specification Supplement. */
export const uuids = {
  heartService: "180d",
  heart: "2a37",
  thermometerService: "1809",
  temperature: "2a1c",
  batteryService: "180f",
  battery: "2a19",
  timeService: "1805",
  currentTime: "2a2b",
  informationService: "180a",
  manufacturer: "2a29",
  model: "2a24",
} as const;

/** Temperature Measurement, 2A1C. */
export interface Temperature {
  readonly value: number;
  readonly unit: "°C" | "°F";
  /** The thermometer's clock, as unix milliseconds of that date and time in UTC. */
  readonly shown_ms?: number;
}

/** Undefined when it is cut short, and when the thermometer says that it has measured nothing. */
export function decodeTemperature(bytes: Uint8Array): Temperature | undefined {
  const reader = new ByteReader(bytes);
  const flags = reader.u8();
  const value = floatOf(reader.u32());
  const shown_ms = flags & flag.time ? decodeDateTime(reader) : undefined;
  if (!reader.complete || value === undefined) return undefined;
  const unit = flags & flag.fahrenheit ? "°F" : "°C";
  return { value, unit, ...(shown_ms === undefined ? {} : { shown_ms }) };
}

/** In tenths of a degree, as thermometers send it. */
export function encodeTemperature({ value, unit, shown_ms }: Temperature): Uint8Array {
  const flags = (unit === "°F" ? flag.fahrenheit : 0) | (shown_ms === undefined ? 0 : flag.time);
  const mantissa = (Math.round(value * 10) + mantissas) % mantissas;
  return Uint8Array.from([
    flags,
    ...littleEndian([mantissa, 3], [0xff, 1]),
    ...(shown_ms === undefined ? [] : encodeDateTime(shown_ms)),
  ]);
}

/** IEEE 11073-20601 FLOAT: mantissa i24, exponent i8 of ten. Five mantissas are no number. */
function floatOf(raw: number): number | undefined {
  const unsigned = raw % mantissas;
  const mantissa = unsigned >= mantissas / 2 ? unsigned - mantissas : unsigned;
  const byte = Math.floor(raw / mantissas);
  const exponent = byte >= 128 ? byte - 256 : byte;
  if (unsigned >= 0x7ffffe && unsigned <= 0x800002) return undefined;
  // Of text, so that 371 tenths are 37.1 and no neighbour of it.
  return Number(`${mantissa}e${exponent}`);
}

const flag = { fahrenheit: 1, time: 1 << 1 } as const;
const mantissas = 2 ** 24;
