import { expect, test } from "bun:test";
import { addErrors, type Tallies } from "../../../scripts/trial-programs/with-source/measures/errors.ts";
import { withMonth } from "../../../scripts/trial-programs/with-source/measures/simulated-month.ts";
import { machineTimezone } from "../../../src/base/timezone.ts";

test("the measures of a month of the demo are those of the life that was lived, and unknown where nobody could know", async () => {
  const tallies: Tallies = new Map();
  await withMonth({ year: 2026, month: 1, seed: 7, zone: machineTimezone() }, (month) =>
    addErrors(month, tallies),
  );
  const middles = new Map<string, number>();
  for (const [what, { errors, guessed }] of tallies) {
    expect([what, guessed]).toEqual([what, 0]);
    const sizes = errors.map(Math.abs).toSorted((one, other) => one - other);
    middles.set(what, sizes[Math.floor(sizes.length / 2)] ?? 0);
  }
  for (const [what, most] of Object.entries(bounds))
    expect([what, middles.get(what) ?? Number.NaN, most]).toSatisfy(([, middle]) => Number(middle) <= most);
  // The front door had an empty battery: no day of these has a number.
  expect(tallies.get("`out_of_home.away_min`, a day, min")?.unknown).toBeGreaterThan(2);
});

/** At most so far off is the middle value of each. */
const bounds: Readonly<Record<string, number>> = {
  "`room_visits.dwell_min`, a stay, min": 0.2,
  "`room_days.visits`, a room and day": 0,
  "`room_days.minutes`, a room and day, min": 0.5,
  "`transitions`, a pair of rooms and day": 0,
  "`walks.speed`, a walk, m/s": 0.03,
  "`walk_days.walks`, a day": 0,
  "`doses.status`, a dose, 1 for taken": 0,
  "`doses.at`, a dose taken, s": 0,
  "`sleep.asleep_min`, an episode, min": 30,
  "`nights.asleep_min`, a night by the watch, min": 45,
  "`nights.in_bed_min`, a night by the bedroom, min": 5,
  "`out_of_home.outings`, a day": 0,
  "`out_of_home.away_min`, a day, min": 1,
  "`activity.active_min`, an hour, min": 0,
  "`weight_daily.weight_kg`, a day with a weighing, kg": 0.2,
  "`steps_daily.steps`, a day, steps": 200,
};
