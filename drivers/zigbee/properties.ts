import { type EventWord, eventWords } from "../../src/event-words.ts";
import { type MeasureValues, measureOf } from "../../src/quantities.ts";

/**
 * The values that a message has, by property: names and units are those of zigbee-herdsman-converters, whoever took the message apart.
 * A property is a bit of an event, or a measure, or the state of a battery.
 */
export type Payload = Readonly<Record<string, unknown>>;

/** A property as its device's definition describes it. */
export interface Property {
  readonly unit?: string;
  /** It is told by one of a few words. */
  readonly words?: true;
  /** The words that stand for true and false. */
  readonly on?: unknown;
  readonly off?: unknown;
  /** It is set, rather than measured; or its values are words. */
  readonly isSetting?: true;
  readonly isText?: true;
}

export type Properties = ReadonlyMap<string, Property>;

/** The records that a payload makes. */
export interface Told {
  /** The bits of the event that it tells; absent where it tells none. */
  readonly event?: ToldEvent;
  readonly measures: readonly MeasureValues[];
  readonly battery: { readonly battery_percent?: number; readonly battery_mv?: number };
  /** Values that are neither numbers nor words of a few. */
  readonly unrecorded: number;
}

export interface ToldEvent {
  /** The bits that it tells, and their values. */
  readonly mask: number;
  readonly bits: number;
  /** Of these, those by words that say that something happens: where it begins, and where it is told to be over. */
  readonly begins: number;
  readonly ends: number;
}

/** A word that may stand in the name of a quantity. */
const word = /^[\w.+-]{1,40}$/;

/** Takes a payload apart. */
export function toldBy(payload: Payload, properties: Properties): Told {
  let mask = 0;
  let bits = 0;
  let begins = 0;
  let ends = 0;
  const measures: MeasureValues[] = [];
  const battery: { battery_percent?: number; battery_mv?: number } = {};
  let unrecorded = 0;
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined || value === null || value === "" || name === "linkquality") continue;
    const property = properties.get(name);
    const row = typeof value === "boolean" ? eventWordOf(name, properties) : undefined;
    const number = numberOf(value, property);
    const spoken = property?.words === true || name === "action";
    const text = spoken && typeof value === "string" && word.test(value) ? value : undefined;
    if (row !== undefined) {
      const set = value !== (row.inverted ?? false);
      const bit = 1 << row.bit;
      mask |= bit;
      if (set) bits |= bit;
      if (row.happens && set) begins |= bit;
      else if (row.happens) ends |= bit;
    } else if (name === "battery" && typeof value === "number" && number !== undefined) {
      battery.battery_percent = Math.min(100, Math.max(0, Math.round(number)));
    } else if (name === "voltage" && property?.unit === "mV" && number !== undefined) {
      battery.battery_mv = Math.round(number);
    } else if (number !== undefined) {
      measures.push(measureOf(name, number, property?.unit));
    } else if (text !== undefined) measures.push(measureOf(`${name}_${text}`, 1));
    else unrecorded += 1;
  }
  return { ...(mask === 0 ? {} : { event: { mask, bits, begins, ends } }), measures, battery, unrecorded };
}

/** The row of a property that is a bit of its device's events; undefined where another property has the bit. */
function eventWordOf(name: string, properties: Properties): EventWord | undefined {
  const row = Object.hasOwn(eventWords, name) ? eventWords[name] : undefined;
  if (row === undefined) return undefined;
  const first = Object.entries(eventWords).find(
    ([other, { bit }]) => bit === row.bit && properties.has(other),
  );
  return first === undefined || first[0] === name ? row : undefined;
}

function numberOf(value: unknown, property: Property | undefined): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (property?.on !== undefined && value === property.on) return 1;
  return property?.off !== undefined && value === property.off ? 0 : undefined;
}
