import { expect, test } from "bun:test";
import { hour_ms, isIn, localDays } from "../../../src/base/time.ts";
import { derivedNames, derivedOf } from "../../../src/domain/derived/derived-table.ts";
import type {
  DerivedReading,
  DerivedRow,
  HomeData,
  HomeItem,
} from "../../../src/domain/derived/home-data.ts";
import { below, numbers } from "../../../testbed/numbers.ts";

const zone = "Europe/Berlin";
/** Six days, the third of which has 25 hours. */
const days = localDays(zone, {
  from_ms: Date.parse("2026-10-23T00:00+02:00"),
  to_ms: Date.parse("2026-10-29T00:00+01:00"),
});
const [from_ms, to_ms] = [days[0]?.from_ms ?? 0, days.at(-1)?.to_ms ?? 0];

/** A home in which everything happens at any time of day, and also to the millisecond at midnight. */
function homeOf(seed: number): HomeData {
  const random = numbers(seed);
  const times = (count: number) =>
    [
      ...Array.from({ length: count }, () => from_ms + below(random, to_ms - from_ms)),
      ...days.map((day) => day.from_ms),
    ].sort((one, other) => one - other);
  const item = (of: Partial<HomeItem> & Pick<HomeItem, "itemname" | "kind">): HomeItem => ({
    ...{ subtype: "null", room: null, role: null, readings: {}, patience_ms: hour_ms, first_ms: 0 },
    covered: [{ from_ms: from_ms - hour_ms, to_ms: to_ms + hour_ms }],
    ...of,
  });
  const events = (count: number, values: readonly number[]): DerivedReading[] =>
    times(count).map((at_ms) => [at_ms, values[below(random, values.length)] as number]);
  const sensor = (itemname: string, values: readonly number[], of: Partial<HomeItem>) =>
    item({
      itemname,
      kind: "wirelesssensors",
      readings: { wirelesssensor_events: events(60, values) },
      ...of,
    });
  const epochs: DerivedReading[] = [];
  for (let at_ms = from_ms; at_ms < to_ms; at_ms += 600_000)
    epochs.push([
      at_ms,
      600,
      7,
      10,
      0,
      0,
      below(random, 20) === 0 ? 1 : 2 + (Math.floor(at_ms / hour_ms) % 7),
    ]);
  return {
    ...{ zone, days, now_ms: to_ms + 2 * hour_ms },
    lines: [{ name: "hall", sensors: [0, 1, 2].map((metres) => ({ item: `curtain-${metres}`, metres })) }],
    items: [
      sensor("kitchen", [2, 2, 0], { subtype: "wall", room: "kitchen" }),
      sensor("bedroom", [2, 2, 0], { subtype: "wall", room: "bedroom" }),
      sensor("door", [1, 0], { subtype: "door", role: "front door" }),
      ...[0, 1, 2].map((metres) =>
        item({
          ...{ itemname: `curtain-${metres}`, kind: "wirelesssensors", subtype: "curtain" },
          readings: {
            wirelesssensor_events: days.flatMap((day): DerivedReading[] => [
              [day.from_ms + metres * 1_000, 2],
              [day.from_ms + metres * 1_000 + 500, 0],
            ]),
          },
        }),
      ),
      item({
        itemname: "box",
        kind: "pillboxes",
        readings: { pillbox_events: events(40, [0, 1, 2, 4, 8, 64]) },
      }),
      item({
        itemname: "scale",
        kind: "scales",
        readings: { scale_weights: events(20, [70_000, 70_500, 71_000]) },
      }),
      item({ itemname: "watch", kind: "watches", readings: { watch_epochs: epochs } }),
    ],
  };
}

/** When a row happened: sleep counts for the day on which it ended. */
function momentOf(name: string, { at_ms, values }: DerivedRow): number {
  return name === "sleep" ? Number(values["stop"]) * 1_000 - 1 : at_ms;
}

const text = (rows: readonly DerivedRow[]) => rows.map((row) => JSON.stringify(row)).toSorted();

test.each(derivedNames)(
  "%s: each row is of the day on which it was, the same whatever other days are asked for",
  (name) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const home = homeOf(seed);
      const { derive } = derivedOf(name);
      const rows = derive(home);
      expect(rows.length).toBeGreaterThan(0);
      for (const row of rows) {
        const day = days.find(({ date }) => date === row.day);
        expect({ row, isOfDay: day !== undefined && isIn(day, momentOf(name, row)) }).toEqual({
          row,
          isOfDay: true,
        });
      }
      expect(text(days.flatMap((day) => derive({ ...home, days: [day] })))).toEqual(text(rows));
    }
  },
);
