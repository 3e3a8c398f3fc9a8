import { day_ms, hour_ms } from "../../../../../src/base/time.ts";
import { below, seeded } from "../../../../../testbed/sample.ts";

/** Something that is done to a home, at a time of its own and with draws of its own. */
export interface ConsentStep {
  readonly at_ms: number;
  readonly home: number;
  readonly what: ConsentDeed;
  readonly seed: number;
}

export type ConsentDeed = keyof typeof perDay | keyof typeof perYear;

export interface ConsentSize {
  readonly homes: number;
  readonly days: number;
  /** The URL of an empty database of PostgreSQL for central; absent: it has SQLite. */
  readonly database?: string | undefined;
}

export interface ConsentPlan extends ConsentSize {
  readonly seed: number;
  readonly start_ms: number;
  /** Where all homes of the life are. */
  readonly zone: string;
  readonly steps: readonly ConsentStep[];
}

/** How often each thing happens to a home on a day, on average. */
const perDay = { visit: 1, pill: 0.5, poll: 0.5, upload: 0.7, look: 0.1 } as const;

/** The same in a year. What is rare comes as often in a short life as in one of `rare_days`. */
const perYear = {
  pause: 9,
  pauseFor: 9,
  pauseKind: 6,
  press: 9,
  resume: 24,
  centralPause: 4,
  centralResume: 10,
  withdraw: 2,
  withdrawDevices: 2,
  again: 6,
  enrollmentEnds: 3,
  enrollmentOfOneEnds: 2,
  prolong: 8,
  handOver: 3,
  restrict: 3,
  lift: 4,
  erase: 1,
  restart: 12,
  kill: 6,
  cut: 10,
  leap: 8,
  time: 20,
  networkFails: 8,
  loseCard: 2,
  backup: 12,
  restoreBackup: 3,
  centralBackup: 4,
  centralRestored: 1,
  centralKill: 2,
} as const;

/** The plan of the life of a seed: so many homes, for so many days. */
export function consentPlanOf(seed: number, { homes, days, database }: ConsentSize): ConsentPlan {
  const random = seeded(seed);
  const steps: ConsentStep[] = [];
  const perDayOf = {
    ...perDay,
    ...Object.fromEntries(
      Object.entries(perYear).map(([what, rate]) => [
        what,
        rate / Math.min(365, Math.max(days, rare_days(seed))),
      ]),
    ),
  };
  for (let home = 1; home <= homes; home += 1)
    for (let day = 0; day < days; day += 1)
      for (const [what, rate] of Object.entries(perDayOf))
        for (let left: number = rate; left > 0; left -= 1)
          if (left >= 1 || random() < left)
            steps.push({
              at_ms: Math.round((day + random()) * day_ms),
              home,
              what: what as ConsentDeed,
              seed: below(random, 2 ** 31),
            });
  steps.sort((one, other) => one.at_ms - other.at_ms);
  const zone = zones[below(random, zones.length)] as string;
  // A short life begins days before the clocks change.
  const start_ms = days < short_days ? (changes_ms[below(random, 2)] ?? 0) : Date.UTC(2026, 9, 1);
  return { seed, homes, days, database, start_ms: start_ms + below(random, 24) * hour_ms, zone, steps };
}

/** Where clocks change by an hour, by half an hour, at midnight, and not at all. */
const zones = [
  "Europe/Berlin",
  "America/Los_Angeles",
  "Australia/Lord_Howe",
  "America/Santiago",
  "Asia/Kolkata",
];
const changes_ms = [Date.UTC(2026, 9, 22), Date.UTC(2027, 2, 25)];
/** Days of a short life that would be as eventful as a year. In every third one less happens at once, so that more must be there. */
const rare_days = (seed: number) => (seed % 3 === 0 ? 80 : 20);
const short_days = 40;
