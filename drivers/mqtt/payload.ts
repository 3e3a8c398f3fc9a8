import { decodeJson, decodingBounds } from "../../src/base/json-decoder.ts";
import { type MeasureValues, measureOf, quantityOf } from "../../src/domain/quantities.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Sign } from "./hub.ts";
import { signWords } from "./words.ts";

export type Json = Readonly<Record<string, unknown>>;

/** The value of a JSON text; undefined where it is none, or no UTF-8. */
export function jsonOf(payload: Uint8Array): unknown {
  try {
    return decodeJson(payload, decodingBounds.hubMessage);
  } catch {
    return undefined;
  }
}

export function textOf(payload: Uint8Array): string | undefined {
  try {
    return decoder.decode(payload);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text that is not empty, shortened to what a device may be called; some makes fill their names with zeros or blanks. */
export function named(value: unknown): string | undefined {
  const name = typeof value === "string" ? value.replace(/[\0\s]+$/, "") : "";
  return name === "" ? undefined : name.slice(0, name_length_max);
}

/** `00:15:8d:…` of `0x00158d…`, `00158D…` and `00:15:8D:…`; undefined of anything else. */
export function addressOf(text: unknown, bytes: number): string | undefined {
  if (typeof text !== "string") return undefined;
  const digits = text.replace(/^0x/i, "").replaceAll(":", "").toLowerCase();
  if (digits.length !== bytes * 2 || !/^[\da-f]+$/.test(digits)) return undefined;
  return digits.replace(/(..)(?!$)/g, "$1:");
}

/** A sensor; `word` is one that it tells, from which its subtype is known. */
export function sensor(address: string, facts: { model?: unknown; vendor?: unknown } = {}): Device {
  const [model, vendor] = [named(facts.model), named(facts.vendor)];
  return {
    kind: "wirelesssensors",
    address,
    ...(model === undefined ? {} : { model }),
    ...(vendor === undefined ? {} : { vendor }),
  };
}

/** Unix milliseconds of a number or an ISO 8601 text; undefined of anything else. */
export function stampOf(value: unknown): number | undefined {
  const stamp_ms = typeof value === "string" ? Date.parse(value) : value;
  return typeof stamp_ms === "number" && Number.isFinite(stamp_ms) && stamp_ms > 0
    ? Math.round(stamp_ms)
    : undefined;
}

/** A whole number between bounds; undefined of anything else. */
export function wholeOf(value: unknown, least: number, most: number): number | undefined {
  if (typeof value !== "number" || !(value >= least && value <= most)) return undefined;
  return Math.round(value);
}

export interface Fields {
  readonly signs: Sign[];
  readonly measures: MeasureValues[];
  readonly refused: string[];
}

/** The fields of an object that are words or quantities. */
export function fieldsOf(values: Json): Fields {
  const fields: Fields = { signs: [], measures: [], refused: [] };
  for (const [name, value] of Object.entries(values).slice(0, fields_max)) {
    if (value === null) continue;
    if (Object.hasOwn(signWords, name)) addSign(fields, name, value);
    if (quantityOf(name) !== undefined) addMeasure(fields, name, value);
  }
  return fields;
}

/** Adds what a word says, under a key of its own where several of a device say the same. */
export function addSign(fields: Fields, word: string, value: unknown, key = word): void {
  const meant = signWords[word];
  if (meant === undefined) return;
  if (typeof value === "boolean")
    fields.signs.push({ key, bit: meant.bit, on: value !== (meant.inverted === true) });
  // `battery` is a charge as well as a class of sign.
  else if (typeof value !== "number") fields.refused.push(`whose ${word} is not true or false`);
}

/**
 * Adds a number of a quantity; `unit` is the one that it was told in, absent where that is not told, and `part` the name of what measured
 * it, where several of a device measure the same.
 */
export function addMeasure(
  fields: Fields,
  quantity: string,
  value: unknown,
  { unit, part }: { unit?: string | undefined; part?: string | undefined } = {},
): void {
  const number = typeof value === "number" && Math.abs(value) <= Number.MAX_SAFE_INTEGER ? value : undefined;
  if (number === undefined) fields.refused.push(`whose ${quantity} is no number`);
  else {
    const measure = measureOf(quantity, number, unit?.slice(0, unit_length_max));
    fields.measures.push(part === undefined ? measure : { ...measure, quantity: `${quantity}_${part}` });
  }
}

const decoder = new TextDecoder("utf-8", { fatal: true });
/** Fields of one object that are looked at. */
const fields_max = 200;
const name_length_max = 100;
const unit_length_max = 20;
