import { day_ms, hour_ms } from "../durations.ts";
import { type TimeSpan, without } from "../meaning/span.ts";
import type { Reading } from "../reading.ts";
import type { HeardState, ListeningSpan } from "../store/store.ts";
import { boxes, brokenSensor, deviceOf, sensors, watch } from "./devices.ts";
import { during, type HomeOutages } from "./outages.ts";

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
  // A device that sent a reading was alive too.
  const last = new Map(readings.map((reading) => [reading.device.address, reading]));
  const told = readings.flatMap((reading): HeardState[] => {
    const { device, series, stamp_ms: heard_ms, values } = reading;
    if (series === "pillbox_status")
      return [{ device, heard_ms, battery_mv: Number(values["voltage"]), listener: "pillbox" }];
    if (series === "scale_weights")
      return [{ device, heard_ms, battery_percent: Number(values["batteryLevel"]), listener: "ble" }];
    if (last.get(device.address) !== reading) return [];
    if (device.kind === "wirelesssensors") return [{ device, heard_ms, listener: "zigbee" }];
    return device.subtype === "broadcasting" ? [{ device, heard_ms, listener: "ble" }] : [];
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
