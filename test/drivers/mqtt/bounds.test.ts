import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { in_flight_max, packet_max_bytes } from "../../../drivers/mqtt/connection.ts";
import { MqttDriver } from "../../../drivers/mqtt/driver.ts";
import { entries_max } from "../../../drivers/mqtt/hub.ts";
import { sensors_max } from "../../../drivers/mqtt/sensors.ts";
import { SimulatedHub } from "../../../drivers/mqtt/simulator/hub.ts";
import { zigbeeDevices, zigbeeState } from "../../../drivers/mqtt/simulator/messages.ts";
import { mosquitto, startBroker, startOldBroker } from "../../../testbed/broker.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(() => directory.remove());
const bounds = { least_ms: 50, most_ms: 200 };
const door = { ieee: "0x00158d0001a2b3c4", name: "door", model: "m", vendor: "v" };
const tooLarge = {
  topic: "zigbee2mqtt/bridge/devices",
  payload: "x".repeat(packet_max_bytes + 1),
  retain: true,
};

test("no more messages are taken than may wait for the disk, at either QoS; the others come when it has them", async () => {
  for (const [qos, startOne] of [
    [1, startBroker],
    [1, startOldBroker],
    [0, startBroker],
  ] as const) {
    const broker = await startOne();
    const hub = await SimulatedHub.connect(broker.url);
    await hub.publish(zigbeeDevices([door]));
    const host = new RecordingHost({ directory: join(directory.path, "waiting") });
    let release = () => {};
    const disk = new Promise<void>((resolve) => {
      release = resolve;
    });
    const accept = host.accept.bind(host);
    host.accept = (reading, cursor) => disk.then(() => accept(reading, cursor));
    const driver = new MqttDriver({ config: { url: broker.url }, host, bounds });
    driver.start();
    await host.until("the broker", () => driver.status().state === "listening");
    const messages = in_flight_max * 3;
    for (let number = 0; number < messages; number += 1)
      await hub.publish(
        zigbeeState("door", { contact: number % 2 === 0, last_seen: 1_800_000_000_000 + number }),
        qos,
      );
    await host.until("as many as may wait", () => host.states.length >= in_flight_max);
    // Time enough for others: the broker answers each of these.
    for (let turn = 0; turn < 50; turn += 1) await hub.publish({ topic: "elsewhere", payload: "" });
    expect(host.states.length).toBe(in_flight_max);
    release();
    await host.until("all of them", () => host.readings.length === messages);
    expect(host.readings.map(({ values }) => values["event"])).toEqual(
      Array.from({ length: messages }, (_, number) => number % 2),
    );
    await driver.stop();
    await hub.end();
    await broker.remove();
  }
});

test("a message that is too large ends the connection to a broker of MQTT 3.1.1, with a line that says so", async () => {
  const broker = await startOldBroker();
  const hub = await SimulatedHub.connect(broker.url);
  await hub.publish(tooLarge);
  const host = new RecordingHost({ directory: join(directory.path, "large") });
  const driver = new MqttDriver({ config: { url: broker.url }, host, bounds });
  driver.start();
  await host.until("the line", () => driver.status().problem?.includes("a message of more than 4 MiB"));
  await driver.stop();
  await hub.end();
  await broker.remove();
});

test.skipIf(mosquitto === null)("one of MQTT 5 holds it back", async () => {
  const broker = await startBroker();
  const hub = await SimulatedHub.connect(broker.url);
  await hub.publish(tooLarge);
  const host = new RecordingHost({ directory: join(directory.path, "held") });
  const driver = new MqttDriver({ config: { url: broker.url }, host, bounds });
  driver.start();
  await host.until("the broker", () => driver.status().state === "listening");
  await hub.publish(zigbeeDevices([door]));
  await hub.publish(zigbeeState("door", { contact: false }));
  await host.until("the event", () => host.readings.length === 1);
  await driver.stop();
  await hub.end();
  await broker.remove();
});

test("a publisher who invents more names and sensors than there may be fills nothing, and what is beyond is counted", async () => {
  const broker = await startBroker();
  const hub = await SimulatedHub.connect(broker.url);
  const host = new RecordingHost({ directory: join(directory.path, "invented") });
  const invented = Array.from({ length: entries_max + 5 }, (_, number) => ({
    ...door,
    ieee: `0x${number.toString(16).padStart(16, "0")}`,
    name: `n${number}`,
  }));
  const driver = new MqttDriver({ config: { url: broker.url }, host, bounds });
  driver.start();
  await host.until("the broker", () => driver.status().state === "listening");
  await hub.publish(zigbeeDevices(invented));
  const dropped = (words: string) => [...host.drops].find(([what]) => what.includes(words))?.[1] ?? 0;
  // A device may be called by its name and by its address.
  await host.until("the names beyond", () => dropped("beyond those that can be known") >= 5);
  for (const { name } of invented.slice(0, sensors_max + 5))
    await hub.publish(zigbeeState(name, { contact: false }));
  await host.until("the sensors beyond", () => dropped("more sensors than can be followed") === 5);
  await host.until("the others", () => host.readings.length === sensors_max);
  await driver.stop();
  await hub.end();
  await broker.remove();
});
