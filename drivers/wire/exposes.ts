import { eventWords } from "../../src/domain/event-words.ts";
import type { Properties, Property } from "./properties.ts";

/**
 * Descriptions of what a device tells (https://www.zigbee2mqtt.io/guide/usage/exposes.html), as definitions have them and Zigbee2MQTT publishes them: whoever
 * reads them, a device is known by the same properties.
 */
export interface Expose {
  readonly property: string;
  readonly type?: unknown;
  readonly unit?: unknown;
  /** Bit 0: it is told, bit 1: it can be set. */
  readonly access?: unknown;
  /** Present on what is a setting, or tells how the device itself is. */
  readonly category?: unknown;
  readonly value_on?: unknown;
  readonly value_off?: unknown;
}

/** Those of a list that have one value, whatever they are part of; of what is none, and beyond `exposes_max`, nothing. */
export function exposesIn(list: unknown): Expose[] {
  const found: Expose[] = [];
  const waiting: unknown[] = Array.isArray(list) ? list.slice(0, exposes_max) : [];
  for (let looked = 0; looked < exposes_max && waiting.length > 0; looked += 1) {
    const one = waiting.shift();
    if (typeof one !== "object" || one === null) continue;
    const { property, features } = one as { property?: unknown; features?: unknown };
    if (typeof property === "string" && property !== "") found.push(one as Expose);
    if (Array.isArray(features)) waiting.unshift(...features.slice(0, exposes_max));
  }
  return found;
}

const exposes_max = 2_000;

export function propertiesOf(exposes: readonly Expose[]): Properties {
  return new Map(exposes.map((expose) => [expose.property, propertyOf(expose)]));
}

function propertyOf(expose: Expose): Property {
  const { type, unit, value_on, value_off } = expose;
  return {
    ...(typeof unit === "string" ? { unit } : {}),
    ...(type === "enum" ? { words: true } : {}),
    ...("value_on" in expose ? { on: value_on, off: value_off } : {}),
    ...(isSet(expose) ? { isSetting: true } : {}),
    ...(type === "numeric" || type === "binary" ? {} : { isText: true }),
  };
}

/** Whether a device of these senses something, rather than being a lamp, a lock or a switch. */
export function senses(exposes: readonly Expose[]): boolean {
  return exposes.some(isReading);
}

/** The subtype of a sensor of these properties, where they tell it. */
export function subtypeOf(properties: ReadonlyMap<string, unknown>): "wall" | "door" | undefined {
  return subtypes.find(([name]) => properties.has(name))?.[1];
}

const subtypes = [
  ["presence", "wall"],
  ["occupancy", "wall"],
  ["contact", "door"],
] as const;

/** Set from here, rather than only told. */
function isSet({ access }: Expose): boolean {
  return typeof access === "number" && (access & 0b010) !== 0;
}

/** Told by the device and set by nobody, and no news of itself. */
function isReading(expose: Expose): boolean {
  const { property, access, category, type } = expose;
  if (property === "action" || isEvent(property)) return true;
  const told = typeof access === "number" && (access & 0b001) !== 0 && !isSet(expose);
  const single = type === "numeric" || type === "binary" || type === "enum";
  return told && single && category === undefined && !ofItself.has(property);
}

const ofItself = new Set([
  "battery",
  "voltage",
  "battery_low",
  "tamper",
  "linkquality",
  "device_temperature",
]);

function isEvent(property: string): boolean {
  return Object.hasOwn(eventWords, property) && !ofItself.has(property);
}
