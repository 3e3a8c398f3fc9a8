import { afterAll, beforeAll, expect, test } from "bun:test";
import { startBroker, type TestBroker } from "../../testbed/broker.ts";
import { eventually, type RunningServer, Site } from "../../testbed/front-door.ts";
import { SimulatorProcess } from "../../testbed/simulator-process.ts";

/** One sensor of each hub, as the simulator has them, with what it says when it is on. */
const sensors = [
  { hub: "zigbee2mqtt", address: "00:15:8d:00:01:a2:b3:c4", event: 0b10 },
  { hub: "esphome", address: "a0:b1:c2:d3:e4:f5", event: 0b10 },
  { hub: "openmqttgateway", address: "aa:bb:cc:dd:ee:01", event: 1 },
  { hub: "zwave-js-ui", address: "02:00:00:00:00:0c:00:07", event: 1 },
] as const;

const site = new Site();
let broker: TestBroker;
let hubs: SimulatorProcess;
let gateway: RunningServer;
let token = "";

beforeAll(async () => {
  broker = await startBroker();
  hubs = await SimulatorProcess.start("mqtt", "--broker", broker.url);
  await hubs.tell({ do: "introduce" });
  site.configure({ sections: `[home]\nid = 12\n[mqtt]\nurl = "${broker.url}"` });
  gateway = await site.run();
  token = await site.token();
  await site.listening();
});
afterAll(async () => {
  await site.remove();
  await hubs.end();
  await broker.remove();
});

test("the sensors of all hubs are strangers, until lintel items admit lets each in", async () => {
  for (const { hub } of sensors) await hubs.tell({ do: "say", hub, on: false });
  const strangers = await eventually(async () => {
    const found = await site.answer("items", "strangers", "--json", "--data", site.data);
    return found.length === sensors.length ? (found as { address: string; listener: string }[]) : undefined;
  }, "four strangers");
  expect(strangers.map(({ address }) => address).sort()).toEqual(
    sensors.map(({ address }) => address).sort(),
  );
  expect(new Set(strangers.map(({ listener }) => listener))).toEqual(new Set(["mqtt"]));
  expect(await gateway.records("/inventory/wirelesssensors", token)).toEqual([]);
  for (const { address } of sensors)
    await site.answer("items", "admit", address, "--json", "--data", site.data);
});

test("what they say then are events", async () => {
  for (const { hub } of sensors) for (const on of [true, false]) await hubs.tell({ do: "say", hub, on });
  for (const { address, event } of sensors) {
    const item = `wirelesssensor-${address.replaceAll(":", "")}`;
    const events = await eventually(async () => {
      const found = await gateway.events(item, token).catch(() => []);
      return found.length === 2 ? found : undefined;
    }, `two events of ${item}`);
    expect(events.map((one) => one.event)).toEqual([0, event]);
  }
});

test("lintel status names the broker, and the sensors that would lose what they say", async () => {
  await hubs.tell({ do: "say", hub: "esphome", on: true, qos: 0 });
  await eventually(async () => {
    const { out } = await site.lintel("status", "--data", site.data);
    return out.includes(`MQTT broker ${broker.url}, 4 sensors, 1 of them at QoS 0`) ? true : undefined;
  }, "it in the status");
  const device = await gateway.records<object>(
    "/items/wirelesssensors/wirelesssensor-a0b1c2d3e4f5/device",
    token,
  );
  expect(JSON.stringify(device)).toContain("it comes at QoS 0");
});

test("a gateway that stops and starts has lost nothing", async () => {
  expect(await gateway.stop()).toBe(0);
  await hubs.tell({ do: "say", hub: "zigbee2mqtt", on: true });
  await hubs.tell({ do: "say", hub: "zigbee2mqtt", on: false });
  gateway = await site.run();
  const events = await eventually(async () => {
    const found = await gateway.events("wirelesssensor-00158d0001a2b3c4", token);
    return found.length === 4 ? found : undefined;
  }, "what waited at the broker");
  expect(events.map(({ event }) => event)).toEqual([0, 2, 0, 2]);
});
