import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { MqttDriver } from "../../../drivers/mqtt/driver.ts";
import { SimulatedHub } from "../../../drivers/mqtt/simulator/hub.ts";
import {
  esphomeConfig,
  esphomeState,
  theengsBroadcast,
  zigbeeDevices,
  zigbeeState,
  zwaveStatus,
  zwaveValue,
} from "../../../drivers/mqtt/simulator/messages.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { startBroker, startOldBroker, type TestBroker } from "../../../testbed/broker.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

const ieee = "0x00158d0001a2b3c4";
const address = "00:15:8d:00:01:a2:b3:c4";
const motion = { ieee, name: "hall/motion", model: "lumi.sensor_motion.aq2", vendor: "Aqara" };
const directory = temporaryDirectory();
let broker: TestBroker;
let hub: SimulatedHub;
let host: RecordingHost;
let driver: MqttDriver;

beforeEach(async () => {
  broker = await startBroker();
  hub = await SimulatedHub.connect(broker.url);
  host = new RecordingHost({ directory: join(directory.path, "mqtt") });
});
afterEach(async () => {
  await driver?.stop();
  await hub.end();
  await broker.remove();
});

async function listen(url = broker.url): Promise<void> {
  driver = new MqttDriver({ config: { url }, host, bounds: { least_ms: 50, most_ms: 200 } });
  driver.start();
  await listening();
}

function listening(): Promise<unknown> {
  return host.until("the broker", () => driver.status().state === "listening");
}

const eventsOf = (device: string) =>
  host.readings
    .filter((one) => one.device.address === device && one.series === "wirelesssensor_events")
    .map(({ values }) => values["event"]);

test("each hub's sensor makes events as an IAS sensor would", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await hub.publish(
    esphomeConfig({
      mac: "a0b1c2d3e4f5",
      node: "bed",
      component: "binary_sensor",
      object: "occupied",
      deviceClass: "occupancy",
    }),
  );
  await hub.publish(zwaveStatus("porch", 7, 1_800_000_000_000));
  await listen();
  await hub.publish(
    zigbeeState(motion.name, {
      occupancy: true,
      last_seen: "2026-11-22T19:00:00.123Z",
      battery: 91,
      voltage: 2985,
    }),
  );
  await hub.publish(esphomeState("bed", "binary_sensor", "occupied", "ON"));
  await hub.publish(esphomeState("bed", "binary_sensor", "occupied", "OFF"));
  await hub.publish(
    theengsBroadcast("AA:BB:CC:DD:EE:01", { model_id: "SBDW-002C", brand: "Shelly", open: true, batt: 80 }),
  );
  const door = { nodeId: 7, commandClass: "notification", property: "Access_Control/Door_state_simple" };
  await hub.publish(zwaveValue("porch", { ...door, value: 22, time: 1_800_000_000_100 }));
  await hub.publish(zwaveValue("porch", { ...door, value: 23, time: 1_800_000_000_200 }));
  await host.until("the events", () => host.readings.length === 6);
  expect(eventsOf(address)).toEqual([0b10]);
  expect(eventsOf("a0:b1:c2:d3:e4:f5")).toEqual([0b10, 0]);
  expect(eventsOf("aa:bb:cc:dd:ee:01")).toEqual([1]);
  expect(eventsOf("02:00:00:00:00:0c:00:07")).toEqual([1, 0]);
  expect(host.readings[0]).toMatchObject({
    device: {
      kind: "wirelesssensors",
      address,
      subtype: "wall",
      model: "lumi.sensor_motion.aq2",
      vendor: "Aqara",
    },
    clock: clockQuality.synchronised,
  });
  expect(host.states).toContainEqual(
    expect.objectContaining({ battery_percent: 91, battery_mv: 2985, linkquality: 120 }),
  );
  expect([...host.drops]).toEqual([]);
});

test("numbers are measures, each in its unit, and those that are only said again are none", async () => {
  const exposes = [
    { type: "numeric", property: "pressure", unit: "kPa", access: 1 },
    { type: "numeric", property: "target_count", access: 1 },
    { type: "numeric", property: "sensitivity", access: 7 },
  ];
  await hub.publish(zigbeeDevices([{ ...motion, exposes }]));
  const sensor = {
    mac: "a0b1c2d3e4f5",
    node: "bed",
    component: "sensor",
    deviceClass: "temperature",
  } as const;
  await hub.publish(esphomeConfig({ ...sensor, object: "air", unit: "°F" }));
  await hub.publish(esphomeConfig({ ...sensor, object: "mattress", unit: "°C" }));
  await hub.publish(esphomeConfig({ ...sensor, object: "light", deviceClass: "illuminance", unit: "lx" }));
  await hub.publish(zwaveStatus("porch", 7, 1_800_000_000_000));
  await listen();
  await hub.publish(
    zigbeeState(motion.name, {
      temperature: 21.5,
      pressure: 100.1,
      action: "single",
      voltage: 2985,
      target_count: 2,
      sensitivity: 5,
    }),
  );
  await hub.publish(zigbeeState(motion.name, { temperature: 21.5, pressure: 100.2, illuminance: "dark" }));
  await hub.publish(esphomeState("bed", "sensor", "air", "70.7"));
  await hub.publish(esphomeState("bed", "sensor", "mattress", "30.5"));
  await hub.publish(esphomeState("bed", "sensor", "mattress", "30.5"));
  await hub.publish(esphomeState("bed", "sensor", "light", "nan"));
  const light = {
    nodeId: 7,
    commandClass: "sensor_multilevel",
    property: "Illuminance",
    time: 1_800_000_000_300,
  };
  await hub.publish(zwaveValue("porch", { ...light, value: 12 }));
  await hub.publish(zwaveValue("porch", { ...light, value: 12, unit: "Lux", time: 1_800_000_000_400 }));
  await host.until("the measures", () => host.readings.length === 9);
  expect(host.readings.map(({ series }) => series)).toEqual(Array(9).fill("wirelesssensor_measures"));
  expect(host.readings.map(({ values }) => Object.values(values).join(" "))).toEqual([
    "temperature 21.5 °C",
    "pressure 1001 hPa",
    "action_single 1 ",
    "target_count 2 ",
    "pressure 1002 hPa",
    "temperature_air 21.5 °C",
    "temperature_mattress 30.5 °C",
    "temperature_mattress 30.5 °C",
    "illuminance 12 lx",
  ]);
  expect(Object.fromEntries(host.drops)).toEqual({
    "zigbee2mqtt messages whose values are neither numbers nor known words": 1,
    "zwave-js-ui messages that tell a measure without its unit": 1,
  });
});

test("an occupancy off that the hub adds by a timer is no event, and the next on is one", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  const seen = (second: number) => `2026-11-22T19:00:0${second}.000Z`;
  await hub.publish(zigbeeState(motion.name, { occupancy: true, last_seen: seen(1) }));
  await hub.publish(zigbeeState(motion.name, { occupancy: true, illuminance: 10, last_seen: seen(2) }));
  await hub.publish(zigbeeState(motion.name, { occupancy: false, illuminance: 10, last_seen: seen(2) }));
  await hub.publish(zigbeeState(motion.name, { occupancy: true, illuminance: 10, last_seen: seen(3) }));
  await host.until("the second event", () => eventsOf(address).length === 2);
  expect(eventsOf(address)).toEqual([0b10, 0b10]);
});

test("a retained message is a state and no event", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await hub.publish({ ...zigbeeState(motion.name, { occupancy: true }), retain: true });
  await listen();
  await hub.publish(zigbeeState(motion.name, { occupancy: false }));
  await host.until("the event", () => host.readings.length > 0);
  expect(eventsOf(address)).toEqual([0]);
});

test("what comes while the gateway is away is kept by the broker, and has the hub's time", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  await hub.publish(zigbeeState(motion.name, { occupancy: true, last_seen: "2026-11-22T19:00:01.000Z" }));
  await host.until("the first", () => host.readings.length === 1);
  await driver.stop();
  await hub.publish(zigbeeState(motion.name, { occupancy: false, last_seen: "2026-11-22T19:00:02.000Z" }));
  await hub.publish(zigbeeState("plain", { device: { ieeeAddr: "0x0000000000000009" }, contact: false }));
  await listen();
  await host.until("what waited", () => host.readings.length === 3);
  expect(eventsOf(address)).toEqual([0b10, 0]);
  expect(host.readings[1]).toMatchObject({
    stamp_ms: Date.parse("2026-11-22T19:00:02.000Z"),
    clock: clockQuality.deviceUnmeasured,
  });
  // Without a stamp nobody knows when it was.
  expect(host.readings[2]).toMatchObject({ values: { event: 1 }, clock: clockQuality.bounded });
});

test("a broker that sends old messages once more, and a mark of before among them, has none recorded twice", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  const start_ms = Date.parse("2026-11-22T19:00:00.000Z");
  const said = (number: number) =>
    zigbeeState(motion.name, {
      occupancy: number % 2 === 0,
      last_seen: new Date(start_ms + number * 1_000).toISOString(),
    });
  // More than are remembered of a sensor.
  for (let number = 0; number < 70; number += 1) await hub.publish(said(number));
  await host.until("all", () => host.readings.length === 70);
  await driver.stop();
  await hub.publish({ topic: `lintel/lintel-${host.localAddress.replaceAll(":", "")}/here`, payload: "" });
  await hub.publish(said(1));
  await hub.publish(said(70));
  await listen();
  // It waited, and so has the hub's time.
  await host.until("the new one", () => host.readings.some(({ stamp_ms }) => stamp_ms === start_ms + 70_000));
  expect(eventsOf(address)).toHaveLength(71);
});

test("a message that was not on disk is sent again, and one that was is not recorded twice", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  const first = zigbeeState(motion.name, { occupancy: true, last_seen: "2026-11-22T19:00:01.000Z" });
  await hub.publish(first);
  await host.until("the first", () => host.readings.length === 1);
  // A hub that got no acknowledgement sends it again.
  await hub.publish(first);
  await host.until("the repetition", () => host.drops.get("mqtt messages that came again") === 1);
  let release = () => {};
  const disk = new Promise<boolean>((resolve) => {
    release = () => resolve(true);
  });
  const accept = host.accept.bind(host);
  host.accept = () => disk;
  await hub.publish(zigbeeState(motion.name, { occupancy: false, last_seen: "2026-11-22T19:00:02.000Z" }));
  await host.until("the one under way", () => host.states.length === 2);
  await driver.stop();
  release();
  host.accept = accept;
  await listen();
  await host.until("it", () => host.readings.length === 2);
  expect(eventsOf(address)).toEqual([0b10, 0]);
});

test("a sensor that nobody let in is asked about, and nothing of it is kept", async () => {
  host.isAdmitted = () => false;
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  await hub.publish(zigbeeState(motion.name, { occupancy: true }));
  await host.until("the question", () => host.sightings.length > 0);
  expect(host.sightings[0]?.device.address).toBe(address);
  expect(host.readings).toEqual([]);
  expect(host.states).toEqual([]);
});

test("names that people gave to topics are in no fact of a sensor", async () => {
  const node = { node: "annas-room", component: "binary_sensor" as const, object: "bed_of_anna" };
  await hub.publish(esphomeConfig({ ...node, mac: "a0b1c2d3e4f5", deviceClass: "occupancy" }));
  await listen();
  await hub.publish(esphomeState(node.node, node.component, node.object, "ON"));
  await host.until("the facts", () => host.facts.size > 0);
  expect([...host.facts.values()]).toMatchObject([{ events: { form: "translated", from: "ESPHome" } }]);
  expect(JSON.stringify([...host.facts.values()])).not.toContain("anna");
});

test("what comes at QoS 0 is said in the status, and among the facts of its sensor", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  await hub.publish(zigbeeState(motion.name, { occupancy: true }), 0);
  await host.until("the event", () => host.readings.length === 1);
  expect(driver.status().detail).toMatch(/1 sensor, 1 of them at QoS 0: lost while the gateway is away$/);
  const lossy = host.facts.get(address) ?? {};
  expect(lossy).toEqual({
    events: { form: "translated", from: "Zigbee2MQTT, occupancy" },
    never: [
      expect.stringContaining("the same state a second time"),
      "what it says while the gateway or the broker is away: it comes at QoS 0",
    ],
  });
  await hub.publish(zigbeeState(motion.name, { occupancy: false }), 1);
  await host.until("the other", () => host.readings.length === 2);
  expect(driver.status().detail).toEndWith("1 sensor");
  expect(host.facts.get(address)).toEqual({ ...lossy, never: lossy.never?.slice(0, 1) ?? [] });
});

test("firmware and its date are told as the hub has them, and anew after an update", async () => {
  await hub.publish(zigbeeDevices([{ ...motion, firmware: "2.2.2\0" }]));
  await listen();
  await hub.publish(zigbeeState(motion.name, { occupancy: true }), 1);
  await host.until("the facts", () => host.facts.has(address));
  expect(host.facts.get(address)).toMatchObject({ firmware: "2.2.2", datecode: "20240501" });
  await hub.publish(zigbeeDevices([{ ...motion, firmware: "2.3.0" }]));
  await hub.publish(zigbeeState(motion.name, { occupancy: false }), 1);
  await host.until("the update", () => host.facts.get(address)?.firmware === "2.3.0");
});

test("bad messages are thrown away, counted by name, and those after them are taken", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  await hub.publish({ topic: "zigbee2mqtt/hall/motion", payload: "{" });
  await hub.publish(zigbeeState("nobody", { occupancy: true }));
  await hub.publish(zigbeeState(motion.name, { occupancy: "yes" }));
  await hub.publish({ topic: "zigbee2mqtt/hall/motion", payload: `"${"x".repeat(70_000)}"` });
  await hub.publish({ topic: "home/g/BTtoMQTT/x", payload: "{}" });
  await hub.publish(zigbeeState(motion.name, { occupancy: true }));
  await host.until("the event", () => host.readings.length === 1);
  expect(Object.fromEntries(host.drops)).toEqual({
    "zigbee2mqtt messages that are no JSON objects": 1,
    "zigbee2mqtt messages of unknown devices": 1,
    "zigbee2mqtt messages whose values are neither numbers nor known words": 1,
    "zigbee2mqtt messages of more than 64 KiB": 1,
    "openmqttgateway messages of devices without an address": 1,
  });
});

test("a broker that is away is one line, and listened to again when it is back", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  await broker.kill();
  const away = await host.until("the line", () => driver.status().problem);
  expect(away).toMatch(/^the MQTT broker mqtt:\/\/127\.0\.0\.1:\d+ is away: see that it runs/);
  // Somebody else at its port hangs up at each try.
  let tries = 0;
  const port = Bun.listen({
    hostname: "127.0.0.1",
    port: Number(new URL(broker.url).port),
    socket: {
      open: (socket) => {
        tries += 1;
        socket.end();
      },
      data() {},
    },
  });
  await host.until("five tries", () => tries >= 5);
  port.stop(true);
  await broker.start();
  await listening();
  expect(host.lines.filter((line) => line.startsWith("warn"))).toEqual([expect.stringContaining("is away")]);
  await hub.publish(zigbeeState(motion.name, { occupancy: true, last_seen: 1_800_000_000_000 }));
  await host.until("the event", () => host.readings.length === 1);
});

test("a broker that speaks MQTT 3.1.1 alone is spoken to by that", async () => {
  const old = await startOldBroker();
  const there = await SimulatedHub.connect(old.url);
  await there.publish(zigbeeDevices([motion]));
  await listen(old.url);
  await there.publish(zigbeeState(motion.name, { occupancy: true }));
  await host.until("the event", () => host.readings.length === 1);
  expect(host.lines).toEqual([expect.stringContaining("info MQTT broker")]);
  await driver.stop();
  await there.end();
  await old.remove();
});

test("another model under the address of a known sensor is refused, and waits for a person", async () => {
  await hub.publish(zigbeeDevices([motion]));
  await listen();
  await hub.publish(zigbeeState(motion.name, { occupancy: true }));
  await host.until("the event", () => eventsOf(address).length === 1);
  await hub.publish(zigbeeDevices([{ ...motion, model: "SNZB-04" }]));
  await hub.publish(zigbeeState(motion.name, { occupancy: false }));
  const { why } = await host.until("the conflict", () => host.identities.conflictAt(address));
  expect(why).toBe("its model is lumi.sensor_motion.aq2, and now it says SNZB-04");
  expect(eventsOf(address)).toEqual([0b10]);
});
