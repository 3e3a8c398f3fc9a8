import { expect, test } from "bun:test";
import type { BootTime, HeldFact } from "../../../src/store/gateway/gateway-store.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

test("what is known of the time of a boot stays known, and the last that is said of its bound holds", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  expect(await store.timeKnown()).toEqual({ boots: [], waiting: 0 });
  const timeline = { offset_ms: start_ms, compared_ms: 3, before: { offset_ms: start_ms - 9, until_ms: 2 } };
  const boots: BootTime[] = [
    { boot: "b", timeline, seen_ms: 5, bound_ms: 7 },
    { boot: "a", seen_ms: 1 },
  ];
  await store.append([], { boots });
  expect((await store.timeKnown()).boots).toEqual(boots);
  await store.append([], { boots: [{ boot: "b", seen_ms: 4 }] });
  await store.append([], { boots: [{ boot: "a", timeline, seen_ms: 6, bound_ms: 0 }] });
  expect((await store.timeKnown()).boots).toEqual([
    { boot: "b", timeline, seen_ms: 5 },
    { boot: "a", timeline, seen_ms: 6, bound_ms: 0 },
  ]);
  await store.close();
});

test("facts wait in the order of boots, then of time, then of their coming, without what a device tells again", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const boots = ["second", "first"].map((boot) => ({ boot, seen_ms: 0 }));
  await store.append([], { boots });
  const fact = (event: number) => ({ reading: sensorEvent(sensor(1), start_ms + event, event) });
  const state = { device: sensor(1), heard_ms: start_ms, battery_percent: 60 };
  const held: HeldFact[] = [
    { boot: "first", monotonic_ms: 1, fact: fact(1) },
    { boot: "second", monotonic_ms: 9.5, fact: { state } },
    { boot: "second", monotonic_ms: 2, fact: fact(3) },
    { boot: "second", monotonic_ms: 2, fact: fact(4) },
  ];
  const facts = { driver: "a driver" } as never;
  const told = held.with(1, { boot: "second", monotonic_ms: 9.5, fact: { state: { ...state, facts } } });
  await store.append([], { held: told });
  const inOrder = [held[2], held[3], held[1], held[0]];
  const waiting = await store.waiting(10);
  expect(waiting.map(({ id: _, ...one }) => one)).toEqual(inOrder as HeldFact[]);
  expect(await store.waiting(2)).toEqual(waiting.slice(0, 2));
  await store.append([], { released: [waiting[0], waiting[2]].map((one) => one?.id ?? 0) });
  expect(await store.waiting(10)).toEqual([waiting[1], waiting[3]] as never);
  expect((await store.timeKnown()).waiting).toBe(2);
  await store.close();
});

test("the time of a boot is in doubt where its place between others was only found, for as long as it ran", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const offset = (offset_ms: number) => ({ offset_ms, compared_ms: 0 });
  const boots: BootTime[] = [
    { boot: "found", timeline: offset(start_ms + 0.75), seen_ms: 1_000.25, bound_ms: 60_000 },
    { boot: "sure", timeline: offset(start_ms + 5_000), seen_ms: 10 },
    { boot: "not yet", seen_ms: 10, bound_ms: 60_000 },
    { boot: "last", timeline: offset(start_ms + 9_000), seen_ms: 20.75, bound_ms: 0 },
  ];
  await store.append([], { boots });
  expect(await store.uncertainTimes()).toEqual([
    { from_ms: start_ms + 1, to_ms: start_ms + 1_001 },
    { from_ms: start_ms + 9_000, to_ms: start_ms + 9_021 },
  ]);
  await store.close();
});

test("a gateway knows for how long of a day its worst driver did not listen, also one that no longer does", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const minute_ms = 60_000;
  const at = (minutes: number) => start_ms + minutes * minute_ms;
  const listened = (listener: string, from: number, to: number) => ({
    listener,
    from_ms: at(from),
    to_ms: at(to),
  });
  await store.append([], {
    listening: [
      listened("gateway", 0, 100),
      listened("gateway", 110, 1_440),
      listened("zigbee", 0, 30),
      listened("zigbee", 70, 1_439),
      listened("ble", -300, -200),
    ],
  });
  const day = { from_ms: at(0), to_ms: at(1_440) };
  expect(await store.deaf_ms(day)).toBe(40 * minute_ms);
  expect(await store.deaf_ms({ ...day, drivers: [] })).toBe(10 * minute_ms);
  expect(await store.deaf_ms({ ...day, drivers: ["zigbee", "ble"] })).toBe(1_440 * minute_ms);
  expect(await store.deaf_ms({ from_ms: at(80), to_ms: at(1_460) })).toBe(30 * minute_ms);
  await store.close();
});
