import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole } from "../../src/base/disk/safe-files.ts";
import { type MeasureValues, measureOf, pressOf } from "../../src/domain/quantities.ts";
import { type BthomeObject, objectIds, objectTypes, presses } from "./objects.ts";

const stateSchema = Type.Object({
  /** Bits of `event` that it has told, by their number, each 0 or 1. */
  bits: Type.Record(Type.String({ pattern: "^[0-3]$" }), Type.Integer({ minimum: 0, maximum: 1 }), {
    additionalProperties: false,
  }),
  packet: Type.Optional(Type.Integer()),
  counter: Type.Optional(Type.Integer()),
});

/** State of a sensor, kept from one broadcast to the next. */
export type SensorState = Static<typeof stateSchema>;

/** A broadcast of a sensor, by where its objects go. */
export interface SensorSighting {
  /** Bits of `event`, with 0 or 1. */
  readonly bits: ReadonlyMap<number, number>;
  readonly measures: readonly MeasureValues[];
  /** Names of the presses of its buttons. */
  readonly presses: readonly string[];
  readonly battery_percent?: number;
  readonly battery_mv?: number;
  readonly packet?: number;
  readonly counter?: number;
  /** Sent because something happened, and not at an interval. */
  readonly triggered: boolean;
}

/** The result of a broadcast, given all that came before it. */
export interface SensorNews {
  readonly state: SensorState;
  /** `event` of the sensor, where it changed or was told anew. */
  readonly event?: number;
  /** Presses, and the measures that are due by `isDue`. */
  readonly measures: readonly MeasureValues[];
}

/** The sighting that objects make; undefined of a device that tells nothing that is kept. */
export function sensorSightingOf(
  objects: readonly BthomeObject[],
  { triggered, counter }: { triggered: boolean; counter?: number | undefined },
): SensorSighting | undefined {
  const bits = new Map<number, number>();
  const measures: MeasureValues[] = [];
  const pressed: string[] = [];
  const states: { battery_percent?: number; battery_mv?: number } = {};
  const buttons = objects.filter(({ id }) => isKeptAs(id, "press")).length;
  let button = 0;
  for (const { id, value } of objects) {
    const { kept, unit } = objectTypes.get(id) ?? {};
    if (kept === undefined) continue;
    if ("bit" in kept) bits.set(kept.bit, Math.max(bits.get(kept.bit) ?? 0, value === 0 ? 0 : 1));
    else if ("quantity" in kept) measures.push(numbered(measureOf(kept.quantity, value, unit), measures));
    else if (kept.as === "press") {
      button += 1;
      const press = presses.get(value);
      if (press !== undefined) pressed.push(buttons > 1 ? `${button}_${press}` : press);
    } else if (kept.as === "battery") {
      if (value <= 100) states.battery_percent = value;
    } else if (isSupplied(objects)) measures.push(numbered(measureOf("voltage", value, unit), measures));
    else states.battery_mv = Math.round(value * 1_000);
  }
  const packet = objects.find(({ id }) => id === objectIds.packet)?.value;
  if (bits.size === 0 && measures.length === 0 && buttons === 0) return undefined;
  return {
    bits,
    measures,
    presses: pressed,
    ...states,
    ...(packet === undefined ? {} : { packet }),
    ...(counter === undefined ? {} : { counter }),
    triggered,
  };
}

/**
 * The news of a broadcast: an event when a bit changed, or when the sensor tells it anew because something happened; presses
 * once for each broadcast that is no repeat. Undefined for a repeat. `isDue` says whether a quantity was not recorded for so long.
 */
export function judgeSensor(
  before: SensorState | undefined,
  seen: SensorSighting,
  isDue: (quantity: string, interval_least_ms: number) => boolean,
): SensorNews | undefined {
  // What is older was refused before: see Claim.counter.
  if (seen.counter !== undefined && seen.counter === before?.counter) return undefined;
  const told = Object.fromEntries([...seen.bits].map(([bit, set]) => [String(bit), set]));
  const changed = Object.entries(told).some(([bit, set]) => before?.bits[bit] !== set);
  const tellsApart = seen.packet !== undefined || seen.counter !== undefined;
  // A sensor that numbers its broadcasts sends each several times.
  if (seen.packet !== undefined && seen.packet === before?.packet && !changed) return undefined;
  const state: SensorState = {
    bits: { ...before?.bits, ...told },
    ...(seen.packet === undefined ? {} : { packet: seen.packet }),
    ...(seen.counter === undefined ? {} : { counter: seen.counter }),
  };
  const again = tellsApart && seen.triggered;
  const event = seen.bits.size > 0 && (changed || again) ? eventOf(state) : undefined;
  return {
    state,
    ...(event === undefined ? {} : { event }),
    measures: [
      ...seen.presses
        .map(pressOf)
        .filter(({ quantity }) => tellsApart || isDue(quantity, press_interval_least_ms)),
      ...seen.measures.filter(({ quantity }) => again || isDue(quantity, measure_interval_least_ms)),
    ],
  };
}

/** Of what `JSON.stringify` made of a state; a damaged text is a sensor never heard. */
export function parseSensorState(text: string | undefined): SensorState | undefined {
  const value = parseIfWhole(text);
  return Value.Check(stateSchema, value) ? value : undefined;
}

/** The kind of sensor, as far as a broadcast tells it. */
export function subtypeOf({ bits }: SensorSighting): "wall" | "door" | undefined {
  if (bits.has(1)) return "wall";
  return bits.has(0) ? "door" : undefined;
}

function eventOf({ bits }: SensorState): number {
  return Object.entries(bits).reduce((event, [bit, set]) => event | (set << Number(bit)), 0);
}

/** A quantity that is told twice, of two probes, is two quantities. */
function numbered(measure: MeasureValues, before: readonly MeasureValues[]): MeasureValues {
  const same = before.filter(({ quantity }) => quantity.replace(/_\d+$/, "") === measure.quantity).length;
  return same === 0 ? measure : { ...measure, quantity: `${measure.quantity}_${same + 1}` };
}

/** Whether a voltage beside these is of the mains; else it is of the battery. */
function isSupplied(objects: readonly BthomeObject[]): boolean {
  return objects.some(({ id }) => {
    const kept = objectTypes.get(id)?.kept;
    return kept !== undefined && "quantity" in kept && supplied.has(kept.quantity);
  });
}

function isKeptAs(id: number, as: string): boolean {
  const kept = objectTypes.get(id)?.kept;
  return kept !== undefined && "as" in kept && kept.as === as;
}

/** A quantity that a sensor tells at intervals is recorded no more often than this. */
const measure_interval_least_ms = 60_000;
/** A press that is broadcast without a number is one press for this long, however often it is sent. */
const press_interval_least_ms = 2_000;

const supplied: ReadonlySet<string> = new Set(["power", "energy", "current"]);
