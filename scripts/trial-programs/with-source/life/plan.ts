import { day_ms, hour_ms } from "../../../../src/base/time.ts";
import { below, seeded } from "../../../../testbed/sample.ts";

/** Something that is done to a life, at a time of its own and with draws of its own: a life without one step has all others unchanged. */
export interface Step {
  readonly at_ms: number;
  readonly home: number;
  readonly what: What;
  readonly seed: number;
}

export type What = keyof typeof perDay | "upload";

export interface Plan {
  readonly seed: number;
  readonly homes: number;
  readonly days: number;
  readonly start_ms: number;
  /** Days that homes keep after an upload; absent: all. */
  readonly keep_days: number | undefined;
  readonly steps: readonly Step[];
}

/** How often each thing happens to a home on a day, on average. */
const perDay = {
  visit: 14,
  /** A sensor that cannot stop. */
  burst: 0.3,
  pill: 5,
  poll: 6,
  time: 5,
  name: 0.4,
  restart: 0.3,
  kill: 0.4,
  cut: 0.7,
  clock: 0.25,
  networkFails: 0.3,
  troubled: 0.7,
  slow: 0.25,
  full: 0.2,
  failingSync: 0.1,
  extraUpload: 0.4,
  killUploader: 0.3,
  centralKill: 0.15,
  centralCut: 0.2,
  centralSlow: 0.1,
  centralBackup: 0.3,
  centralRestored: 0.05,
  loseCard: 0.1,
  erase: 0.08,
  move: 0.2,
} as const;

/** The plan of a seed. */
export function planOf(seed: number): Plan {
  const random = seeded(seed);
  const [homes, days] = [2, 4];
  const steps: Step[] = [];
  const add = (at_ms: number, home: number, what: What) =>
    steps.push({ at_ms: Math.round(at_ms), home, what, seed: below(random, 2 ** 31) });
  for (let home = 1; home <= homes; home += 1)
    for (let day = 0; day < days; day += 1) {
      for (const [what, rate] of Object.entries(perDay))
        for (let left = rate; left > 0; left -= 1)
          if (left >= 1 || random() < left) add((day + random()) * day_ms, home, what as What);
      add(day * day_ms + 20 * hour_ms + random() * hour_ms, home, "upload");
    }
  steps.sort((one, other) => one.at_ms - other.at_ms);
  return {
    seed,
    homes,
    days,
    start_ms: Date.UTC(2026, 9, 1) + below(random, 200) * day_ms,
    keep_days: random() < 0.6 ? below(random, 2) : undefined,
    steps,
  };
}
