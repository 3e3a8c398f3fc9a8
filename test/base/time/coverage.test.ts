import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import { hour_ms } from "../../../src/base/time.ts";
import type { Device } from "../../../src/domain/reading.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { CoverageInterval } from "../../../src/store/store.ts";
import { sensor, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

const polled: Device = { kind: "pillboxes", address: "00:0d:6f:00:07:00", subtype: "polled" };
const scale: Device = { kind: "scales", address: "00:0d:6f:00:08:00" };

test("a sensor that is heard every two hours is covered, in one interval", async () => {
  await using home = await listen();
  for (let hour = 0; hour <= 10; hour += 2) await home.heard(sensor(1), hour);
  expect(await home.coverage(sensor(1))).toEqual([[0, 10, "covered"]]);
});

test("a sensor that falls silent is silent from when it was last heard until it is heard again", async () => {
  await using home = await listen();
  for (const hour of [0, 2, 9, 11]) await home.heard(sensor(1), hour);
  expect(await home.coverage(sensor(1))).toEqual([
    [9, 11, "covered"],
    [2, 9, "silent", "device_silent"],
    [0, 2, "covered"],
  ]);
});

test("one that is still silent is overdue, as far as its driver has listened", async () => {
  await using home = await listen();
  await home.heard(sensor(1), 0);
  await home.listening(3);
  expect(await home.overdue(sensor(1))).toBe(false);
  await home.listening(4);
  expect(await home.overdue(sensor(1))).toBe(true);
  expect((await home.coverage(sensor(1)))[0]).toEqual([0, 4, "silent", "device_silent"]);
});

test("while the dongle was out or the gateway off nobody listened, and that is not the sensor's silence", async () => {
  await using home = await listen();
  for (const hour of [0, 1]) await home.heard(sensor(1), hour);
  await home.listening(2);
  await home.gatewayAlone(6);
  await home.heard(sensor(1), 6.5);
  await home.pause(12);
  await home.heard(sensor(1), 13);
  expect(await home.coverage(sensor(1))).toEqual([
    [12, 13, "covered"],
    [6.5, 12, "not_listening", "gateway_down"],
    [6, 6.5, "covered"],
    [2, 6, "not_listening", "driver_down"],
    [0, 2, "covered"],
  ]);
});

test("a minute without a word of a driver is none of its outages, and a device may be silent for all of what its kind may", async () => {
  await using home = await listen();
  const minute = 1 / 60;
  await home.heard(sensor(1), 0);
  await home.pause(minute);
  await home.heard(sensor(1), 3);
  expect(await home.coverage(sensor(1))).toEqual([[0, 3, "covered"]]);
  // Nobody listened for an hour of the next four.
  await home.listening(4);
  await home.pause(5);
  await home.heard(sensor(1), 7);
  const off = [4, 5, "not_listening", "gateway_down"];
  expect(await home.coverage(sensor(1))).toEqual([[5, 7, "covered"], off, [0, 4, "covered"]]);
  await home.pause(7 + 1.1 * minute);
  await home.heard(sensor(1), 7.5);
  expect((await home.coverage(sensor(1)))[1]?.slice(2)).toEqual(["not_listening", "gateway_down"]);
});

test("a state that does not say by which driver it came is of the one that heard the device before", async () => {
  await using home = await listen();
  await home.heard(sensor(1), 0);
  await home.listening(1);
  await home.gatewayAlone(5);
  await home.listening(6);
  await home.told(sensor(1), 6);
  expect(await home.coverage(sensor(1))).toEqual([
    [5, 6, "covered"],
    [1, 5, "not_listening", "driver_down"],
    [0, 1, "covered"],
  ]);
});

test("a box that keeps its events is covered by the next poll; what was overwritten is a gap that counts", async () => {
  await using home = await listen();
  await home.heard(polled, 0);
  await home.gap(polled, 2, 3, "missed_window");
  await home.heard(polled, 30);
  await home.gap(polled, 10, 12, "overwritten", 7);
  expect(await home.coverage(polled)).toEqual([
    [12, 30, "covered"],
    [10, 12, "gap", "overwritten", 7],
    [0, 10, "covered"],
  ]);
});

test("a scale is silent until it is used, and covered as long as its driver listens", async () => {
  await using home = await listen();
  await home.heard(scale, 0);
  await home.listening(50);
  expect(await home.coverage(scale)).toEqual([[0, 50, "covered"]]);
});

test("pages of coverage go on where the one before ended", async () => {
  await using home = await listen();
  for (let hour = 0; hour < 100; hour += 10) await home.heard(sensor(1), hour);
  const all = await home.intervals(sensor(1), 0, 1_000);
  expect(all).toHaveLength(9);
  const paged = [
    await home.intervals(sensor(1), 0, 4),
    await home.intervals(sensor(1), 4, 4),
    await home.intervals(sensor(1), 8, 4),
  ];
  expect(paged.flat()).toEqual([...all]);
});

/** A store of a gateway whose driver `radio` listens from hour 0 on. */
async function listen() {
  const directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  let hour = 0;
  let driver = 0;
  const span = (listener: string, from: number, to: number) => ({
    listener,
    from_ms: start_ms + from * hour_ms,
    to_ms: start_ms + to * hour_ms,
  });
  /** Both listen until `to`. */
  const listening = async (to: number) => {
    await store.append([], { listening: [span("gateway", hour, to), span("radio", driver, to)] });
    hour = driver = to;
  };
  return {
    listening,
    heard: async (device: Device, at: number) => {
      await listening(at);
      await store.append([], { states: [{ device, heard_ms: start_ms + at * hour_ms, listener: "radio" }] });
    },
    /** A state of the device that names no driver. */
    told: (device: Device, at: number) =>
      store.append([], { states: [{ device, heard_ms: start_ms + at * hour_ms }] }),
    /** The driver does not listen until `to`, the gateway does. */
    gatewayAlone: async (to: number) => {
      await store.append([], { listening: [span("gateway", hour, to)] });
      hour = driver = to;
    },
    /** Nobody listens until `to`. */
    pause: async (to: number) => {
      hour = driver = to;
    },
    gap: (
      device: Device,
      from: number,
      to: number,
      reason: "overwritten" | "missed_window",
      lost?: number,
    ) => {
      const { from_ms, to_ms } = span("", from, to);
      return store.append([], {
        gaps: [{ device, from_ms, to_ms, reason, ...(lost === undefined ? {} : { lost }) }],
      });
    },
    intervals: (device: Device, skip: number, limit: number) => intervalsOf(store, device, skip, limit),
    coverage: async (device: Device) => (await intervalsOf(store, device, 0, 1_000)).map(inHours),
    overdue: async (device: Device) => {
      const { items } = await store.overview();
      return items.find(({ record }) => record.macaddress === device.address)?.overdue;
    },
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}

async function intervalsOf(store: GatewayStore, device: Device, skip: number, limit: number) {
  const [record] = await store.items(device.kind, { skip: 0, limit: 1 });
  const item = await store.item(device.kind, record?.itemname ?? "");
  return store.coverage({ item: item?.key ?? 0, before_ms: Number.MAX_SAFE_INTEGER, skip, limit });
}

function inHours({ start_ms: from_ms, stop_ms, state, reason, lost }: CoverageInterval): unknown[] {
  const hours = [from_ms, stop_ms].map((ms) => (ms - start_ms) / hour_ms);
  return [...hours, state, ...(reason === undefined ? [] : [reason]), ...(lost === undefined ? [] : [lost])];
}

test("clock qualities keep their numbers", () => {
  expect(clockQuality).toEqual({
    synchronised: 0,
    unsynchronised: 1,
    corrected: 2,
    bounded: 3,
    device: 4,
    deviceUnmeasured: 5,
  });
});
