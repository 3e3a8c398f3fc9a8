import { day_ms, hour_ms, type TimeSpan, without } from "../base/time.ts";
import type { Reading } from "../domain/reading.ts";
import type { HeardState, ListeningSpan } from "../store/gateway/gateway-store.ts";
import {
  boxes,
  brokenSensor,
  deviceOf,
  readingOf,
  type SensorName,
  sensors,
  watch,
  zonestatus,
} from "./devices.ts";
import { Random } from "./random.ts";

/** Outages as they happen in every home sooner or later. */
export interface HomeOutages {
  /** The gateway and its radios had no power: nobody listened. */
  readonly powerCut: TimeSpan;
  /** A sensor whose battery was empty, until somebody came with a new one. */
  readonly deadBattery: TimeSpan & { readonly sensor: SensorName };
  /** When `brokenSensor` was last heard. */
  readonly broken_ms: number;
}

/** The outages of a history that ends at `until_ms`; with a short one some lie before its beginning. */
export function outagesBefore(until_ms: number): HomeOutages {
  const at = (days: number, hour: number) => {
    const moment = new Date(until_ms);
    moment.setDate(moment.getDate() - days);
    return moment.setHours(Math.floor(hour), Math.round((hour % 1) * 60), 0, 0);
  };
  return {
    powerCut: { from_ms: at(9, 17.2), to_ms: at(9, 22.9) },
    deadBattery: { from_ms: at(19, 4.6), to_ms: at(15, 10.4), sensor: "fridge-door" },
    broken_ms: at(2, 13.3),
  };
}

export function during(at_ms: number, { from_ms, to_ms }: TimeSpan): boolean {
  return at_ms >= from_ms && at_ms < to_ms;
}

/** Events of the door whose sensor has fallen silent, of a day before that: opened for some minutes, some times a day, while somebody is at home. */
export function brokenDoorOn(
  midnight_ms: number,
  seed: number,
  { powerCut, broken_ms }: HomeOutages,
  away: readonly TimeSpan[],
): Reading[] {
  const random = Random.ofDay(seed + own_numbers, Math.round(midnight_ms / day_ms));
  const { alarm, idle } = zonestatus.door;
  const events = openedAround_h.flatMap((hour): [number, number][] => {
    const opened_ms = midnight_ms + (hour + random.between(-1, 1)) * hour_ms;
    const closed_ms = opened_ms + random.between(1, 20) * 60_000;
    return random.chance(0.7)
      ? [
          [opened_ms, alarm],
          [closed_ms, idle],
        ]
      : [];
  });
  return events
    .filter(([at_ms]) => at_ms < broken_ms && ![powerCut, ...away].some((one) => during(at_ms, one)))
    .map(([at_ms, event]) => readingOf(brokenSensor, "wirelesssensor_events", at_ms, { event }));
}

/** Hours of the day, so far from each other that the door is closed in between. */
const openedAround_h = [8.5, 12.2, 16, 19.5];
/** Behind those of the devices of `Telling`. */
const own_numbers = 6;

/** Sources of the coverage of a span of history: who listened, and the signs of life that were heard. */
export function heartbeatsOf(
  span: TimeSpan,
  readings: readonly Reading[],
  { powerCut, deadBattery, broken_ms }: HomeOutages,
): { listening: ListeningSpan[]; states: HeardState[] } {
  const listened = without(span, [powerCut]);
  const untilBroken = { from_ms: span.from_ms, to_ms: Math.min(span.to_ms, broken_ms) };
  const beats = [
    ...heartbeats(span, deadBattery),
    ...sensorBeats(brokenSensor, untilBroken, brokenAs),
  ].filter(({ heard_ms }) => listened.some((one) => during(heard_ms, one)));
  // A device that sent a reading was alive too: the first and the last tell since when, and until when.
  const [first, last] = [readings.toReversed(), readings].map(
    (ordered) => new Map(ordered.map((reading) => [reading.device.address, reading])),
  );
  const told = readings.flatMap((reading): HeardState[] => {
    const { device, series, stamp_ms: heard_ms, values } = reading;
    if (series === "pillbox_status")
      return [{ device, heard_ms, battery_mv: Number(values["voltage"]), listener: "pillbox" }];
    if (series === "scale_weights")
      return [{ device, heard_ms, battery_percent: Number(values["batteryLevel"]), listener: "ble" }];
    if (![first, last].some((of) => of?.get(device.address) === reading)) return [];
    if (device.kind === "wirelesssensors") return [{ device, heard_ms, listener: "zigbee" }];
    const isByBluetooth = device.kind === "watches" || device.subtype === "broadcasting";
    return isByBluetooth ? [{ device, heard_ms, listener: "ble" }] : [];
  });
  return {
    listening: listeners.flatMap((listener) => listened.map((one) => ({ listener, ...one }))),
    states: [...beats, ...told]
      .filter(({ heard_ms }) => during(heard_ms, span))
      .sort((one, other) => one.heard_ms - other.heard_ms),
  };
}

/** Signs of life that devices give at fixed intervals, whether or not anything listens. */
function heartbeats(span: TimeSpan, deadBattery: HomeOutages["deadBattery"]): HeardState[] {
  const ofSensors = sensors.flatMap(({ name, address }, index) => {
    const dead = deadBattery.sensor === name ? deadBattery : undefined;
    return sensorBeats({ address }, span, {
      index,
      chargeAt: (heard_ms) => chargeOf(index, heard_ms, dead),
    }).filter(({ heard_ms }) => dead === undefined || !during(heard_ms, dead));
  });
  const ofBox = momentsIn(span, 4 * hour_ms, 50).map((heard_ms) => {
    return { device: deviceOf(boxes.supper), heard_ms, battery_percent: 84, listener: "ble" };
  });
  const ofWatch = momentsIn(span, 24 * hour_ms, 210).map((heard_ms) => {
    return { device: deviceOf(watch), heard_ms, battery_percent: 71, listener: "ble" };
  });
  return [...ofSensors, ...ofBox, ...ofWatch];
}

/** Signs of life of a sensor in a span, every two hours; `index` tells those of a home apart. */
export function sensorBeats(
  { address }: { readonly address: string },
  span: TimeSpan,
  { index, chargeAt }: { index: number; chargeAt: (heard_ms: number) => number },
): HeardState[] {
  return momentsIn(span, 2 * hour_ms, index * 7).map((heard_ms) => ({
    device: { kind: "wirelesssensors", address },
    heard_ms,
    battery_percent: chargeAt(heard_ms),
    linkquality: 90 + ((index * 37) % 120),
    listener: "zigbee",
  }));
}

/** Moments of the span that are whole periods, and some minutes, from the beginning of time. */
function momentsIn({ from_ms, to_ms }: TimeSpan, period_ms: number, minutes: number): number[] {
  const phase_ms = minutes * 60_000;
  const first_ms = Math.ceil((from_ms - phase_ms) / period_ms) * period_ms + phase_ms;
  const count = Math.max(0, Math.ceil((to_ms - first_ms) / period_ms));
  return Array.from({ length: count }, (_, index) => first_ms + index * period_ms);
}

/** Its battery is good: it is broken. */
const brokenAs = { index: 12, chargeAt: () => 74 };

/** Per cent: new ones last two years, and one was nearly empty before it was changed. */
function chargeOf(index: number, at_ms: number, dead: TimeSpan | undefined): number {
  if (dead !== undefined) return at_ms < dead.from_ms ? 4 : 100;
  return 97 - ((index * 11) % 40) - Math.floor(((at_ms / day_ms) % 60) / 12);
}
/** The gateway and the drivers that hear the devices of the home. */
const listeners = ["gateway", "zigbee", "pillbox", "ble"] as const;
