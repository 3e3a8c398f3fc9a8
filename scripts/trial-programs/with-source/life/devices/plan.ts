import { day_ms } from "../../../../../src/base/time.ts";
import { below, seeded } from "../../../../../testbed/sample.ts";

/** Something that is done to a home of devices, at a time of its own and with draws of its own. */
export interface Deed {
  readonly at_ms: number;
  readonly what: DeedName;
  readonly seed: number;
}

export type DeedName = keyof typeof perDay;

export interface DevicesPlan {
  readonly seed: number;
  readonly days: number;
  readonly start_ms: number;
  readonly steps: readonly Deed[];
}

/** How often each thing happens on a day, on average. */
const perDay = {
  sense: 40,
  measure: 24,
  airMeasure: 8,
  pill: 16,
  weigh: 5,
  kill: 0.6,
  cut: 0.4,
  restart: 0.3,
  leap: 0.3,
  unplug: 0.6,
  slow: 0.3,
} as const;

/** The plan of the life of a seed. */
export function devicesPlanOf(seed: number, days = 10): DevicesPlan {
  const random = seeded(seed);
  const steps: Deed[] = [];
  for (let day = 0; day < days; day += 1)
    for (const [what, rate] of Object.entries(perDay))
      for (let left: number = rate; left > 0; left -= 1)
        if (left >= 1 || random() < left)
          steps.push({
            at_ms: Math.round((day + random()) * day_ms),
            what: what as DeedName,
            seed: below(random, 2 ** 31),
          });
  steps.sort((one, other) => one.at_ms - other.at_ms);
  return { seed, days, start_ms: Date.UTC(2026, 9, 1) + below(random, 200) * day_ms, steps };
}
