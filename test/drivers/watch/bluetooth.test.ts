import { expect, test } from "bun:test";
import type { SimulatedPeripheral } from "../../../drivers/ble/simulator/peripheral.ts";
import { watchPeripheral } from "../../../drivers/watch/peripheral.ts";
import { block_ms } from "../../../drivers/watch/readings.ts";
import { plausibleLog } from "../../../drivers/watch/simulator/log.ts";
import { nordicUart, SimulatedWatch } from "../../../drivers/watch/simulator/watch.ts";
import { numbers } from "../../../testbed/numbers.ts";
import { listening, startRig } from "../ble/rig.ts";

test("a watch on the air is connected to through noble, set, and read to the end of its log", async () => {
  await using rig = await startRig({ products: [watchPeripheral], config: { watch: { stride_m: 1 } } });
  await listening(rig);
  const { host, controller } = rig;
  const watch = new SimulatedWatch();
  const until_ms = Date.now();
  const log = plausibleLog({ from_ms: until_ms - 2 * 24 * 3600_000, until_ms, random: numbers(4) });
  watch.blocks.push(...log);
  let device: SimulatedPeripheral | undefined;
  device = controller.addPeripheral({
    address: "c0:ff:ee:00:00:09",
    advertisement: { name: "Bangle.js c0ff" },
    services: nordicUart(watch, () => device),
  });
  device.advertise();
  const worn = log.filter(({ activity }) => activity !== "NOT_WORN");
  await host.until("all epochs", () => host.readings.length === worn.length);
  expect(host.readings.map(({ stamp_ms }) => stamp_ms + block_ms)).toEqual(worn.map(({ end_ms }) => end_ms));
  expect(host.readings.map(({ values }) => values["distance"])).toEqual(worn.map(({ steps }) => steps));
  expect(host.readings[0]?.device).toMatchObject({ kind: "watches", address: "c0:ff:ee:00:00:09" });
  expect(Math.abs((watch.time_s ?? 0) - until_ms / 1000)).toBeLessThan(60);
  expect(host.gaps.every(({ reason }) => reason === "not_worn")).toBe(true);
  await host.until("the end of the connection", () => device?.connected === false);
  // Read to the end, it is left alone.
  device.advertise();
  await controller.drained();
  expect(device.connections).toBe(1);
});

test("what is not called Bangle.js is not taken for a watch", () => {
  const advertisement = {
    address: "c0:ff:ee:00:00:09",
    addressType: "random",
    services: ["6e400001-b5a3-f393-e0a9-e50e24dcca9e"],
    serviceData: new Map(),
    rssi: -60,
    connectable: true,
  } as const;
  expect(watchPeripheral.recognises(advertisement)).toBe(false);
  expect(watchPeripheral.recognises({ ...advertisement, name: "Bangle.js 00ab" })).toBe(true);
  expect(watchPeripheral.recognises({ ...advertisement, name: "Puck.js 00ab" })).toBe(false);
});
