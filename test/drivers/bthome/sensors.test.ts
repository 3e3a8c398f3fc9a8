import { expect, test } from "bun:test";
import { BleDriver } from "../../../drivers/ble/driver.ts";
import { bthomeDevices } from "../../../drivers/bthome/driver.ts";
import type { BthomeObject } from "../../../drivers/bthome/objects.ts";
import { judgeSensor, type SensorState, sensorSightingOf } from "../../../drivers/bthome/sensor.ts";
import { encodeServiceData } from "../../../drivers/bthome/service-data.ts";
import { listening, type Rig, startRig } from "../ble/rig.ts";

const address = "54:48:e6:8f:80:a5";
const key = Uint8Array.fromHex("231d39c1d7cc1ab1aee224cd096db932");
const sender = { address: Uint8Array.fromHex(address.replaceAll(":", "")), key };

/** A sensor on the air whose broadcasts are encrypted, each sent three times. */
function sensorOn({ controller }: Rig) {
  const device = controller.addPeripheral({ address, addressType: "public" });
  let counter = 0;
  return (objects: readonly BthomeObject[], { first = counter } = {}) => {
    counter = first + 1;
    const fcd2 = encodeServiceData({ objects, counter }, sender);
    for (let sent = 0; sent < 3; sent += 1) {
      device.say({ serviceData: { fcd2 } });
      device.advertise();
    }
  };
}

const motion = (seen: number): BthomeObject => ({ id: 0x21, value: seen });
const window = (open: number): BthomeObject => ({ id: 0x2d, value: open });
const told = ({ host }: Rig) =>
  host.readings.map(({ values }) => values["event"] ?? `${values["quantity"]} ${values["value"]}`);

test("an encrypted motion sensor is a wireless sensor, and a restart tells no event twice", async () => {
  const config = { keys: { [address]: key.toHex() } };
  await using rig = await startRig({ products: [bthomeDevices], config });
  await listening(rig);
  const say = sensorOn(rig);
  say([motion(1), { id: 0x05, value: 12.5 }, { id: 0x01, value: 77 }]);
  say([motion(0)]);
  await rig.host.until("two events", () => rig.host.readings.length === 3);
  expect(told(rig)).toEqual([0b10, "illuminance 12.5", 0]);
  expect(rig.host.readings[0]?.device).toEqual({ kind: "wirelesssensors", address, subtype: "wall" });
  expect(rig.host.states.some(({ battery_percent }) => battery_percent === 77)).toBe(true);

  await rig.driver.stop();
  const driver = new BleDriver({
    config: { ...config, port: rig.controller.path },
    host: rig.host,
    products: [bthomeDevices],
  });
  driver.start();
  await listening({ ...rig, driver });
  say([motion(0)], { first: 1 });
  say([motion(1)]);
  await rig.host.until("the next event", () => rig.host.readings.length === 4);
  expect(told(rig).at(-1)).toBe(0b10);
  await driver.stop();
});

test("a window sensor is a lid of a pill box, unless it is listed as a sensor", async () => {
  for (const sensors of [[], [address.toUpperCase()]]) {
    const config = { keys: { [address]: key.toHex() }, bthome: { sensors } };
    await using rig = await startRig({ products: [bthomeDevices], config });
    await listening(rig);
    sensorOn(rig)([window(1), { id: 0x3f, value: 12 }]);
    await rig.host.until("the event", () => rig.host.readings.length === (sensors.length === 0 ? 1 : 2));
    const [reading] = rig.host.readings;
    expect([reading?.device.kind, reading?.series]).toEqual(
      sensors.length === 0 ? ["pillboxes", "pillbox_events"] : ["wirelesssensors", "wirelesssensor_events"],
    );
    expect(told(rig)).toEqual(sensors.length === 0 ? [1] : [1, "angle 12"]);
  }
});

test.each([
  ["of an interval, without a number", { triggered: false, numbered: false }, 1],
  ["of an interval, with a number", { triggered: false, numbered: true }, 1],
  ["that is triggered, without a number", { triggered: true, numbered: false }, 1],
  ["that is triggered, with a number", { triggered: true, numbered: true }, 5],
] as const)(
  "a measure %s is recorded as often as it says something new",
  (_, { triggered, numbered }, expected) => {
    let state: SensorState | undefined;
    let recorded = 0;
    for (let packet = 1; packet <= 5; packet += 1) {
      const objects = [...(numbered ? [{ id: 0x00, value: packet }] : []), { id: 0x02, value: 21.5 }];
      const seen = sensorSightingOf(objects, { triggered });
      // One is recorded, and the others come within the minute.
      const news = seen && judgeSensor(state, seen, () => recorded === 0);
      state = news?.state ?? state;
      recorded += news?.measures.length ?? 0;
    }
    expect(recorded).toBe(expected);
  },
);
