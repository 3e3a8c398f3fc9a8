import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { LastStatuses } from "../../../drivers/zigbee/last-status.ts";
import type { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { storeNoReadings } from "../../../drivers/zigbee/stored-devices.ts";
import { heartbeat_least_ms } from "../../../drivers/zigbee/zone-status.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { formedCoordinator } from "./formed.ts";
import { ShiftedClock } from "./shifted-clock.ts";

const directory = temporaryDirectory();
const clock = new ShiftedClock();
const host = new RecordingHost({ directory: directory.path, clock });
let coordinator: ZnpSimulator;
let driver: ZigbeeDriver;
let door: SimulatedDevice;

async function startDriver(): Promise<void> {
  driver = new ZigbeeDriver({ config: { port: coordinator.path }, host, bounds: { least_ms: 20 } });
  driver.start();
  await host.until("the driver to listen", () => driver.status().state === "listening");
}

beforeAll(async () => {
  coordinator = await formedCoordinator({ directory: directory.path, transport: "pty" });
  await startDriver();
  door = coordinator.addDevice({ model: "3011" });
  await driver.openJoining(60);
  door.join();
  await host.until("the sensor to join", () => host.joins.some(({ state }) => state === "joined"));
});

afterAll(async () => {
  await driver.stop();
  await coordinator.close();
  directory.remove();
});

/** Events that the driver makes of the frames, once the last frame has been heard. */
async function eventsFrom(send: () => void): Promise<unknown[]> {
  const before = host.readings.length;
  send();
  // A battery report after them: when it is heard, everything before it has been.
  const percent = 1 + (host.states.length % 90);
  const states = host.states.length;
  door.reportBattery(percent);
  await host.until("the report", () =>
    host.states.slice(states).some((state) => state.battery_percent === percent),
  );
  return host.readings.slice(before).map(({ values }) => values["event"]);
}

const later = (ms: number) => {
  clock.ahead_ms += ms;
};

test("a repeated idle status is a heartbeat once ten minutes have passed since the last notification", async () => {
  expect(await eventsFrom(() => [door.notify(0x31), door.notify(0x30)])).toEqual([0x31, 0x30]);
  later(heartbeat_least_ms - 5_000);
  expect(await eventsFrom(() => door.heartbeat())).toEqual([0x30]);
  later(heartbeat_least_ms);
  const heard = host.states.length;
  expect(await eventsFrom(() => door.heartbeat())).toEqual([]);
  expect(
    host.states.slice(heard).filter(({ device }) => device.address === door.ieee).length,
  ).toBeGreaterThan(1);
});

test("a status that changed, has an alarm or says more than that the sensor lives is always an event", async () => {
  for (const [zonestatus, event] of [
    [0x31, [0x31]],
    // An open door says so again: not idle.
    [0x31, [0x31]],
    [0x30, [0x30]],
    [0x38, [0x38]],
    [0x38, [0x38]],
    [0x20, [0x20]],
    // Without the bit for supervision reports it does not claim to be one.
    [0x20, [0x20]],
    [0x30, [0x30]],
    [0x30, []],
  ] as const) {
    later(2 * heartbeat_least_ms);
    expect(await eventsFrom(() => door.notify(zonestatus))).toEqual([...event]);
  }
});

test("a status that is reported as an attribute is an event only when it is another", async () => {
  expect(await eventsFrom(() => door.reportStatus(0x30))).toEqual([]);
  expect(await eventsFrom(() => door.reportStatus(0x31))).toEqual([0x31]);
  expect(await eventsFrom(() => door.reportStatus(0x31))).toEqual([]);
  expect(await eventsFrom(() => [door.notify(0x31), door.notify(0x30), door.reportStatus(0x30)])).toEqual([
    0x31, 0x30,
  ]);
});

test("a delay that no sensor can mean is not honoured", async () => {
  const before_ms = clock.now().unix_ms;
  await eventsFrom(() => door.notify(0x31, { delay_quarter_s: 0xffff }));
  expect(host.readings.at(-1)?.stamp_ms).toBeGreaterThanOrEqual(before_ms);
  await eventsFrom(() => door.notify(0x30));
});

test("the first heartbeat after a restart is still a heartbeat", async () => {
  await driver.stop();
  await startDriver();
  later(2 * heartbeat_least_ms);
  expect(await eventsFrom(() => door.heartbeat())).toEqual([]);
  expect(await eventsFrom(() => door.notify(0x31))).toEqual([0x31]);
});

test("what a door that has left tells when it is back is news, though it tells what it told last", async () => {
  await eventsFrom(() => door.notify(0x30));
  door.leave();
  const joins = host.joins.length;
  await driver.openJoining(60);
  door.join();
  await host.until("it to join again", () => host.joins.slice(joins).some(({ state }) => state === "joined"));
  later(2 * heartbeat_least_ms);
  expect(await eventsFrom(() => door.heartbeat())).toEqual([0x30]);
});

test("a door that was opened before a crash and closed long after it was opened and closed", async () => {
  await eventsFrom(() => door.notify(0x30));
  await driver.stop();
  await startDriver();
  expect(JSON.parse(readFileSync(join(directory.path, "at-rest.json"), "utf8"))).toHaveProperty([door.ieee]);
  await eventsFrom(() => door.notify(0x31));
  // The file that a crash here would leave behind no longer says that the door is closed.
  const left = new LastStatuses({ directory: directory.path, clock, log: host.log });
  expect(left.get(door.ieee)).toBeUndefined();
});

test("no file of the network, nor a copy of one, has what a sensor has told, or when, but by which factors it is read", async () => {
  await eventsFrom(() => [door.reportStatus(0x31), door.notify(0x30)]);
  await driver.stop();
  const backups = readdirSync(join(directory.path, "backups"));
  const files = ["database.db", "at-rest.json", ...backups.map((name) => join("backups", name))];
  for (const file of files) {
    const text = readFileSync(join(directory.path, file), "utf8");
    expect([file, text.match(/batteryPercentageRemaining|zoneStatus|lastSeen|at_ms/)]).toEqual([file, null]);
  }
  const stored: unknown[] = [];
  const controller = { database: { insert: () => {}, update: (one: unknown) => void stored.push(one) } };
  storeNoReadings(controller as never);
  const withAttributes = (attributes: object) => ({
    endpoints: { 1: { epId: 1, clusters: { haElectricalMeasurement: { attributes } } } },
  });
  controller.database.update({ lastSeen: 5, ...withAttributes({ activePower: 7, acPowerDivisor: 10 }) });
  expect(stored).toEqual([withAttributes({ acPowerDivisor: 10 })]);
});

test("a status that is not recorded is in no file, and the first one after it is an event", async () => {
  await startDriver();
  expect(await eventsFrom(() => door.reportStatus(0x30))).toEqual([]);
  host.records = () => false;
  await eventsFrom(() => door.notify(0x31));
  await driver.stop();
  expect(JSON.parse(readFileSync(join(directory.path, "at-rest.json"), "utf8"))).toEqual({});
  await startDriver();
  host.records = () => true;
  expect(await eventsFrom(() => door.reportStatus(0x31))).toEqual([0x31]);
  expect(await eventsFrom(() => door.reportStatus(0x31))).toEqual([]);
});
