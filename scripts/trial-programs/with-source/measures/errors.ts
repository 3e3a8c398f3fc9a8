import { hour_ms, isIn, joined, type LocalDay, overlap, type TimeSpan } from "../../../../src/base/time.ts";
import { dayNumber, weightOn } from "../../../../src/demo/daily-readings.ts";
import { type MealName, type SensorName, sensors } from "../../../../src/demo/devices.ts";
import { wornWatchLog } from "../../../../src/demo/history.ts";
import { activeMinutes, byPlace, changesOf, lasting, nightBefore, rooms } from "./lived.ts";
import type { SimulatedMonth } from "./simulated-month.ts";

/** A measure beside the life that was lived. */
export interface Tally {
  /** Differences of what was known: told minus true. */
  readonly errors: number[];
  unknown: number;
  /** Values that were told although the sensors they need were off for more than an eighth of the time. */
  guessed: number;
}

export type Tallies = Map<string, Tally>;

/** Adds the errors of a month to tallies, by the words of the table. */
export async function addErrors(month: SimulatedMonth, tallies: Tallies): Promise<void> {
  for (const compare of comparisons) await compare(month, (what) => tallyOf(tallies, what));
}

function tallyOf(tallies: Tallies, what: string): Tally {
  const known = tallies.get(what) ?? { errors: [], unknown: 0, guessed: 0 };
  tallies.set(what, known);
  return known;
}

type Comparison = (month: SimulatedMonth, tally: (what: string) => Tally) => Promise<void>;

function compared(tally: Tally, told: unknown, truth: number, off = 0): void {
  if (told === null || told === undefined) tally.unknown += 1;
  else {
    tally.errors.push(Number(told) - truth);
    if (off > off_max) tally.guessed += 1;
  }
}

const walls = ["bedroom-wall", "bathroom-wall", "kitchen-wall", "living-wall", "hall-wall"] as const;
const moving = sensors.flatMap(({ name, subtype }) => (subtype === "door" ? [] : [name]));

const roomDays: Comparison = async (month, tally) => {
  const rows = await month.rows("room_days");
  const stays = byPlace(month.stays);
  for (const [place, room] of Object.entries(rooms))
    for (const day of month.days) {
      const row = rows.find((one) => one.day === day.date && one.values["room"] === room);
      const own = stays.filter((stay) => stay.place === place);
      const [begun, lasted] = [own.filter((stay) => isIn(day, stay.from_ms)).length, lasting(own, day)];
      const who = guests(month, day);
      const off = offShare(month, day, [`${place}-wall` as SensorName]);
      compared(tally(`\`room_days.visits\`, a room and day${who}`), row?.values["visits"], begun, off);
      const all = Math.max(off, offShare(month, day, [...moving]));
      compared(
        tally(`\`room_days.minutes\`, a room and day, min${who}`),
        row?.values["minutes"],
        lasted,
        all,
      );
    }
};

const roomVisits: Comparison = async (month, tally) => {
  const rows = await month.rows("room_visits");
  for (const stay of byPlace(month.stays)) {
    const day = month.days.find((one) => isIn(one, stay.from_ms));
    if (day === undefined || stay.place === "away") continue;
    const room = rooms[stay.place];
    const row = rows.find(
      ({ at_ms, values }) => values["room"] === room && Math.abs(at_ms - stay.from_ms) < near_ms,
    );
    const off = offShare(month, stay, [...moving]);
    const truth = (stay.to_ms - stay.from_ms) / 60_000;
    compared(
      tally(`\`room_visits.dwell_min\`, a stay, min${guests(month, day)}`),
      row?.values["dwell_min"],
      truth,
      off,
    );
  }
};

const transitions: Comparison = async (month, tally) => {
  const rows = await month.rows("transitions");
  const changes = changesOf(byPlace(month.stays));
  for (const day of month.days) {
    const own = rows.filter((one) => one.day === day.date);
    for (const { values } of own) {
      const [from, to] = [String(values["fromroom"]), String(values["toroom"])];
      const truth = changes.filter(
        (one) => isIn(day, one.at_ms) && one.from === from && one.to === to,
      ).length;
      const off = offShare(month, day, sensorsOf(from, to));
      const what = `\`transitions\`, a pair of rooms and day${guests(month, day)}`;
      compared(tally(what), values["transitions"], truth, off);
    }
  }
};

const walks: Comparison = async (month, tally) => {
  const rows = await month.rows("walks");
  const lived = month.days.flatMap(({ date }) => month.lived.get(date)?.walks ?? []);
  for (const { at_ms, speed_m_s } of lived) {
    const row = rows.find((one) => one.at_ms >= at_ms && one.at_ms - at_ms < walk_ms);
    compared(tally("`walks.speed`, a walk, m/s"), row?.values["speed"], speed_m_s);
  }
  for (const row of rows)
    if (!lived.some(({ at_ms }) => row.at_ms >= at_ms && row.at_ms - at_ms < walk_ms))
      tally("`walks.speed`, a walk, m/s").guessed += 1;
};

const walkDays: Comparison = async (month, tally) => {
  const curtains = sensors.flatMap(({ name, subtype }) => (subtype === "curtain" ? [name] : []));
  for (const { day, values } of await month.rows("walk_days")) {
    const local = month.days.find(({ date }) => date === day);
    const walks = month.lived.get(day)?.walks;
    if (local === undefined || walks === undefined) continue;
    const off = Math.max(...curtains.map((name) => offShare(month, local, [name])));
    compared(tally("`walk_days.walks`, a day"), values["walks"], walks.length, off);
  }
};

const doses: Comparison = async (month, tally) => {
  const rows = await month.rows("doses");
  for (const [item, meal] of [
    ["pillbox-morning", "breakfast"],
    ["pillbox-evening", "supper"],
  ] as const satisfies readonly (readonly [string, MealName])[])
    for (const day of month.days) {
      const row = rows.find((one) => one.day === day.date && one.values["itemname"] === item);
      const at_ms = month.lived.get(day.date)?.doses[meal];
      const status = row?.values["status"];
      const isKnown = status === "taken" || status === "late" || status === "missed";
      const told = isKnown ? Number(status !== "missed") : null;
      const isCut = meal === "supper" && overlap(month.outages.powerCut, day);
      const off = status === "missed" && isCut ? 1 : 0;
      compared(tally("`doses.status`, a dose, 1 for taken"), told, Number(at_ms !== undefined), off);
      const at = row?.values["at"] ?? null;
      if (at !== null && at_ms !== undefined)
        compared(tally("`doses.at`, a dose taken, s"), at, Math.floor(at_ms / 1_000));
    }
};

const sleep: Comparison = async (month, tally) => {
  const asleep = month.stays.filter((stay) => stay.asleep);
  for (const { at_ms: from_ms, values } of await month.rows("sleep")) {
    const truth = lasting(asleep, { from_ms, to_ms: Number(values["stop"]) * 1_000 });
    compared(tally("`sleep.asleep_min`, an episode, min"), values["asleep_min"], truth);
  }
};

const nights: Comparison = async (month, tally) => {
  const asleep = month.stays.filter((stay) => stay.asleep);
  const byRooms = sensors.map(({ name }) => name);
  for (const only of [undefined, byRooms])
    for (const { day, values } of await month.rows("nights", only)) {
      const night = nightBefore(day, month);
      const own = asleep.filter((stay) => overlap(stay, night));
      const { source, breaks } = values;
      const off = source === "watch" ? 0 : offShare(month, nightBefore(day, month, [22, 7]), [...moving]);
      const field = source === "watch" ? "asleep_min" : "in_bed_min";
      const truth = lasting(own, night);
      compared(tally(`\`nights.${field}\`, a night by the ${source}, min`), values[field], truth, off);
      compared(tally(`\`nights.breaks\`, a night by the ${source}`), breaks, own.length - 1, off);
    }
};

const absences: Comparison = async (month, tally) => {
  const away = byPlace(month.stays).filter(({ place }) => place === "away");
  const witnesses: SensorName[] = ["front-door", ...moving];
  const rows = await month.rows("out_of_home");
  for (const day of month.days) {
    const row = rows.find((one) => one.day === day.date);
    const begun = away.filter((stay) => isIn(day, stay.from_ms)).length;
    const [who, off] = [guests(month, day), offShare(month, day, witnesses)];
    compared(tally(`\`out_of_home.outings\`, a day${who}`), row?.values["outings"], begun, off);
    compared(
      tally(`\`out_of_home.away_min\`, a day, min${who}`),
      row?.values["away_min"],
      lasting(away, day),
      off,
    );
  }
};

const activity: Comparison = async (month, tally) => {
  const active = activeMinutes(month);
  for (const { at_ms: from_ms, values } of await month.rows("activity")) {
    const hour = { from_ms, to_ms: from_ms + hour_ms };
    const off = offShare(month, hour, [...moving]);
    compared(tally("`activity.active_min`, an hour, min"), values["active_min"], active(hour), off);
  }
};

const weight: Comparison = async (month, tally) => {
  for (const { day, values } of await month.rows("weight_daily")) {
    if (values["weighings"] === 0) continue;
    const midnight_ms = month.lived.get(day)?.midnight_ms ?? 0;
    const truth = weightOn(dayNumber(midnight_ms)) / 1_000;
    compared(tally("`weight_daily.weight_kg`, a day with a weighing, kg"), values["weight_kg"], truth);
  }
};

const steps: Comparison = async (month, tally) => {
  for (const { day, values } of await month.rows("steps_daily")) {
    const lived = month.lived.get(day);
    if (lived === undefined) continue;
    const truth = wornWatchLog(month.seed, lived).reduce((sum, block) => sum + block.steps, 0);
    compared(tally("`steps_daily.steps`, a day, steps"), values["steps"], truth);
  }
};

const comparisons = [
  ...[
    roomVisits,
    roomDays,
    transitions,
    walks,
    walkDays,
    doses,
    sleep,
    nights,
    absences,
    activity,
    weight,
    steps,
  ],
];

function sensorsOf(...of: readonly string[]): SensorName[] {
  return walls.filter((wall) => of.some((room) => wall.startsWith(room.split(" ")[0] ?? room)));
}

/** The part of a span in which sensors of a room could tell nothing: of the room that was off the longest; the front door is as a room. */
function offShare({ outages }: SimulatedMonth, span: TimeSpan, of: readonly SensorName[]): number {
  const { powerCut, deadBattery } = outages;
  const offOf = (name: SensorName) => {
    const dead = name === deadBattery.sensor ? [deadBattery] : [];
    return lasting(joined([powerCut, ...dead]), span) / ((span.to_ms - span.from_ms) / 60_000);
  };
  const ofRooms = [...Map.groupBy(of, (name) => name.split("-")[0]).values()].map(
    (own) => own.reduce((sum, name) => sum + offOf(name), 0) / own.length,
  );
  return Math.max(...ofRooms);
}

/** Rows of days with visitors are apart: no sensor knows who is there. */
function guests({ lived }: SimulatedMonth, { date }: LocalDay): string {
  return lived.get(date)?.visit === undefined ? "" : ", with visitors";
}

/** More of the time off than this, and a number is a guess: a measure says unknown from a tenth on, and heartbeats tell some of the time late. */
const off_max = 1 / 8;
/** A stay begins when she is first seen, which in a room where she sleeps is later. */
const near_ms = 5 * 60_000;
const walk_ms = 20_000;
