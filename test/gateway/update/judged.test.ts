import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import { startControl } from "../../../src/gateway/control-server.ts";
import type { GatewayStatus } from "../../../src/gateway/gateway-status.ts";
import { Judge } from "../../../src/gateway/update/trial-judge.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

// The judge over the control socket of a gateway that tells what a test says.

const now_ms = Date.UTC(2026, 4, 1, 12);
let clock = new SettableClock(now_ms);
beforeEach(() => {
  clock = new SettableClock(now_ms);
});
const directory = temporaryDirectory();
type Controlled = Parameters<typeof startControl>[0];
let status: object;
const unused = { joining: {}, ingest: {}, admission: {}, identities: {}, mesh: {} };
const control = startControl({
  ...(unused as unknown as Pick<Controlled, keyof typeof unused>),
  ...{ directory: directory.path, clock, status: async () => status as GatewayStatus },
});
afterAll(async () => {
  await control.stop();
  directory[Symbol.dispose]();
});

let service = { serving: true, failed: false, restarts: 0 };
const judge = () =>
  new Judge({
    service: { state: async () => service } as never,
    ...{ data: directory.path, clock, api: { hostname: "127.0.0.1", port: 0 } },
  });

/** A device that is silent for `silence_h` hours at most: one and a half times its cadence. */
const item = (name: string, silence_h: number, change: object = {}) => ({
  record: { typename: "wirelesssensors", modelname: "3041", itemname: name },
  ...{ listener: "zigbee", heard_ms: now_ms, expected_ms: (silence_h * hour_ms) / 1.5, series: [] },
  ...change,
});
const driver = (name: string, state = "listening") => ({ name, state });
function tell(items: readonly object[], change: object = {}): void {
  status = {
    ...{ paused: false, joining: false, started_ms: now_ms, drivers: [driver("zigbee")], busy: [] },
    ...{ store: { items, epoch: "e", last_seq: 7 }, memory_bytes: 1, url: "http://127.0.0.1:1" },
    ...change,
  };
}
const baseline = async (listened_h: number) => {
  const found = await judge().baseline({ token: "", uploads: false, listened_ms: listened_h * hour_ms });
  if (found === undefined) throw new Error("no gateway runs");
  return found;
};

test("a make is silent for as long as the one of its devices that is heard most often", async () => {
  tell([item("slow", 6), item("fast", 3), item("other", 4, { listener: "bthome" })]);
  expect((await baseline(6)).heard).toEqual([
    {
      name: "wirelesssensors 3041 by zigbee",
      items: ["wirelesssensors slow", "wirelesssensors fast"],
      silence_ms: 3 * hour_ms,
    },
    {
      name: "wirelesssensors 3041 by bthome",
      items: ["wirelesssensors other"],
      silence_ms: 4 * hour_ms,
    },
  ]);
});

test("devices that may be silent for longer than is listened, or are silent already, are not asked for", async () => {
  const names = async (listened_h: number) =>
    (await baseline(listened_h)).heard.flatMap(({ items }) => items);
  tell([item("one", 3)]);
  expect(await names(3)).toHaveLength(1);
  expect(await names(2.9)).toEqual([]);
  tell([item("one", 3, { heard_ms: now_ms - 3 * hour_ms })]);
  expect(await names(3)).toHaveLength(1);
  tell([item("one", 3, { heard_ms: now_ms - 3 * hour_ms - 1 })]);
  expect(await names(3)).toEqual([]);
  // What the device itself tells of its cadence goes before that of its kind; without one it is silent until used.
  tell([item("one", 30, { history: [{ facts: { cadence_s: 7_200 } }] })]);
  expect(await names(3)).toHaveLength(1);
  tell([item("one", 3, { expected_ms: undefined })]);
  expect(await names(1_000)).toEqual([]);
});

describe("a release on trial", () => {
  const before = async (...items: readonly object[]) => {
    tell(items);
    return baseline(24);
  };
  const switched_ms = now_ms + 1;
  const look = async (known: Awaited<ReturnType<typeof baseline>>, listened_ms: number, trial_h = 24) => {
    const at = { switched_ms, listened_ms, trial_ms: trial_h * hour_ms, token: "", thoroughly: false };
    return await judge().look(known, at);
  };
  const deaf = "nothing was heard of wirelesssensors 3041 by zigbee";

  test("lacks what it has not heard, and fails once the busiest of two should have spoken", async () => {
    const two = await before(item("fast", 3), item("slow", 6));
    clock.advance(12 * hour_ms);
    expect(await look(two, 3 * hour_ms)).toEqual({ missing: [deaf] });
    expect(await look(two, 3 * hour_ms + 1)).toEqual({ fault: deaf, missing: [] });
    tell([item("fast", 3), item("slow", 6, { heard_ms: switched_ms })]);
    expect(await look(two, 5 * hour_ms)).toEqual({ missing: [] });
    tell([item("fast", 3), item("slow", 6, { heard_ms: switched_ms - 1 })]);
    expect(await look(two, 2 * hour_ms)).toEqual({ missing: [deaf] });
    // A trial that is too short for it, and a home that has paused, ask for no device.
    expect(await look(two, 2 * hour_ms, 3)).toEqual({ missing: [deaf] });
    expect(await look(two, 2 * hour_ms, 2.9)).toEqual({ missing: [] });
    tell([item("fast", 3)], { paused: true });
    expect(await look(two, 5 * hour_ms)).toEqual({ missing: [] });
  });

  test("does not fail for one device alone, which may have died", async () => {
    const one = await before(item("fast", 3));
    clock.advance(12 * hour_ms);
    expect(await look(one, 9 * hour_ms)).toEqual({ missing: [deaf] });
  });

  test("lacks a driver that heard its device before, and fails where the service does", async () => {
    const known = await before();
    tell([], { drivers: [driver("zigbee", "retrying"), driver("bthome")] });
    expect(await look(known, 0)).toEqual({ missing: ["the driver zigbee does not hear its device"] });
    service = { serving: false, failed: false, restarts: 0 };
    expect(await look(known, 0)).toEqual({ missing: ["it does not serve"] });
    service = { serving: true, failed: false, restarts: 1 };
    expect((await look(known, 0)).fault).toBe("it ended, or fell silent, and had to be started again");
    service = { serving: true, failed: true, restarts: 1 };
    expect((await look(known, 0)).fault).toBe("it does not start");
    service = { serving: true, failed: false, restarts: 0 };
  });
});

test.each<[object, string | undefined]>([
  [{}, undefined],
  [{ joining: true }, "devices are being let in"],
  [{ paused: true }, "recording is paused, so that no device can be heard"],
  [{ drivers: [driver("ble", "starting")] }, "the driver ble does not hear its device yet"],
  [{ drivers: [driver("ble", "retrying")] }, "the driver ble does not hear its device yet"],
  [
    { drivers: [driver("ble", "retrying")], started_ms: now_ms - 599_999 },
    "the driver ble does not hear its device yet",
  ],
  [{ drivers: [driver("ble", "retrying")], started_ms: now_ms - 600_000 }, undefined],
  [{ drivers: [driver("ble", "starting")], started_ms: 0 }, "the driver ble does not hear its device yet"],
  [{ busy: ["a backup is written", "another"] }, "a backup is written"],
])("a gateway of %j is busy: %p", async (change, why) => {
  tell([], change);
  expect(await judge().busy()).toBe(why);
});
