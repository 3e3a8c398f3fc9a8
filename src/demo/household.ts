import { type Sensor, type SensorName, zonestatus } from "./flat.ts";
import type { Random } from "./random.ts";

/** One event of one sensor. */
export interface Happening {
  readonly at_ms: number;
  readonly sensor: SensorName;
  readonly zonestatus: number;
}

/**
 * Everything the sensors of the flat saw of one person living there, from midnight of the day that
 * `midnight_ms` begins to the next, in order: nights with a walk to the bathroom, meals, pills, errands, a nap, and
 * visitors on two days of the week. Times of day are this machine's.
 */
export function dayOf(midnight_ms: number, random: Random): Happening[] {
  const day = new Day(midnight_ms, random);
  day.night();
  for (const activity of routine) day.live(activity);
  const visit = visits[new Date(midnight_ms).getDay()];
  if (visit !== undefined) day.visit(visit);
  return day.happenings();
}

export type Place = "bedroom" | "bathroom" | "kitchen" | "living" | "away";

interface Activity {
  readonly place: Place;
  /** How long it lasts, in minutes, or the hour of the day until which it does. */
  readonly minutes?: readonly [number, number];
  readonly until?: readonly [number, number];
  /** On how many days of all it happens; every day unless said. */
  readonly chance?: number;
  readonly doors?: readonly SensorName[];
  /** Mean seconds between two movements that a sensor sees. */
  readonly stillness_s: number;
}

const routine: readonly Activity[] = [
  { place: "bathroom", minutes: [12, 22], stillness_s: 90 },
  {
    place: "kitchen",
    minutes: [25, 45],
    doors: ["fridge-door", "fridge-door", "medicine-door"],
    stillness_s: 70,
  },
  { place: "living", until: [9.6, 10.6], stillness_s: 200 },
  { place: "away", minutes: [45, 140], chance: 0.65, stillness_s: 0 },
  { place: "bathroom", minutes: [3, 7], stillness_s: 60 },
  { place: "kitchen", until: [12.6, 13.2], doors: ["fridge-door", "fridge-door"], stillness_s: 80 },
  { place: "bedroom", minutes: [35, 80], chance: 0.6, stillness_s: 900 },
  { place: "living", until: [15.2, 16], stillness_s: 240 },
  { place: "kitchen", minutes: [8, 15], doors: ["fridge-door"], stillness_s: 60 },
  { place: "away", minutes: [20, 60], chance: 0.25, stillness_s: 0 },
  { place: "living", until: [17.7, 18.4], stillness_s: 220 },
  {
    place: "kitchen",
    minutes: [35, 55],
    doors: ["fridge-door", "fridge-door", "fridge-door", "medicine-door"],
    stillness_s: 75,
  },
  { place: "bathroom", minutes: [4, 8], stillness_s: 70 },
  { place: "living", until: [21.9, 22.6], stillness_s: 320 },
  { place: "bathroom", minutes: [10, 18], stillness_s: 90 },
  { place: "bedroom", until: [24, 24], stillness_s: 1_500 },
];

/** Hours of visits by weekday, 0 Sunday: a nurse on Wednesdays, the family on Saturdays. */
const visits: Readonly<Record<number, readonly [from: number, to: number]>> = {
  3: [10.2, 10.9],
  6: [14.5, 17],
};

const hour_ms = 3_600_000;

class Day {
  readonly #midnight_ms: number;
  readonly #random: Random;
  readonly #happenings: Happening[] = [];
  #now_ms: number;
  #place: Place = "bedroom";

  constructor(midnight_ms: number, random: Random) {
    this.#midnight_ms = midnight_ms;
    this.#random = random;
    this.#now_ms = midnight_ms;
  }

  happenings(): Happening[] {
    const end_ms = this.#midnight_ms + 24 * hour_ms;
    return this.#happenings
      .filter(({ at_ms }) => at_ms < end_ms)
      .sort((one, other) => one.at_ms - other.at_ms);
  }

  /** Asleep until the morning, but for a walk or two to the bathroom. */
  night(): void {
    const asleep = 1_500;
    const wake_ms = this.#at(this.#random.between(6.3, 7.2));
    const walks = this.#random.pick([0, 1, 1, 2]);
    for (let walk = 0; walk < walks; walk++) {
      this.#stay("bedroom", this.#now_ms + this.#random.between(1.2, 2.8) * hour_ms, asleep);
      this.#go("bathroom");
      this.#stay("bathroom", this.#now_ms + this.#random.between(3, 6) * 60_000, 60);
      this.#go("bedroom");
    }
    this.#stay("bedroom", wake_ms, asleep);
  }

  live(activity: Activity): void {
    if (!this.#random.chance(activity.chance ?? 1)) return;
    this.#go(activity.place);
    const { minutes, until, doors = [] } = activity;
    const planned_ms =
      minutes === undefined
        ? this.#at(this.#random.between(...(until ?? [0, 0])))
        : this.#now_ms + this.#random.between(...minutes) * 60_000;
    // Who is late for what comes next still stays a moment.
    const end_ms = Math.max(planned_ms, this.#now_ms + 4 * 60_000);
    for (const door of doors) this.#door(door, this.#random.between(this.#now_ms, end_ms - 60_000));
    this.#stay(activity.place, end_ms, activity.stillness_s);
  }

  /** Guests: the door when they come and go, and people in two rooms at once. */
  visit([from, to]: readonly [number, number]): void {
    const come_ms = this.#at(from + this.#random.between(-0.2, 0.2));
    const go_ms = this.#at(to + this.#random.between(-0.2, 0.2));
    for (const at_ms of [come_ms, go_ms]) {
      this.#door("front-door", at_ms);
      this.#moves("hall-wall", at_ms + 2_000, at_ms + 60_000, 15);
    }
    this.#moves("living-wall", come_ms + 60_000, go_ms, 60);
    this.#moves("kitchen-wall", come_ms + 5 * 60_000, go_ms, 300);
  }

  #at(hour: number): number {
    return this.#midnight_ms + hour * hour_ms;
  }

  #stay(place: Place, until_ms: number, stillness_s: number): void {
    if (place !== "away") this.#moves(`${place}-wall`, this.#now_ms, until_ms, stillness_s);
    this.#now_ms = Math.max(this.#now_ms, until_ms);
  }

  /** Movements that a wall sensor sees by chance: each holds for a while, then is over. */
  #moves(sensor: SensorName, from_ms: number, until_ms: number, stillness_s: number): void {
    let at_ms = from_ms + this.#random.between(500, 4_000);
    while (at_ms < until_ms) {
      const hold_ms = this.#random.between(18_000, 45_000);
      this.#add(at_ms, sensor, zonestatus.wall.alarm);
      this.#add(at_ms + hold_ms, sensor, zonestatus.wall.idle);
      at_ms += hold_ms + this.#random.waiting(stillness_s * 1_000) + 1_000;
    }
  }

  #door(sensor: SensorName, at_ms: number): void {
    this.#add(at_ms, sensor, zonestatus.door.alarm);
    this.#add(at_ms + this.#random.between(3_000, 25_000), sensor, zonestatus.door.idle);
  }

  #go(place: Place): void {
    const steps = walk(this.#place, place, this.#random);
    for (const step of steps) this.#add(this.#now_ms + step.after_ms, step.sensor, step.zonestatus);
    // Arrived once the last sensor was passed; what falls quiet behind comes later.
    const passed = steps.filter(({ zonestatus: status }) => status !== zonestatus.wall.idle);
    this.#now_ms += Math.max(0, ...passed.map(({ after_ms }) => after_ms));
    this.#place = place;
  }

  #add(at_ms: number, sensor: SensorName, status: number): void {
    this.#happenings.push({ at_ms: Math.round(at_ms), sensor, zonestatus: status });
  }
}

/** An event `after_ms` after the walk began. */
export interface Step {
  readonly after_ms: number;
  readonly sensor: SensorName;
  readonly zonestatus: number;
}

/**
 * What the sensors see of a walk from one place to another. Between the quiet side of the flat (bedroom and
 * bathroom) and the other it leads along the hall, past the curtain sensors one after the other.
 */
export function walk(from: Place, to: Place, random: Random): Step[] {
  const steps: Step[] = [];
  const add = (after_ms: number, sensor: SensorName, status: number) =>
    steps.push({ after_ms: Math.round(after_ms), sensor, zonestatus: status });
  if (from === to) return steps;
  const quietSide = (place: Place) => place === "bedroom" || place === "bathroom";
  let after_ms = 0;
  if (quietSide(from) !== quietSide(to)) {
    const speed_m_s = random.between(0.65, 1.05);
    const line = quietSide(from) ? curtains : curtains.toReversed();
    add(0, "hall-wall", zonestatus.wall.alarm);
    for (const sensor of line) {
      after_ms += (curtain_distance_m / speed_m_s) * 1_000 * random.between(0.95, 1.05);
      add(after_ms, sensor, zonestatus.curtain.alarm);
      add(after_ms + random.between(2_000, 4_000), sensor, zonestatus.curtain.idle);
    }
    add(after_ms + random.between(15_000, 25_000), "hall-wall", zonestatus.wall.idle);
  }
  if (from === "away" || to === "away") {
    after_ms += random.between(2_000, 6_000);
    add(after_ms, "front-door", zonestatus.door.alarm);
    add(after_ms + random.between(4_000, 15_000), "front-door", zonestatus.door.idle);
  }
  return steps.sort((one, other) => one.after_ms - other.after_ms);
}

const curtains: readonly Sensor["name"][] = [
  "hall-curtain-1",
  "hall-curtain-2",
  "hall-curtain-3",
  "hall-curtain-4",
];
const curtain_distance_m = 0.75;
