import { day_ms } from "../day.ts";
import { type Span, without } from "../meaning/span.ts";
import type { Reading } from "../reading.ts";
import type { HeardState, ListeningSpan } from "../store/store.ts";
import { boxes, deviceOf, scale, watch } from "./belongings.ts";
import { flat } from "./flat.ts";
import { during, type Mishaps } from "./mishaps.ts";

/** Sources of the coverage of a span of history: who listened, and the heartbeats that were heard. */
export function signsOfLife(
  span: Span,
  readings: readonly Reading[],
  { powerCut, deadBattery }: Mishaps,
): { listening: ListeningSpan[]; states: HeardState[] } {
  const listened = without(span, [powerCut]);
  const heard = (at_ms: number) => listened.some((one) => during(at_ms, one));
  const states: HeardState[] = [];
  for (const [index, { name, address }] of flat.entries()) {
    const dead = deadBattery.sensor === name ? deadBattery : undefined;
    for (const at_ms of beatsIn(span, heartbeat_ms, index * 7))
      if (heard(at_ms) && !(dead !== undefined && during(at_ms, dead)))
        states.push({
          device: { kind: "wirelesssensors", address },
          heard_ms: at_ms,
          battery_percent: chargeOf(index, at_ms, dead),
          linkquality: 90 + ((index * 37) % 120),
          listener: "zigbee",
        });
  }
  for (const at_ms of beatsIn(span, 4 * hour_ms, 50))
    if (heard(at_ms))
      states.push({ device: deviceOf(boxes.supper), heard_ms: at_ms, battery_percent: 84, listener: "ble" });
  for (const at_ms of beatsIn(span, 24 * hour_ms, 210))
    if (heard(at_ms))
      states.push({ device: deviceOf(watch), heard_ms: at_ms, battery_percent: 71, listener: "ble" });
  for (const { series, stamp_ms, values } of readings) {
    if (series === "pillbox_status")
      states.push({
        device: deviceOf(boxes.breakfast),
        heard_ms: stamp_ms,
        battery_mv: Number(values["voltage"]),
        listener: "pillbox",
      });
    if (series === "scale_weights")
      states.push({
        device: deviceOf(scale),
        heard_ms: stamp_ms,
        battery_percent: Number(values["batteryLevel"]),
        listener: "ble",
      });
  }
  // Who told something was alive, too.
  const last = new Map(readings.map((reading) => [reading.device.address, reading]));
  for (const { device, stamp_ms } of last.values())
    if (device.kind === "wirelesssensors") states.push({ device, heard_ms: stamp_ms, listener: "zigbee" });
    else if (device.subtype === "broadcasting") states.push({ device, heard_ms: stamp_ms, listener: "ble" });
  return {
    listening: listeners.flatMap((listener) => listened.map((one) => ({ listener, ...one }))),
    states: states
      .filter(({ heard_ms }) => during(heard_ms, span))
      .sort((one, other) => one.heard_ms - other.heard_ms),
  };
}

/** Moments of the span that are whole periods, and some minutes, from the beginning of time. */
function beatsIn({ from_ms, to_ms }: Span, period_ms: number, minutes: number): number[] {
  const phase_ms = minutes * 60_000;
  const first_ms = Math.ceil((from_ms - phase_ms) / period_ms) * period_ms + phase_ms;
  const count = Math.max(0, Math.ceil((to_ms - first_ms) / period_ms));
  return Array.from({ length: count }, (_, index) => first_ms + index * period_ms);
}

/** Per cent: new ones last two years, and one was nearly empty before it was changed. */
function chargeOf(index: number, at_ms: number, dead: Span | undefined): number {
  if (dead !== undefined) return at_ms < dead.from_ms ? 4 : 100;
  return 97 - ((index * 11) % 40) - Math.floor(((at_ms / day_ms) % 60) / 12);
}

const hour_ms = 3_600_000;
const heartbeat_ms = 2 * hour_ms;
/** The gateway and the drivers that hear the devices of the home. */
const listeners = ["gateway", "zigbee", "pillbox", "ble"] as const;
