import { hour_ms } from "../durations.ts";
import { measureOf } from "../quantities.ts";
import type { Reading } from "../reading.ts";
import { readingOf, type SensorName, sensorNamed } from "./devices.ts";
import type { LivedDay, TimeSpent } from "./household.ts";
import type { Random } from "./random.ts";

/** Wall sensors that also tell how warm and how damp the room is, each at its own minute of every ten. */
const measuring: readonly { readonly sensor: SensorName; readonly usual: readonly [number, number] }[] = [
  { sensor: "bedroom-wall", usual: [18.5, 48] },
  { sensor: "bathroom-wall", usual: [21.5, 55] },
];

/** Measures of a day: warmer in the afternoon, and damp in the bathroom for an hour after somebody was there for long. */
export function climateOn(day: LivedDay, random: Random): Reading[] {
  return measuring.flatMap(({ sensor, usual: [warm, damp] }, index) => {
    const drift = random.between(-0.6, 0.6);
    return Array.from({ length: (24 * hour_ms) / period_ms }, (_, step): Reading[] => {
      const at_ms = day.midnight_ms + step * period_ms + (index * 3 + 1) * 60_000 + random.between(0, 900);
      const hour = (at_ms - day.midnight_ms) / hour_ms;
      const sun = Math.max(0, Math.sin(((hour - 8) / 12) * Math.PI));
      const steam = sensor === "bathroom-wall" ? steamAt(at_ms, day.stays) : 0;
      const temperature = warm + drift + 1.6 * sun + 1.2 * steam + random.between(-0.05, 0.05);
      const humidity = damp - 4 * sun + 30 * steam + random.between(-0.4, 0.4);
      return [
        readingOf(
          sensorNamed(sensor),
          climateSeries,
          at_ms,
          measureOf("temperature", hundredths(temperature)),
        ),
        readingOf(sensorNamed(sensor), climateSeries, at_ms, measureOf("humidity", hundredths(humidity))),
      ];
    }).flat();
  });
}

/** 1 when somebody has just showered, and less with each minute since. */
function steamAt(at_ms: number, stays: readonly TimeSpent[]): number {
  const showers = stays.filter(
    ({ place, from_ms, to_ms }) => place === "bathroom" && to_ms - from_ms > shower_ms,
  );
  const since_ms = Math.min(
    ...showers.map(({ to_ms }) => at_ms - to_ms).filter((since) => since >= 0),
    Infinity,
  );
  return Math.exp(-since_ms / hour_ms);
}

/** As such sensors count. */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

const climateSeries = "wirelesssensor_measures";
const period_ms = 600_000;
/** Nobody is in the bathroom for so long without hot water. */
const shower_ms = 9 * 60_000;
