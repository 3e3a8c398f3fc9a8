import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import type { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { type SimulatedModel, simulatedModels } from "../../../drivers/zigbee/simulator/models.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { formedCoordinator } from "./formed.ts";

const directory = temporaryDirectory();
const host = new RecordingHost({ directory: directory.path });
let coordinator: ZnpSimulator;
let driver: ZigbeeDriver;

beforeAll(async () => {
  coordinator = await formedCoordinator({ directory: directory.path, transport: "pty" });
  driver = new ZigbeeDriver({ config: { port: coordinator.path }, host, bounds: { least_ms: 20 } });
  driver.start();
  await host.until("the driver to listen", () => driver.status().state === "listening");
});

afterAll(async () => {
  await driver.stop();
  await coordinator.close();
  directory.remove();
});

const models = Object.entries(simulatedModels as Readonly<Record<string, SimulatedModel>>);
const speaking = models.filter(([, { says }]) => says !== undefined);

test.each(speaking)(
  "%s joins, and each of its messages is recorded as its row says, and as nothing else",
  async (model, { says = {} }) => {
    const device = coordinator.addDevice({ model });
    await joined(device);
    const before = host.readings.length;
    const heard = host.states.length;
    const expected = Object.values(says).map(({ gives }) => gives);
    const events = expected.flatMap(({ event }) => event ?? []);
    const measures = expected.flatMap((gives) =>
      Object.entries(gives.measures ?? {}).map(([quantity, [value, unit]]) => ({ quantity, value, unit })),
    );
    const charges = expected.flatMap(({ battery_percent }) => battery_percent ?? []);
    for (const what of Object.keys(says)) device.say(what);
    const told = () => ({
      events: valuesOf(host.readings.slice(before), "wirelesssensor_events").map(({ event }) => event),
      measures: valuesOf(host.readings.slice(before), "wirelesssensor_measures"),
    });
    const answered = () => host.states.slice(heard).filter(({ linkquality }) => linkquality !== undefined);
    const messages = Object.values(says).reduce((count, { also }) => count + (also === undefined ? 1 : 2), 0);
    await host.until(`${model} is heard`, () => answered().length >= messages);
    expect(told()).toEqual({ events: events.map(Number), measures });
    expect(answered().map(({ battery_percent }) => battery_percent)).toEqual(expect.arrayContaining(charges));
  },
);

test("a Tuya sensor is asked for its data when it joins and comes back, and told the time when it asks", async () => {
  const device = coordinator.addDevice({ model: "TS0601/_TZE204_yjjdcqsq" });
  const sent = (command: number) =>
    device.received.filter((one) => one.cluster === 0xef00 && one.command === command);
  await joined(device);
  const dataQuery = 0x03;
  expect(sent(dataQuery)).toHaveLength(1);
  await driver.closeJoining();
  device.join();
  await host.until("it is asked for its data again", () => sent(dataQuery).length === 2);
  const mcuSyncTime = 0x24;
  const asked_s = Math.floor(Date.now() / 1000);
  device.say("time");
  const [told] = await host.until("it is told the time", () =>
    sent(mcuSyncTime).length > 0 ? sent(mcuSyncTime) : undefined,
  );
  // Payload size u16, then UTC and local time as u32, most significant byte first.
  const utc_s = told?.payload.readUInt32BE(2) ?? 0;
  expect(utc_s).toBeGreaterThanOrEqual(asked_s);
  expect(utc_s).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
});

/** Lets a device join, and waits until it is quiet. */
async function joined(device: SimulatedDevice): Promise<void> {
  await driver.openJoining(60);
  device.join();
  await host.until(`${device.modelName} joins`, () => {
    const failed = host.joins.find((event) => event.state === "failed" && event.address === device.ieee);
    if (failed !== undefined) throw new Error(JSON.stringify(failed));
    return host.joins.some((event) => event.state === "joined" && event.device.address === device.ieee);
  });
  const { path } = directory;
  const database = () => readFileSync(join(path, "database.db"), "utf8").split("\n");
  const ieee = `0x${device.ieee.replaceAll(":", "")}`;
  await host.until(`${device.modelName} took its settings`, () =>
    database().some((line) => line.includes(ieee) && line.includes('"configured":true')),
  );
}

function valuesOf(readings: readonly Reading[], series: Reading["series"]) {
  return readings.filter((reading) => reading.series === series).map(({ values }) => values);
}
