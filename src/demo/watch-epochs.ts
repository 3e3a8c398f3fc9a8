import type { Block } from "../../drivers/watch/health-log.ts";
import { clockQuality } from "../clock.ts";
import type { Span } from "../meaning/span.ts";
import type { Reading } from "../reading.ts";
import { deviceOf, watch } from "./belongings.ts";
import type { Buffers } from "./buffers.ts";
import type { LivedDay, Stay } from "./household.ts";
import { during } from "./mishaps.ts";
import type { Random } from "./random.ts";
import type { Place } from "./walk.ts";

/** A day on the wrist: epochs of ten minutes, and the stretches in which nobody wore the watch. */
export function wristOn(day: LivedDay, random: Random): { readings: Reading[]; notWorn: Span[] } {
  const notWorn = takenOff(day, random);
  const readings: Reading[] = [];
  const end_ms = Math.max(...day.stays.map(({ to_ms }) => to_ms));
  const first_ms = Math.ceil(day.midnight_ms / epoch_ms) * epoch_ms;
  for (let stamp_ms = first_ms; stamp_ms < end_ms; stamp_ms += epoch_ms) {
    const epoch = { from_ms: stamp_ms, to_ms: stamp_ms + epoch_ms };
    const values = lived(day, epoch, random);
    if (notWorn.some((off) => epoch.from_ms < off.to_ms && off.from_ms < epoch.to_ms)) continue;
    readings.push({
      device: deviceOf(watch),
      series: "watch_epochs",
      stamp_ms,
      clock: clockQuality.synchronised,
      values,
    });
  }
  return { readings, notWorn };
}

/** On its charger two evenings of three, and some mornings forgotten beside the wash-basin. */
function takenOff(day: LivedDay, random: Random): Span[] {
  const at = (hour: number) => day.midnight_ms + Math.round((hour * 3_600_000) / epoch_ms) * epoch_ms;
  const spans: Span[] = [];
  const [charges, forgets] = [random.chance(0.65), random.chance(0.09)];
  if (forgets) spans.push({ from_ms: at(random.between(7, 7.6)), to_ms: at(random.between(11.5, 13.5)) });
  if (charges) spans.push({ from_ms: at(random.between(19.6, 20.2)), to_ms: at(random.between(20.9, 21.6)) });
  return spans;
}

function lived(day: LivedDay, epoch: Span, random: Random): Reading["values"] {
  const middle_ms = (epoch.from_ms + epoch.to_ms) / 2;
  const stay = day.stays.find((one) => during(middle_ms, one));
  const walks = day.walks_ms.filter((at_ms) => during(at_ms, epoch)).length;
  const [share, hall] = [random.next(), random.between(11, 19)];
  if (stay === undefined || (stay.asleep && walks === 0)) return values(0, sleepState(stay, middle_ms));
  const [low, high] = stay.asleep ? [2, 14] : stepsIn[stay.place];
  return values(Math.round(low + (high - low) * share ** 2 + walks * hall), wake);
}

function values(steps: number, sleepState: number): Reading["values"] {
  return {
    duration: epoch_ms / 1000,
    distance: Math.round(steps * stride_m * 10) / 10,
    steps,
    walkState: steps >= walking_steps_min ? 2 : 1,
    runState: 1,
    sleepState,
  };
}

/** Deep sleep comes early in each cycle of about ninety minutes, and the less of it the longer the night lasts. */
function sleepState(stay: Stay | undefined, at_ms: number): number {
  if (stay === undefined) return wake;
  const slept_min = (at_ms - stay.from_ms) / 60_000;
  if (slept_min < 12) return wake;
  const cycle = Math.floor(slept_min / 90);
  const within = (slept_min % 90) / 90;
  return within > 0.2 && within < 0.62 - cycle * 0.1 ? deep : light;
}

/** The watch's own records of its epochs, and of the times when it was not worn. */
export function blocksOf({ epochs, notWorn }: Buffers["watch"]): Block[] {
  const worn = epochs.map(({ stamp_ms, values: { steps, walkState, sleepState } }): Block => {
    const awake = walkState === 2 ? "WALKING" : "UNKNOWN";
    const activity = sleepState === deep ? "DEEP_SLEEP" : sleepState === light ? "LIGHT_SLEEP" : awake;
    return { end_ms: stamp_ms + epoch_ms, steps: Number(steps), activity };
  });
  const off = notWorn.flatMap(({ from_ms, to_ms }) =>
    Array.from({ length: Math.floor((to_ms - from_ms) / epoch_ms) }, (_, index): Block => {
      return { end_ms: from_ms + (index + 1) * epoch_ms, steps: 0, activity: "NOT_WORN" };
    }),
  );
  return [...worn, ...off].sort((one, other) => one.end_ms - other.end_ms);
}

/** The ten minutes that ended last: somebody who moves about the flat. */
export function blockNow(now_ms: number, random: Random): Block {
  const end_ms = Math.floor(now_ms / epoch_ms) * epoch_ms;
  return { end_ms, steps: Math.round(random.between(15, 140)), activity: "UNKNOWN" };
}

/** Steps in ten minutes, few to many. */
const stepsIn: Readonly<Record<Place, readonly [low: number, high: number]>> = {
  bedroom: [4, 40],
  bathroom: [4, 30],
  kitchen: [12, 120],
  living: [0, 45],
  away: [40, 900],
};

const epoch_ms = 600_000;
/** Default stride of the driver. */
const stride_m = 0.7;
const walking_steps_min = 250;
const [wake, light, deep] = [1, 2, 3] as const;
