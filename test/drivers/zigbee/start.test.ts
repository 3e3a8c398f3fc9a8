import { afterAll, afterEach, expect, test } from "bun:test";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import type { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { formedCoordinator } from "./formed.ts";

const directory = temporaryDirectory();
const host = new RecordingHost({ directory: directory.path });
const coordinator = await formedCoordinator({ directory: directory.path, transport: "pty" });
const sensor = coordinator.addDevice({ model: "3045" });
let driver = await listening();
await driver.openJoining(60);
sensor.join();
await host.until("the sensor to join", () => host.joins.some(({ state }) => state === "joined"));
await driver.closeJoining();
await driver.stop();

afterEach(async () => {
  coordinator.onRequest = () => {};
  await driver.stop();
  host.readings.length = 0;
});
afterAll(async () => {
  await coordinator.close();
  directory.remove();
});

async function listening(): Promise<ZigbeeDriver> {
  const next = new ZigbeeDriver({ config: { port: coordinator.path }, host, bounds: { least_ms: 20 } });
  next.start();
  await host.until("the driver to listen", () => next.status().state === "listening");
  return next;
}

/** Has the sensor notify at each request of the host, its status counting up from 1: when it did, each time. */
function chatter(device: SimulatedDevice, on: ZnpSimulator): readonly number[] {
  const sent_ms: number[] = [];
  on.onRequest = () => {
    if (device.notify(sent_ms.length + 1)) sent_ms.push(host.clock.now().unix_ms);
  };
  return sent_ms;
}

const heard = () => host.readings.map(({ values }) => values["event"]);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test("what a sensor says while the adapter is being opened is read, once, in order, dated when it came", async () => {
  const sent_ms = chatter(sensor, coordinator);
  driver = await listening();
  coordinator.onRequest = () => {};
  await host.until("the last notification", () => heard().at(-1) === sent_ms.length);
  expect(sent_ms.length).toBeGreaterThan(10);
  expect(heard()).toEqual(upTo(sent_ms.length));
  // Not when they were handed on: the host asks again once it has the answer, which came behind the notification.
  for (const [index, { stamp_ms }] of host.readings.entries()) {
    expect(stamp_ms).toBeGreaterThanOrEqual(sent_ms[index] ?? 0);
    expect(stamp_ms).toBeLessThanOrEqual(sent_ms[index + 1] ?? Number.POSITIVE_INFINITY);
  }
  expect([...host.drops]).toEqual([]);
});

test("what a sensor says while the adapter is being closed is read, up to the last answer of the adapter", async () => {
  driver = await listening();
  const sent_ms = chatter(sensor, coordinator);
  await driver.stop();
  coordinator.onRequest = () => {};
  expect(sent_ms.length).toBeGreaterThan(10);
  expect(heard()).toEqual(upTo(sent_ms.length));
});
