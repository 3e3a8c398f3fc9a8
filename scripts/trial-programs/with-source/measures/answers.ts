import { isIn, type LocalDay, timeOfDate_ms } from "../../../../src/base/time.ts";
import { dayNumber, weightOn } from "../../../../src/demo/daily-readings.ts";
import { sensors } from "../../../../src/demo/devices.ts";
import { wornWatchLog } from "../../../../src/demo/history.ts";
import type { DerivedName } from "../../../../src/domain/derived/derived-table.ts";
import type { DerivedRow } from "../../../../src/domain/derived/home-data.ts";
import { quartilesOf } from "../../../../src/domain/derived/quartiles.ts";
import { activeMinutes, byPlace, changesOf, lasting, nightBefore } from "./lived.ts";
import type { SimulatedMonth } from "./simulated-month.ts";

/** A number of the life that was lived, and by how much a measure of it may be off. */
export interface TrueAnswer {
  readonly of: string;
  readonly truth: number;
  readonly within: number;
  /** Days that it is of, or doses. */
  readonly known: number;
}

/**
 * Answers to the questions of docs/cookbook.md in their order, by the life of a month: of the days that a measure knows, and
 * not by what it says of them.
 */
export async function trueAnswers(month: SimulatedMonth): Promise<TrueAnswer[]> {
  const { lived, seed, zone } = month;
  const known = async (name: DerivedName, field: string, only: DerivedRow["values"] = {}) => {
    const rows = (await month.rows(name)).filter(({ values }) =>
      Object.entries(only).every(([own, value]) => values[own] === value),
    );
    const days = new Set(rows.flatMap(({ day, values }) => (values[field] === null ? [] : [day])));
    return month.days.filter(({ date }) => days.has(date));
  };
  const aDay = (days: readonly LocalDay[], of: (day: LocalDay) => number) => {
    if (days.length < known_days_min) throw new Error(`only ${days.length} days are known`);
    return { truth: days.reduce((sum, day) => sum + of(day), 0) / days.length, known: days.length };
  };
  const begun = (all: readonly number[], day: LocalDay) => all.filter((at_ms) => isIn(day, at_ms)).length;
  const stays = byPlace(month.stays);
  const inBathroom = stays.flatMap(({ place, from_ms }) => (place === "bathroom" ? [from_ms] : []));
  const away = stays.filter(({ place }) => place === "away");
  const way = { fromroom: "bedroom", toroom: "bathroom" };
  const ways = changesOf(stays).filter(({ from, to }) => from === way.fromroom && to === way.toroom);
  const speeds = month.days.flatMap(({ date }) => lived.get(date)?.walks.map((walk) => walk.speed_m_s) ?? []);
  const doses = (await month.rows("doses")).filter(
    ({ values }) => !["unknown", "due"].includes(String(values["status"])),
  );
  const forgotten = doses.filter(({ day, values }) => {
    const meal = values["itemname"] === "pillbox-morning" ? "breakfast" : "supper";
    return lived.get(day)?.doses[meal] === undefined;
  });
  const asleep = month.stays.filter((one) => one.asleep);
  const active = activeMinutes(month);
  const at = (date: string, hour: number) => timeOfDate_ms(zone, date, hour * 60);
  const steps = ({ date }: LocalDay) => {
    const day = lived.get(date);
    return day === undefined ? 0 : wornWatchLog(seed, day).reduce((sum, block) => sum + block.steps, 0);
  };
  const weighed = (await known("weight_daily", "weight_kg")).map(({ from_ms }) => dayNumber(from_ms));
  return [
    {
      of: "visits to the bathroom a day",
      ...aDay(await known("room_days", "visits", { room: "bathroom" }), (day) => begun(inBathroom, day)),
      // Guests in another room cut a stay in two.
      within: 0.2,
    },
    {
      of: "walking speed, m/s",
      truth: quartilesOf(speeds)?.median ?? Number.NaN,
      within: 0.008,
      known: (await known("walks", "speed")).length,
    },
    {
      of: "share of doses missed",
      truth: forgotten.length / doses.length,
      within: 0.0001,
      known: doses.length,
    },
    {
      of: "hours asleep in a night",
      ...aDay(
        await known("nights", "asleep_min", { source: "watch" }),
        ({ date }) => lasting(asleep, nightBefore(date, month)) / 60,
      ),
      // The watch tells no sleep in the first twelve minutes, nor after each break.
      within: 0.5,
    },
    {
      of: "change of weight in a week, kg",
      truth: 7 * slopeOf(weighed.map((day) => [day, weightOn(day) / 1_000])),
      within: 0.05,
      known: weighed.length,
    },
    {
      of: "hours away a day",
      ...aDay(await known("out_of_home", "away_min"), (day) => lasting(away, day) / 60),
      // Guests who come while she is out are somebody at home.
      within: 0.15,
    },
    // Steps are a lower bound: the watch lies on its charger in most evenings.
    { of: "steps a day", ...aDay(await known("steps_daily", "steps"), steps), within: 500 },
    {
      of: "active minutes from two to five",
      ...aDay(await known("activity", "active_min", { hour: 3 }), ({ date }) =>
        active({ from_ms: at(date, 2), to_ms: at(date, 5) }),
      ),
      within: 0.01,
    },
    {
      of: "ways from the bedroom to the bathroom a day",
      ...aDay(await known("transitions", "transitions", way), (day) =>
        begun(
          ways.map(({ at_ms }) => at_ms),
          day,
        ),
      ),
      within: 0.01,
    },
    {
      of: "share of the time listened to",
      truth: listenedShare(month),
      within: 0.001,
      known: month.days.length,
    },
  ];
}

/** Of all sensors, the one that breaks among them. */
function listenedShare({ days, outages: { powerCut, deadBattery, broken_ms } }: SimulatedMonth): number {
  const [first, last] = [days[0]?.from_ms ?? 0, days.at(-1)?.to_ms ?? 0];
  const whole = { from_ms: first, to_ms: last };
  const broken = { from_ms: broken_ms, to_ms: last };
  const count = sensors.length + 1;
  const missing = count * lasting([powerCut], whole) + lasting([deadBattery, broken], whole);
  return 1 - missing / (count * lasting([whole], whole));
}

/** By least squares. */
function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, one) => sum + one, 0) / values.length;
  const middle = mean(points.map(([x]) => x));
  const spread = mean(points.map(([x]) => (x - middle) ** 2));
  return mean(points.map(([x, y]) => (x - middle) * y)) / spread;
}

const known_days_min = 20;
