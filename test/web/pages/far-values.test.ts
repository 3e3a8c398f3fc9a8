import { expect, test } from "bun:test";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { reading } from "../../../testbed/sample.ts";
import { now_ms, scale, scalePath, zone } from "./device-history.ts";
import { serveHome } from "./device-home.ts";

test("weights that are far from all others are told, and do not make a flat line of these", async () => {
  await using serving = await serveHome({ now_ms, home: 12, zone });
  const none = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
  const weigh = (days: number, weight: number) =>
    reading(scale, "scale_weights", now_ms - days * day_ms, { weight, ...none });
  await serving.store.append(Array.from({ length: 20 }, (_, at) => weigh(21 - at, 68_000 + (at % 5) * 100)));
  const said = async () => await (await serving.ask(`/devices/${scalePath}`)).text();
  expect(await said()).not.toContain("far from all others");
  await serving.store.append([weigh(1, 23_100)]);
  expect(await said()).toContain(
    "all lie between 23.1 kg and 68.4 kg. 1 far from all others is drawn at the edge, as a triangle.",
  );
  await serving.store.append([weigh(0.5, 120_000)]);
  const page = await said();
  expect(page).toContain("2 far from all others are drawn at the edge, as triangles.");
  expect(page).toContain(
    "The line is the median of the seven days around each, and the band their middle half.",
  );
  expect(page).toContain('"far":{"count":2,"least":68,"greatest":68.4}');
});

test("the band of a day is of the three days before it, its own and the three after it, and none of fewer than four", async () => {
  await using serving = await serveHome({ now_ms, home: 12, zone });
  const days = 9;
  // Each day weighs more, so that a median tells its days.
  const weigh = (day: number, hours = 0) =>
    reading(scale, "scale_weights", now_ms - (days - day) * day_ms + hours * hour_ms, {
      ...{ weight: 60_000 + day * 1_000, fatMass: null, waterMass: null },
      ...{ boneMass: null, muscleMass: null, batteryLevel: null },
    });
  const medians = async () => {
    const page = await (await serving.ask(`/devices/${scalePath}`)).text();
    const [, band] = /"trend":(\{[^}]*\})/.exec(page) ?? [];
    const { median }: { median: (number | null)[] } = JSON.parse(band ?? "");
    // Where nothing was heard a line breaks.
    return median.filter((value) => value !== null);
  };
  await serving.store.append([0, 1, 2].map((day) => weigh(day)));
  expect(await medians()).toEqual([]);
  await serving.store.append([weigh(3)]);
  expect(await medians()).toEqual(Array(4).fill(61.5));
  // A day counts once, however often somebody was weighed on it.
  await serving.store.append([
    weigh(4),
    weigh(4, 0.1),
    weigh(4, 0.2),
    ...[5, 6, 7, 8].map((day) => weigh(day)),
  ]);
  const middle = (day: number) => 60 + (Math.max(0, day - 3) + Math.min(days - 1, day + 3)) / 2;
  expect(await medians()).toEqual([0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8].map(middle));
});
