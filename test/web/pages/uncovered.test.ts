import { expect, test } from "bun:test";
import type { CoverageInterval, CoverageRequest } from "../../../src/store/store.ts";
import type { SentBy } from "../../../src/web/pages/site.ts";
import { hereUntil_ms, readUntil_ms, uncoveredOf } from "../../../src/web/pages/uncovered.ts";
import { reading, sensor, sensorEvent, start_ms } from "../../../testbed/sample.ts";
import { servePages } from "./pages-server.ts";

/** A store that has these intervals of an item, newest first, and a first reading of it. */
const storeOf = (intervals: readonly CoverageInterval[], reading_ms = Number.POSITIVE_INFINITY) => ({
  coverage: async ({ skip, limit, before_ms }: CoverageRequest) =>
    intervals.filter(({ start_ms }) => start_ms < before_ms).slice(skip, skip + limit),
  oldestFirst: async ({ before_ms }: { before_ms: number }) => ({
    rows: reading_ms < before_ms ? [[reading_ms] as const] : [],
  }),
});
const span = { kind: "wirelesssensors" as const, item: 1, from_ms: 1_000, to_ms: 2_000 };

test("a device that was never heard was not there", async () => {
  expect(await uncoveredOf(storeOf([]), span)).toEqual([{ from_ms: 1_000, to_ms: 2_000, why: "absent" }]);
});

test("interruptions are in order of time, cut to the span, with the time before the first sign of life", async () => {
  const found = await uncoveredOf(
    storeOf([
      { start_ms: 1_900, stop_ms: 2_500, state: "silent", reason: "device_silent" },
      { start_ms: 1_500, stop_ms: 1_900, state: "covered" },
      { start_ms: 1_400, stop_ms: 1_500, state: "gap", reason: "not_worn" },
      { start_ms: 1_300, stop_ms: 1_400, state: "not_listening", reason: "gateway_down" },
      { start_ms: 1_200, stop_ms: 1_300, state: "covered" },
    ]),
    span,
  );
  expect(found).toEqual([
    { from_ms: 1_000, to_ms: 1_200, why: "absent" },
    { from_ms: 1_300, to_ms: 1_500, why: "not_listening" },
    { from_ms: 1_900, to_ms: 2_000, why: "silent" },
  ]);
});

test("a device was there since its first reading, also where nobody had heard it: what it keeps is known since then, and of another nobody listened", async () => {
  const store = storeOf([{ start_ms: 1_500, stop_ms: 3_000, state: "covered" }], 1_200);
  const absent = { from_ms: 1_000, to_ms: 1_200, why: "absent" } as const;
  expect(await uncoveredOf(store, { ...span, read_ms: 2_000 })).toEqual([absent]);
  expect(await uncoveredOf(store, span)).toEqual([
    absent,
    { from_ms: 1_200, to_ms: 1_500, why: "not_listening" },
  ]);
  expect(await uncoveredOf(storeOf([], 900), span)).toEqual([
    { from_ms: 1_000, to_ms: 2_000, why: "not_listening" },
  ]);
});

test("what ended before the span is none of it, however many interruptions there were", async () => {
  const cuts: CoverageInterval[] = [];
  for (let at = 1_999; at > 10; at -= 2)
    cuts.push(
      { start_ms: at, stop_ms: at + 1, state: "covered" },
      { start_ms: at - 1, stop_ms: at, state: "not_listening", reason: "gateway_down" },
    );
  const found = await uncoveredOf(storeOf(cuts), span);
  expect(found).toHaveLength(500);
  expect(found[0]).toEqual({ from_ms: 1_000, to_ms: 1_001, why: "not_listening" });
});

test("what a device keeps was not quiet until it is read, but for the time of which it has been told or in which it is silent", async () => {
  const intervals: CoverageInterval[] = [
    { start_ms: 1_900, stop_ms: 2_500, state: "silent", reason: "device_silent" },
    { start_ms: 1_700, stop_ms: 1_800, state: "gap", reason: "missed_window" },
    { start_ms: 1_500, stop_ms: 1_600, state: "gap", reason: "not_worn" },
    { start_ms: 500, stop_ms: 1_500, state: "covered" },
  ];
  expect(await uncoveredOf(storeOf(intervals), { ...span, read_ms: 1_400 })).toEqual([
    { from_ms: 1_500, to_ms: 1_600, why: "not_listening" },
    { from_ms: 1_600, to_ms: 1_900, why: "away" },
    { from_ms: 1_900, to_ms: 2_000, why: "silent" },
  ]);
  const worn = storeOf(intervals.slice(3));
  const unread = { from_ms: 1_400, why: "away" } as const;
  expect(await uncoveredOf(worn, { ...span, read_ms: 1_400 })).toEqual([{ ...unread, to_ms: 2_000 }]);
  expect(await uncoveredOf(worn, { ...span, read_ms: 1_400, here_ms: 1_700 })).toEqual([
    { ...unread, to_ms: 2_000 },
  ]);
  expect(await uncoveredOf(worn, { ...span, read_ms: 2_100 })).toEqual([]);
});

test("what a watch or a polled box kept has been read until the end of its newest reading", async () => {
  await using serving = await servePages();
  const { store } = serving;
  const watch = { kind: "watches", address: "e1:5c:07:2d:9a:31" } as const;
  const box = { kind: "pillboxes", address: "5c:f2:86:41:0a:17", subtype: "polled" } as const;
  const states = { walkState: 1, runState: 1, sleepState: 1 };
  await store.append([
    reading(watch, "watch_epochs", start_ms, { duration: 600, distance: 0, steps: 0, ...states }),
    reading(box, "pillbox_events", start_ms, { event: 1 }),
    reading(box, "pillbox_events", start_ms + 5_000, { event: 0 }),
    sensorEvent(sensor(1, { subtype: "door" }), start_ms, 0x31),
  ]);
  const until = async (kind: "watches" | "pillboxes" | "wirelesssensors", subtype = "null") => {
    const [item] = await store.items(kind, { skip: 0, limit: 1 });
    const key = (await store.item(kind, item?.itemname ?? ""))?.key ?? 0;
    return readUntil_ms(store, { item: key, kind, subtype, now_ms: start_ms + 3_600_000 });
  };
  expect(await until("watches")).toBe(start_ms + 600_000);
  expect(await until("pillboxes", "polled")).toBe(start_ms + 5_000);
  expect(await until("pillboxes", "broadcasting")).toBeUndefined();
  expect(await until("wirelesssensors", "door")).toBeUndefined();
});

test("a device is not there any more once another one took its place", async () => {
  const silent = { start_ms: 1_200, stop_ms: 2_500, state: "silent", reason: "device_silent" } as const;
  const store = storeOf([silent, { start_ms: 500, stop_ms: 1_200, state: "covered" }]);
  expect(await uncoveredOf(store, { ...span, replaced_ms: 1_700 })).toEqual([
    { from_ms: 1_200, to_ms: 1_700, why: "silent" },
    { from_ms: 1_700, to_ms: 2_000, why: "absent" },
  ]);
  const gone = [{ from_ms: 1_000, to_ms: 2_000, why: "absent" } as const];
  expect(await uncoveredOf(store, { ...span, replaced_ms: 900 })).toEqual(gone);
  expect(await uncoveredOf(store, { ...span, replaced_ms: 2_100 })).toEqual([
    { from_ms: 1_200, to_ms: 2_000, why: "silent" },
  ]);
});

test("what has not been sent yet is not here, and was not quiet", async () => {
  const covered = storeOf([{ start_ms: 500, stop_ms: 1_400, state: "covered" }]);
  const away = (from_ms: number) => [{ from_ms, to_ms: 2_000, why: "away" } as const];
  expect(await uncoveredOf(covered, { ...span, here_ms: 1_600 })).toEqual(away(1_600));
  expect(await uncoveredOf(covered, { ...span, here_ms: 400 })).toEqual(away(1_000));
  expect(await uncoveredOf(covered, { ...span, here_ms: 3_000 })).toEqual([]);
});

test("all is here until a home last sent something, and until it last reported where nothing waits there", () => {
  const sent = (of: { last_upload_ms?: number; last_report_ms?: number; backlog?: number }) =>
    hereUntil_ms({ last_upload_ms: null, last_report_ms: null, backlog: 0, ...of } as SentBy);
  expect(hereUntil_ms(undefined)).toBeUndefined();
  expect(hereUntil_ms(null)).toBe(0);
  expect(sent({})).toBe(0);
  for (const backlog of [0, 7]) expect(sent({ last_upload_ms: 900, last_report_ms: 800, backlog })).toBe(900);
  expect(sent({ last_upload_ms: 900, last_report_ms: 1_000 })).toBe(1_000);
  expect(sent({ last_upload_ms: 900, last_report_ms: 1_000, backlog: 7 })).toBe(900);
  expect(sent({ last_report_ms: 1_000, backlog: 7 })).toBe(0);
});
