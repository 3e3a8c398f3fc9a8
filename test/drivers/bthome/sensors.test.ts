import { expect, test } from "bun:test";
import { BleDriver } from "../../../drivers/ble/driver.ts";
import { bthomeDevices } from "../../../drivers/bthome/driver.ts";
import { type BthomeObject, objectTypes } from "../../../drivers/bthome/objects.ts";
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

/** Types whose objects go to the same place, by that place. */
const together = Map.groupBy(
  [...objectTypes].flatMap(([id, { kept }]) =>
    kept === undefined ? [] : [{ id, place: JSON.stringify(kept) }],
  ),
  ({ place }) => place,
);
const placed = [...together].map(([place, types]) => [place, types.map(({ id }) => id)] as const);
const sighted = (...objects: readonly BthomeObject[]) => sensorSightingOf(objects, { triggered: false });

test.each(placed.filter(([place]) => place.includes("bit")))(
  "of all objects that are told as %s one that is set is enough, wherever it stands",
  (place, ids) => {
    const { bit } = JSON.parse(place);
    for (const set of ids) {
      const objects = [...ids, ids[0] ?? 0].map((id) => ({ id, value: id === set ? 1 : 0 }));
      expect(sighted(...objects)?.bits).toEqual(new Map([[bit, 1]]));
      expect(sighted(...objects.toReversed())?.bits).toEqual(new Map([[bit, 1]]));
    }
    expect(sighted(...ids.map((id) => ({ id, value: 0 })))?.bits).toEqual(new Map([[bit, 0]]));
  },
);

test.each(placed.filter(([place]) => place.includes("quantity")))(
  "of all objects that are told as %s each is a quantity of its own",
  (place, ids) => {
    const { quantity } = JSON.parse(place);
    const objects = [...ids, ids[0] ?? 0, ids[0] ?? 0].map((id) => ({ id, value: 1 }));
    expect(sighted(...objects)?.measures.map((one) => one.quantity)).toEqual(
      objects.map((_, place) => (place === 0 ? quantity : `${quantity}_${place + 1}`)),
    );
  },
);

test("of several buttons each press says of which, also where others were not pressed; of one it does not", () => {
  const press = (value: number) => ({ id: 0x3a, value });
  expect(sighted(press(1))?.presses).toEqual(["single"]);
  expect(sighted(press(0), press(1), press(0), press(2))?.presses).toEqual(["2_single", "4_double"]);
  expect(sighted(press(0), press(0))).toMatchObject({ presses: [] });
});

test("a voltage is that of the battery, unless something shows that it is of the mains", () => {
  const volts = { id: 0x0c, value: 2.987 };
  const warm = { id: 0x02, value: 21 };
  expect(sighted(volts, warm)).toMatchObject({ battery_mv: 2_987, measures: [{ quantity: "temperature" }] });
  for (const id of [0x0b, 0x0a, 0x43, 0x5c]) {
    const seen = sighted(volts, { id, value: 1 });
    expect(seen?.measures.map(({ quantity }) => quantity)).toContain("voltage");
    expect(seen?.battery_mv).toBeUndefined();
  }
});
