import { type EventBit, type EventWord, eventWords } from "../../src/domain/event-words.ts";
import { type MeasureValues, measureOf } from "../../src/domain/quantities.ts";

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
  /** Whatever is or is not so, in the order in which it is told. */
  readonly signs: readonly ToldSign[];
  readonly measures: readonly MeasureValues[];
  /** Of the measures that are words, the property that each is a state of, by its quantity. */
  readonly words: ReadonlyMap<string, string>;
  readonly battery: { readonly battery_percent?: number; readonly battery_mv?: number };
  /** Values that are neither numbers nor words of a few. */
  readonly unrecorded: number;
}

/** A property that is a bit of its device's events. */
export interface ToldSign {
  readonly name: string;
  readonly bit: EventBit;
  readonly on: boolean;
  /** It says that something happens, rather than how it is. */
  readonly happens: boolean;
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

/** Takes a payload apart. A voltage that its definition does not describe is a battery's, in mV: a plug's is always described. */
export function toldBy(payload: Payload, properties: Properties): Told {
  const signs: ToldSign[] = [];
  const measures: MeasureValues[] = [];
  const words = new Map<string, string>();
  const battery: { battery_percent?: number; battery_mv?: number } = {};
  let unrecorded = 0;
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined || value === null || value === "" || name === "linkquality") continue;
    const property = properties.get(name);
    const truth = truthOf(value, property);
    const row = truth === undefined ? undefined : eventWordOf(name, properties);
    const number =
      typeof value === "number" ? finite(value) : truth === undefined ? undefined : Number(truth);
    const spoken = property?.words === true || name === "action";
    const text = spoken && typeof value === "string" && word.test(value) ? value : undefined;
    if (row !== undefined) {
      signs.push({
        name,
        bit: row.bit,
        on: truth !== (row.inverted ?? false),
        happens: row.happens ?? false,
      });
    } else if (name === "battery" && typeof value === "number" && number !== undefined) {
      battery.battery_percent = Math.min(100, Math.max(0, Math.round(number)));
    } else if (name === "voltage" && (property?.unit ?? "mV") === "mV" && number !== undefined) {
      battery.battery_mv = Math.round(number);
    } else if (number !== undefined) {
      measures.push(measureOf(name, number, property?.unit));
    } else if (text !== undefined) {
      const measure = measureOf(`${name}_${text}`, 1);
      measures.push(measure);
      words.set(measure.quantity, name);
    } else unrecorded += 1;
  }
  return { signs, measures, words, battery, unrecorded };
}

/** The bits of signs that were told together; undefined where there are none. */
export function eventOf(signs: readonly ToldSign[]): ToldEvent | undefined {
  if (signs.length === 0) return undefined;
  const maskOf = (of: readonly ToldSign[]) => of.reduce((bits, { bit }) => bits | (1 << bit), 0);
  return {
    mask: maskOf(signs),
    bits: maskOf(signs.filter(({ on }) => on)),
    begins: maskOf(signs.filter(({ on, happens }) => on && happens)),
    ends: maskOf(signs.filter(({ on, happens }) => !on && happens)),
  };
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

/** Whether a value says that something is so: a boolean, or one of the two words that its definition has for that. */
function truthOf(value: unknown, property: Property | undefined): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value !== "string") return undefined;
  if (property?.on !== undefined && value === property.on) return true;
  return property?.off !== undefined && value === property.off ? false : undefined;
}

function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}
