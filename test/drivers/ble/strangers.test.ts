import { expect, test } from "bun:test";
import { bthomeDevices } from "../../../drivers/bthome/driver.ts";
import { scales } from "../../../drivers/scale/driver.ts";
import { watchPeripheral } from "../../../drivers/watch/peripheral.ts";
import { addPillBox, addScale, deviceAddresses, strangerOf } from "../../../testbed/ble-devices.ts";
import { listening, startRig } from "./rig.ts";

const products = [bthomeDevices, ...scales, watchPeripheral];

test("a pill box that the gateway knows is heard, however many invented devices were heard before it", async () => {
  await using rig = await startRig({ products });
  rig.host.isAdmitted = ({ address }) => address === deviceAddresses.box;
  const box = addPillBox(rig.controller);
  await listening(rig);
  for (let number = 0; number < 4_000; number += 1) {
    rig.controller.passBy(strangerOf(number));
    if (number % 200 === 199) await rig.controller.drained();
  }
  box.turn(3);
  const reading = await rig.host.until("its event", () =>
    rig.host.readings.find(({ device }) => device.address === deviceAddresses.box),
  );
  expect(reading).toMatchObject({ series: "pillbox_events", values: { event: 1 << 3 } });
});

test("a stranger is asked about by what it says, and neither handed to a product nor connected to", async () => {
  await using rig = await startRig({ products });
  rig.host.isAdmitted = () => false;
  await listening(rig);
  const { onAir } = addScale(rig.controller);
  for (let times = 0; times < 50; times += 1) onAir.advertise();
  const box = addPillBox(rig.controller);
  box.turn(3);
  await rig.host.until("the box", () => rig.host.sightings.some(({ device }) => device.kind === "pillboxes"));
  expect(rig.host.sightings.map(({ device }) => device)).toEqual([
    ...Array.from({ length: 50 }, () => ({ kind: "scales" as const, address: deviceAddresses.scale })),
    ...Array.from({ length: 3 }, () => ({
      kind: "pillboxes" as const,
      address: deviceAddresses.box,
      subtype: "broadcasting",
    })),
  ]);
  expect(rig.host.sightings[0]).toMatchObject({ signal_dbm: -60, welcome: false });
  expect([rig.host.readings, rig.host.states, onAir.attempts]).toEqual([[], [], 0]);
});

test("a device that the configuration names, in allow or by a key, is not asked about", async () => {
  const key = "7e1d0c5b92f34a6880a1c6d2e5479b13";
  for (const config of [
    { allow: [deviceAddresses.box.toUpperCase()] },
    { keys: { [deviceAddresses.box.toUpperCase()]: key } },
  ]) {
    await using rig = await startRig({ products, config });
    rig.host.isAdmitted = () => false;
    await listening(rig);
    addPillBox(rig.controller, "keys" in config ? { key: Uint8Array.fromHex(key) } : {}).turn(3);
    await rig.host.until("its event", () => rig.host.readings.length > 0);
    expect(rig.host.sightings).toEqual([]);
  }
});

test("one that the gateway no longer admits is not heard any more", async () => {
  await using rig = await startRig({ products });
  await listening(rig);
  const box = addPillBox(rig.controller);
  box.turn(3);
  await rig.host.until("its event", () => rig.host.readings.length === 1);
  rig.host.isAdmitted = () => false;
  const asked = rig.host.sightings.length;
  box.turn(4);
  await rig.host.until("the question", () => rig.host.sightings.length === asked + 3);
  expect(rig.host.readings).toHaveLength(1);
});

test("where all are to be admitted the gateway is told so", async () => {
  await using rig = await startRig({ products, config: { admit: "all" } });
  await listening(rig);
  addPillBox(rig.controller).turn(3);
  await rig.host.until("its event", () => rig.host.readings.length === 1);
  expect(rig.host.sightings[0]).toMatchObject({ welcome: true });
});

test("whoever speaks as a device of another kind under its address does not keep it from being heard", async () => {
  await using rig = await startRig({ products, config: { allow: Object.values(deviceAddresses) } });
  await listening(rig);
  const box = addPillBox(rig.controller);
  const speak = (address: string, as: number) =>
    rig.controller.passBy({ ...strangerOf(as), address, connectable: false });
  speak(deviceAddresses.box, bangleWatch);
  speak(deviceAddresses.watch, doorSensor);
  box.turn(3);
  await rig.host.until("its event", () =>
    rig.host.readings.find(({ device }) => device.address === deviceAddresses.box),
  );
  rig.host.states.length = 0;
  speak(deviceAddresses.watch, bangleWatch);
  await rig.host.until("the watch", () => rig.host.states.find(({ device }) => device.kind === "watches"));
});

/** Numbers of strangers that are of these kinds. */
const doorSensor = 0;
const bangleWatch = 6;
