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
  /** The bits of the event that it tells, their values, and whether that is an event though nothing changed; absent where it tells none. */
  readonly event?: { readonly mask: number; readonly bits: number; readonly again: boolean };
  readonly measures: readonly MeasureValues[];
  readonly battery: { readonly battery_percent?: number; readonly battery_mv?: number };
  /** Values that are neither numbers nor words of a few. */
  readonly unrecorded: number;
}

/** A word that may stand in the name of a quantity. */
const word = /^[\w.+-]{1,40}$/;

/** Takes a payload apart. */
export function toldBy(payload: Payload, properties: Properties): Told {
  let mask = 0;
  let bits = 0;
  let again = false;
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
      mask |= 1 << row.bit;
      if (set) bits |= 1 << row.bit;
      again ||= set && row.happens === true;
    } else if (name === "battery" && typeof value === "number" && number !== undefined) {
      battery.battery_percent = Math.min(100, Math.max(0, Math.round(number)));
    } else if (name === "voltage" && property?.unit === "mV" && number !== undefined) {
      battery.battery_mv = Math.round(number);
    } else if (number !== undefined) {
      measures.push(measureOf(name, number, property?.unit));
    } else if (text !== undefined) measures.push(measureOf(`${name}_${text}`, 1));
    else unrecorded += 1;
  }
  return { ...(mask === 0 ? {} : { event: { mask, bits, again } }), measures, battery, unrecorded };
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
