import { hour_ms, type TimeSpan } from "../base/time.ts";
import { curtains, type MealName, type SensorName, zonestatus } from "./devices.ts";
import type { Random } from "./random.ts";

/** One event of one sensor. */
export interface SensorEvent {
  readonly at_ms: number;
  readonly sensor: SensorName;
  readonly zonestatus: number;
}

/** A stay in one place. */
export interface TimeSpent extends TimeSpan {
  readonly place: FlatPlace;
  readonly asleep: boolean;
}

/** A walk along the hall: when she set out, and how fast she went. */
export interface LivedWalk {
  readonly at_ms: number;
  readonly speed_m_s: number;
}

/** A day as it was lived: what the flat's sensors saw, and what the other devices will have noticed. */
export interface LivedDay {
  readonly midnight_ms: number;
  /** 0 Sunday. */
  readonly weekday: number;
  /** In order. */
  readonly events: readonly SensorEvent[];
  /** In order, from midnight to midnight, without the moments of walking between. */
  readonly stays: readonly TimeSpent[];
  /** When the medicine of a meal was taken; a meal whose dose was forgotten has none. */
  readonly doses: Readonly<Partial<Record<MealName, number>>>;
  /** Walks along the hall, in order. */
  readonly walks: readonly LivedWalk[];
  readonly visit?: TimeSpan;
  /** 0 to 1: short nights with many walks are bad ones, and slow the day after. */
  readonly restedness: number;
}

/**
 * One person's day, from midnight of the day that `midnight_ms` begins to the next: a night with a walk to the
 * bathroom, meals, pills, errands, a nap, and visitors on two days of the week. Times of day are this machine's.
 */
export function dayOf(midnight_ms: number, random: Random): LivedDay {
  const day = new Day(midnight_ms, random);
  day.night();
  for (const activity of routine) day.live(activity);
  const visit = visits[new Date(midnight_ms).getDay()];
  if (visit !== undefined) day.visit(visit);
  return day.lived();
}

interface RoutineActivity {
  readonly place: FlatPlace;
  /** How long it lasts, in minutes, or the hour of the day until which it does. */
  readonly minutes?: readonly [number, number];
  readonly until?: readonly [number, number];
  /** On how many days of all it happens; every day unless said. */
  readonly chance?: number;
  readonly doors?: readonly SensorName[];
  /** The meal whose medicine belongs here; with `forgetting`, how often it is not thought of. */
  readonly medicine?: { readonly meal: MealName; readonly forgetting: number };
  /** Mean seconds between two movements that a sensor sees. */
  readonly stillness_s: number;
}

/** Seconds between the movements of somebody who sleeps. */
const asleep_s = 1_500;

const routine: readonly RoutineActivity[] = [
  { place: "bathroom", minutes: [12, 22], stillness_s: 90 },
  {
    place: "kitchen",
    minutes: [25, 45],
    doors: ["fridge-door", "fridge-door"],
    medicine: { meal: "breakfast", forgetting: 0.05 },
    stillness_s: 70,
  },
  { place: "living", until: [9.6, 10.6], stillness_s: 200 },
  { place: "away", minutes: [45, 140], chance: 0.65, stillness_s: 0 },
  { place: "bathroom", minutes: [3, 7], stillness_s: 60 },
  { place: "kitchen", until: [12.6, 13.2], doors: ["fridge-door", "fridge-door"], stillness_s: 80 },
  { place: "bedroom", minutes: [35, 80], chance: 0.6, stillness_s: asleep_s },
  { place: "living", until: [15.2, 16], stillness_s: 240 },
  { place: "kitchen", minutes: [8, 15], doors: ["fridge-door"], stillness_s: 60 },
  { place: "away", minutes: [20, 60], chance: 0.25, stillness_s: 0 },
  { place: "living", until: [17.7, 18.4], stillness_s: 220 },
  {
    place: "kitchen",
    minutes: [35, 55],
    doors: ["fridge-door", "fridge-door", "fridge-door"],
    medicine: { meal: "supper", forgetting: 0.18 },
    stillness_s: 75,
  },
  { place: "bathroom", minutes: [4, 8], stillness_s: 70 },
  { place: "living", until: [21.2, 21.8], stillness_s: 320 },
  // Sometimes the dose forgotten at supper is taken with the last glass of water.
  {
    place: "kitchen",
    minutes: [4, 9],
    medicine: { meal: "supper", forgetting: 0.5 },
    stillness_s: 60,
  },
  { place: "living", until: [22, 22.6], stillness_s: 320 },
  { place: "bathroom", minutes: [10, 18], stillness_s: 90 },
  { place: "bedroom", until: [24, 24], stillness_s: asleep_s },
];

/** Hours of visits by weekday, 0 Sunday: a nurse on Wednesdays, the family on Saturdays. */
const visits: Readonly<Record<number, readonly [from: number, to: number]>> = {
  3: [10.2, 10.9],
  6: [14.5, 17],
};

class Day {
  readonly #midnight_ms: number;
  readonly #random: Random;
  readonly #events: SensorEvent[] = [];
  readonly #stays: TimeSpent[] = [];
  readonly #doses: Partial<Record<MealName, number>> = {};
  readonly #walks: LivedWalk[] = [];
  #visit: TimeSpan | undefined;
  #now_ms: number;
  #place: FlatPlace = "bedroom";
  #restedness = 1;
  #pace_m_s = usualPace_m_s;

  constructor(midnight_ms: number, random: Random) {
    this.#midnight_ms = midnight_ms;
    this.#random = random;
    this.#now_ms = midnight_ms;
  }

  lived(): LivedDay {
    const end_ms = this.#midnight_ms + 24 * hour_ms;
    return {
      midnight_ms: this.#midnight_ms,
      weekday: new Date(this.#midnight_ms).getDay(),
      events: this.#events
        .filter(({ at_ms }) => at_ms < end_ms)
        .sort((one, other) => one.at_ms - other.at_ms),
      stays: this.#stays,
      doses: this.#doses,
      walks: this.#walks,
      visit: this.#visit,
      restedness: this.#restedness,
    };
  }

  /** Asleep until the morning, but for a walk or two to the bathroom. */
  night(): void {
    const wake_ms = this.#at(this.#random.between(6.3, 7.2));
    const walks = this.#random.pick([0, 1, 1, 2]);
    this.#restedness = Math.max(0, 1 - walks * 0.3 - this.#random.between(0, 0.35));
    // Half asleep and in the dark.
    this.#pace_m_s = usualPace_m_s * this.#random.between(0.8, 0.9);
    for (let walk = 0; walk < walks; walk++) {
      this.#stay("bedroom", this.#now_ms + this.#random.between(1.2, 2.8) * hour_ms, asleep_s);
      this.#go("bathroom");
      this.#stay("bathroom", this.#now_ms + this.#random.between(3, 6) * 60_000, 60);
      this.#go("bedroom");
    }
    this.#stay("bedroom", wake_ms, asleep_s);
    this.#pace_m_s = usualPace_m_s + (this.#restedness - 0.5) * 0.14 + this.#random.between(-0.05, 0.05);
  }

  live(activity: RoutineActivity): void {
    if (!this.#random.chance(activity.chance ?? 1)) return;
    this.#go(activity.place);
    const { minutes, until, doors = [] } = activity;
    const planned_ms =
      minutes === undefined
        ? this.#at(this.#random.between(...(until ?? [0, 0])))
        : this.#now_ms + this.#random.between(...minutes) * 60_000;
    // Also when the next activity is due already, she stays a moment.
    const end_ms = Math.max(planned_ms, this.#now_ms + 4 * 60_000);
    for (const door of doors) this.#door(door, this.#random.between(this.#now_ms, end_ms - 60_000));
    if (activity.medicine !== undefined) this.#medicine(activity.medicine, this.#now_ms, end_ms);
    this.#stay(activity.place, end_ms, activity.stillness_s);
  }

  /** The cupboard, and the box in it, unless it is forgotten or done already; more easily after a bad night. */
  #medicine(
    { meal, forgetting }: { meal: MealName; forgetting: number },
    from_ms: number,
    to_ms: number,
  ): void {
    const forgotten = this.#random.chance(forgetting * (1.5 - this.#restedness));
    if (forgotten || this.#doses[meal] !== undefined) return;
    const at_ms = this.#random.between(from_ms + 40_000, to_ms - 90_000);
    this.#door("medicine-door", at_ms);
    this.#doses[meal] = Math.round(at_ms + this.#random.between(4_000, 15_000));
  }

  /** Guests: the door when they come and go, and people in two rooms at once. */
  visit([from, to]: readonly [number, number]): void {
    const come_ms = this.#at(from + this.#random.between(-0.2, 0.2));
    const go_ms = this.#at(to + this.#random.between(-0.2, 0.2));
    this.#visit = { from_ms: come_ms, to_ms: go_ms };
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

  #stay(place: FlatPlace, until_ms: number, stillness_s: number): void {
    if (place !== "away") this.#moves(`${place}-wall`, this.#now_ms, until_ms, stillness_s);
    const to_ms = Math.max(this.#now_ms, until_ms);
    this.#stays.push({ place, from_ms: this.#now_ms, to_ms, asleep: stillness_s === asleep_s });
    this.#now_ms = to_ms;
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

  #go(place: FlatPlace): void {
    const pace_m_s = this.#pace_m_s * this.#random.between(0.95, 1.05);
    const { steps, speed_m_s } = walk(this.#place, place, this.#random, pace_m_s);
    if (speed_m_s !== undefined) this.#walks.push({ at_ms: this.#now_ms, speed_m_s });
    for (const step of steps) this.#add(this.#now_ms + step.after_ms, step.sensor, step.zonestatus);
    // Arrived once the last sensor was passed; what falls quiet behind comes later.
    const passed = steps.filter(({ zonestatus: status }) => status !== zonestatus.wall.idle);
    this.#now_ms += Math.max(0, ...passed.map(({ after_ms }) => after_ms));
    this.#place = place;
  }

  #add(at_ms: number, sensor: SensorName, status: number): void {
    this.#events.push({ at_ms: Math.round(at_ms), sensor, zonestatus: status });
  }
}

export type FlatPlace = "bedroom" | "bathroom" | "kitchen" | "living" | "away";

/** An event `after_ms` after the walk began. */
export interface WalkEvent {
  readonly after_ms: number;
  readonly sensor: SensorName;
  readonly zonestatus: number;
}

/**
 * Sensor events of a walk from one place to another at about `pace_m_s`. A walk between the bedroom or bathroom and the
 * rest of the flat leads along the hall, past the curtain sensors one after the other, and has its speed there.
 */
export function walk(
  from: FlatPlace,
  to: FlatPlace,
  random: Random,
  pace_m_s = usualPace_m_s,
): { steps: WalkEvent[]; speed_m_s?: number } {
  const steps: WalkEvent[] = [];
  const add = (after_ms: number, sensor: SensorName, status: number) =>
    steps.push({ after_ms: Math.round(after_ms), sensor, zonestatus: status });
  if (from === to) return { steps };
  let after_ms = 0;
  let speed_m_s: number | undefined;
  if (alongHall(from, to)) {
    speed_m_s = pace_m_s * random.between(0.92, 1.08);
    const passed = quietSide(from) ? curtains : curtains.toReversed();
    const start_m = passed[0]?.metres ?? 0;
    add(0, "hall-wall", zonestatus.wall.alarm);
    const first_ms = random.between(400, 900);
    for (const { item, metres } of passed) {
      // A sensor fires where its narrow view is first crossed, now a bit earlier and now a bit later.
      after_ms = first_ms + (Math.abs(metres - start_m) / speed_m_s) * 1_000 + random.between(-60, 60);
      add(after_ms, item, zonestatus.curtain.alarm);
      add(after_ms + random.between(2_000, 4_000), item, zonestatus.curtain.idle);
    }
    add(after_ms + random.between(15_000, 25_000), "hall-wall", zonestatus.wall.idle);
  }
  if (from === "away" || to === "away") {
    after_ms += random.between(2_000, 6_000);
    add(after_ms, "front-door", zonestatus.door.alarm);
    add(after_ms + random.between(4_000, 15_000), "front-door", zonestatus.door.idle);
  }
  steps.sort((one, other) => one.after_ms - other.after_ms);
  return { steps, ...(speed_m_s !== undefined && { speed_m_s }) };
}

/** Whether the way leads past the curtain sensors. */
export function alongHall(from: FlatPlace, to: FlatPlace): boolean {
  return quietSide(from) !== quietSide(to);
}

function quietSide(place: FlatPlace): boolean {
  return place === "bedroom" || place === "bathroom";
}

export const usualPace_m_s = 0.85;
