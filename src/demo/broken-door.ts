import { day_ms, hour_ms } from "../durations.ts";
import type { Reading } from "../reading.ts";
import { brokenSensor, readingOf, zonestatus } from "./devices.ts";
import { during, type HomeOutages } from "./outages.ts";
import { Random } from "./random.ts";

/** Events of the door whose sensor has fallen silent, of a day before that: opened for some minutes, some times a day. */
export function brokenDoorOn(
  midnight_ms: number,
  seed: number,
  { powerCut, broken_ms }: HomeOutages,
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
    .filter(([at_ms]) => at_ms < broken_ms && !during(at_ms, powerCut))
    .map(([at_ms, event]) => readingOf(brokenSensor, "wirelesssensor_events", at_ms, { event }));
}

/** Hours of the day, so far from each other that the door is closed in between. */
const openedAround_h = [8.5, 12.2, 16, 19.5];
/** Behind those of the devices of `Telling`. */
const own_numbers = 6;
