import { expect, test } from "bun:test";
import { hour_ms, localDays, type TimeSpan } from "../../../src/base/time.ts";
import { type DerivedName, derivedNames, derivedOf } from "../../../src/domain/derived/derived-table.ts";
import type { DerivedReading, HomeData, HomeItem } from "../../../src/domain/derived/home-data.ts";

const zone = "Europe/Berlin";
const day_ms = 24 * hour_ms;
/** Midnight in Berlin before 2026-11-03. */
const midnight = Date.UTC(2026, 10, 2, 23);
const at = (hour: number, minute = 0) => midnight + hour * hour_ms + minute * 60_000;
const two: TimeSpan = { from_ms: midnight, to_ms: midnight + 2 * day_ms };

function sensor(
  itemname: string,
  of: Partial<HomeItem>,
  events: readonly (readonly [number, number])[],
): HomeItem {
  return {
    itemname,
    kind: "wirelesssensors",
    subtype: "wall",
    room: null,
    role: null,
    readings: { wirelesssensor_events: events },
    covered: [{ from_ms: midnight - 5 * day_ms, to_ms: midnight + 5 * day_ms }],
    first_ms: midnight - 5 * day_ms,
    patience_ms: 3 * hour_ms,
    ...of,
  };
}

function derive(name: DerivedName, items: readonly HomeItem[], others: Partial<HomeData> = {}) {
  const home = {
    zone,
    days: localDays(zone, two),
    now_ms: midnight + 3 * day_ms,
    items,
    lines: [],
    ...others,
  };
  return derivedOf(name).derive(home);
}

/** Bathroom at 8, kitchen from 8:10, out by the front door at 9, back at 10. */
const moves = {
  bathroom: [
    [at(8), 2],
    [at(8, 1), 0],
    [at(8, 4), 2],
  ],
  kitchen: [
    [at(8, 10), 2],
    [at(8, 50), 2],
    [at(10, 1), 2],
  ],
  door: [
    [at(9), 1],
    [at(9, 1), 0],
    [at(10), 1],
    [at(10, 1), 0],
  ],
} as const;
const home = [
  sensor("bathroom-wall", { room: "bathroom" }, moves.bathroom),
  sensor("kitchen-wall", { room: "kitchen" }, moves.kitchen),
  sensor("front-door", { subtype: "door", role: "front door" }, moves.door),
];

test("a stay in a room lasts until somebody is seen elsewhere or the front door opens", () => {
  const stays = derive("room_visits", home).map(({ values }) => [values["room"], values["dwell_min"]]);
  expect(stays.slice(0, 2)).toEqual([
    ["bathroom", 10],
    ["kitchen", 50],
  ]);
});

test("a day without visits is 0 where its sensors were observed, and unknown where nobody listened", () => {
  const visitsIn = (items: readonly HomeItem[]) =>
    derive("room_days", items)
      .filter(({ values }) => values["room"] === "bathroom")
      .map(({ day, observed, values }) => [day, observed, values["visits"]]);
  expect(visitsIn(home)).toEqual([
    ["2026-11-03", 1, 1],
    ["2026-11-04", 1, 0],
  ]);
  const deaf = { ...home[0], covered: [{ from_ms: midnight, to_ms: at(24) }] } as HomeItem;
  expect(visitsIn([deaf, ...home.slice(1)])).toEqual([
    ["2026-11-03", 1, 1],
    ["2026-11-04", 0, null],
  ]);
});

test("sensors of movement, and a mat in the bed, give the same by either alarm", () => {
  const mat = sensor("mat", { subtype: "null", role: "bed" }, [
    [at(23), 2],
    [at(31), 0],
  ]);
  const ofSecond = [...home, mat];
  const ofFirst = ofSecond.map((item) => ({
    ...item,
    readings: {
      wirelesssensor_events: (item.readings.wirelesssensor_events ?? []).map(
        ([at_ms, event]): DerivedReading => [at_ms, event === 2 ? 1 : Number(event)],
      ),
    },
  }));
  for (const name of derivedNames) expect(derive(name, ofFirst)).toEqual(derive(name, ofSecond));
});

test("transitions count each ordered pair of rooms", () => {
  const counts = derive("transitions", home).map(({ day, values }) => [day, ...Object.values(values)]);
  expect(counts).toEqual([
    ["2026-11-03", "bathroom", "kitchen", 1],
    ["2026-11-03", "kitchen", "bathroom", 0],
    ["2026-11-04", "bathroom", "kitchen", 0],
    ["2026-11-04", "kitchen", "bathroom", 0],
  ]);
});

test("an absence is between two openings of the front door; a silence after one opening is somebody who rests", () => {
  expect(derive("outings", home).map(({ values }) => values["away_min"])).toEqual([60]);
  const rest = sensor("front-door", { subtype: "door", role: "front door" }, [[at(9), 1]]);
  expect(derive("outings", [...home.slice(0, 2), rest])).toEqual([]);
});

test("time that is noted as away is time out of home, whoever comes in meanwhile", () => {
  const away = [{ from_ms: at(9, 30), to_ms: at(30) }];
  const daysWith = (others: Partial<HomeData>) =>
    derive("out_of_home", home, others).map(({ values }) => [values["outings"], values["away_min"]]);
  expect(daysWith({})).toEqual([
    [1, 60],
    [0, 0],
  ]);
  expect(daysWith({ away })).toEqual([
    [1, 15 * 60],
    [0, 6 * 60],
  ]);
});

test("hours of a day whose clocks change are 25", () => {
  const autumn = { from_ms: Date.UTC(2026, 9, 24, 22), to_ms: Date.UTC(2026, 9, 25, 23) };
  const days = localDays(zone, autumn);
  const walls = [sensor("hall-wall", { first_ms: 0, covered: [{ from_ms: 0, to_ms: at(0) }] }, [])];
  const hours = derive("activity", walls, { days });
  expect(hours.map(({ values }) => values["hour"])).toEqual(Array.from({ length: 25 }, (_, hour) => hour));
  expect(hours.every(({ values }) => values["active_min"] === 0)).toBeTrue();
});

const scaleWith = (weights: readonly (readonly [hour: number, grams: number])[]) =>
  sensor(
    "scale",
    {
      kind: "scales",
      subtype: "null",
      readings: {
        scale_weights: weights.map(([hour, grams]): DerivedReading => [at(hour), grams]),
      },
    },
    [],
  );

test("weighings of strangers are left out of the weight of a day", () => {
  const own = [7, 31, 55, 79, 103].map((hour, index) => [hour, 67_000 + index * 100] as const);
  const rows = derive("weight_daily", [scaleWith([...own, [15, 81_900]])]);
  expect(rows.map(({ values }) => [values["weight_kg"], values["weighings"], values["strangers"]])).toEqual([
    [67, 2, 1],
    [67.1, 1, 0],
  ]);
});

test("the weight is unknown where too few weighings, or two people, leave open whose it is", () => {
  const weightsOf = (weights: Parameters<typeof scaleWith>[0]) =>
    derive("weight_daily", [scaleWith(weights)]).map(({ values }) => values["weight_kg"]);
  expect(weightsOf([[7, 67_000]])).toEqual([null, null]);
  const couple = [7, 8, 31, 32, 55, 56].map((hour) => [hour, hour % 24 === 7 ? 67_000 : 84_000] as const);
  expect(weightsOf(couple)).toEqual([null, null]);
});

test("steps are unknown on a day on which the watch was worn for less than ten hours", () => {
  const epochs: DerivedReading[] = [[at(10), 600, 20, 100, 2, 1, 1]];
  const worn = (hours: number) =>
    sensor(
      "watch",
      {
        kind: "watches",
        subtype: "null",
        readings: { watch_epochs: epochs },
        covered: [{ from_ms: midnight, to_ms: at(hours) }],
      },
      [],
    );
  const stepsOf = (hours: number) =>
    derive("steps_daily", [worn(hours)]).map(({ values }) => values["steps"]);
  expect(stepsOf(10)).toEqual([100, null]);
  expect(stepsOf(9)).toEqual([null, null]);
});

/** Somebody goes to bed at half past ten, and is in the kitchen again at half past seven. */
const bedroom = sensor("bedroom-wall", { room: "bedroom" }, [[at(22, 30), 2]]);
const kitchen = sensor("kitchen-wall", { room: "kitchen" }, [
  [at(22), 2],
  [at(31, 30), 2],
]);
const nightOf = (items: readonly HomeItem[]) =>
  derive("nights", items).find(({ day }) => day === "2026-11-04")?.values;

test("a night is told by the watch, or by the bedroom where the watch was not worn", () => {
  const asleep: DerivedReading[] = Array.from({ length: 8 }, (_, hour) => [
    at(23 + hour),
    3_600,
    0,
    0,
    1,
    1,
    2,
  ]);
  const watch = sensor("watch", { kind: "watches", subtype: "null", readings: { watch_epochs: asleep } }, []);
  expect(nightOf([watch, bedroom, kitchen])).toMatchObject({ source: "watch", asleep_min: 480 });
  const off = { ...watch, covered: [] };
  expect(nightOf([off, bedroom, kitchen])).toMatchObject({
    source: "bedroom",
    in_bed_min: 540,
    asleep_min: null,
  });
});

test.each([
  ["watch", [], 0],
  ["watch", [3], 1],
  ["bed", [], 0],
  ["bed", [3], 1],
])("a night by a %s has as many breaks as it was broken: after hours %j", (source, breaks, expected) => {
  const hours = Array.from({ length: 9 }, (_, hour) => hour).filter(
    (hour) => !(breaks as number[]).includes(hour),
  );
  const asleep = hours.map((hour): DerivedReading => [at(23 + hour), 3_600, 0, 0, 0, 0, 2]);
  const awake = (breaks as number[]).map((hour): DerivedReading => [at(23 + hour), 3_600, 0, 0, 0, 0, 1]);
  const epochs = [...asleep, ...awake].sort(([one], [other]) => one - other);
  const watch = sensor("watch", { kind: "watches", subtype: "null", readings: { watch_epochs: epochs } }, []);
  const inBed = [
    [at(23), 2],
    ...(breaks as number[]).flatMap((hour) => [
      [at(23 + hour), 0],
      [at(24 + hour), 2],
    ]),
    [at(32), 0],
  ];
  const bed = sensor("mat", { role: "bed" }, inBed as [number, number][]);
  const night = derive("nights", source === "watch" ? [watch] : [bed]).find(
    ({ day }) => day === "2026-11-04",
  );
  expect(night?.values).toMatchObject({ source, breaks: expected });
});

/** Epochs of an hour each, from an hour on, with the state of sleep of each. */
function watchWith(
  states: readonly number[],
  from_h: number,
  others: readonly DerivedReading[] = [],
): HomeItem {
  const epochs = states.map((state, hour): DerivedReading => [at(from_h + hour), 3_600, 0, 0, 1, 1, state]);
  const readings = { watch_epochs: [...epochs, ...others] };
  return sensor("watch", { kind: "watches", subtype: "null", readings }, []);
}

test("minutes of a stage that the watch tells none of are unknown, and 0 where it told the stage within two days", () => {
  const stagesOf = (watch: HomeItem) =>
    derive("sleep", [watch]).map(({ values }) => [
      values["asleep_min"],
      ...["light_min", "deep_min", "rem_min"].map((name) => values[name]),
    ]);
  expect(stagesOf(watchWith([2, 2, 3], 23))).toEqual([[180, 120, 60, null]]);
  const later = (hours: number): DerivedReading => [at(26 + hours), 3_600, 0, 0, 1, 1, 4];
  expect(stagesOf(watchWith([2, 2, 3], 23, [later(48)]))).toEqual([[180, 120, 60, 0]]);
  expect(stagesOf(watchWith([2, 2, 3], 23, [later(49)]))).toEqual([[180, 120, 60, null]]);
  const earlier = watchWith([4], -22);
  const [rem] = earlier.readings.watch_epochs ?? [];
  const both = [rem as DerivedReading, ...(watchWith([2, 2, 3], 23).readings.watch_epochs ?? [])];
  expect(stagesOf({ ...earlier, readings: { watch_epochs: both } })).toEqual([[180, 120, 60, 0]]);
});

test("a watch that tells no sleep makes no night without sleep: the bedroom tells of it, or nothing does", () => {
  const awake = watchWith(Array(30).fill(1), 12);
  const unknown = { start: null, stop: null, in_bed_min: null, asleep_min: null, breaks: null };
  expect(nightOf([awake])).toEqual({ source: "watch", ...unknown });
  expect(nightOf([awake, bedroom, kitchen])).toMatchObject({ source: "bedroom", in_bed_min: 540 });
  const dayBefore = watchWith([2, ...Array(47).fill(1)], -6);
  expect(nightOf([dayBefore])).toEqual({ source: "watch", ...unknown, asleep_min: 0, breaks: 0 });
});

const curtains = [0, 1, 2].map((metres) => ({ item: `curtain-${metres}`, metres }));
const curtain = (metres: number, seen: readonly number[], of: Partial<HomeItem> = {}) =>
  sensor(`curtain-${metres}`, { subtype: "curtain", ...of }, [
    ...seen.flatMap((at_ms) => [
      [at_ms + metres * 1_000, 2] as const,
      [at_ms + metres * 1_000 + 500, 0] as const,
    ]),
  ]);

test("a day without walks has 0 where each sensor of the line was observed, and is unknown where one was not", () => {
  const daysOf = (items: readonly HomeItem[], others: Partial<HomeData> = {}) =>
    derive("walk_days", items, { lines: [{ name: "hall", sensors: curtains }], ...others }).map(
      ({ day, observed, values }) => [day, observed, values["walks"], values["speed"]],
    );
  const line = [0, 1, 2].map((metres) => curtain(metres, [at(8), at(9)]));
  expect(daysOf(line)).toEqual([
    ["2026-11-03", 1, 2, 1],
    ["2026-11-04", 1, 0, null],
  ]);
  const dead = curtain(2, [at(8), at(9)], { covered: [{ from_ms: midnight, to_ms: at(30) }] });
  expect(daysOf([...line.slice(0, 2), dead])).toEqual([
    ["2026-11-03", 1, 2, 1],
    ["2026-11-04", 0.25, null, null],
  ]);
  expect(daysOf(line, { now_ms: at(47) }).at(-1)).toEqual(["2026-11-04", 1, null, null]);
});

test("a dose has its prescribed hour, and how long before or after it it was taken", () => {
  const box = (due: string | undefined): HomeItem =>
    sensor(
      "box",
      {
        ...{ kind: "pillboxes", subtype: "null", due },
        // Tuesday's door at half past seven, Wednesday's at twenty past midnight of the next day.
        readings: {
          pillbox_events: [
            [at(7, 30), 4],
            [at(7, 31), 0],
            [at(48, 20), 8],
            [at(48, 21), 0],
          ],
        },
      },
      [],
    );
  const dosesBy = (due: string | undefined) =>
    derive("doses", [box(due)]).map(({ values }) => [
      values["status"],
      values["prescribed"],
      values["off_min"],
    ]);
  expect(dosesBy("08:00")).toEqual([
    ["taken", "08:00", -30],
    ["late", "08:00", 980],
  ]);
  expect(dosesBy(undefined)).toEqual([
    ["taken", null, null],
    ["late", null, null],
  ]);
});
