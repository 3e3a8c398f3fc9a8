import { expect, test } from "bun:test";
import { bthomeBoxes } from "../../../drivers/bthome/driver.ts";
import { scales } from "../../../drivers/scale/driver.ts";
import { watchPeripheral } from "../../../drivers/watch/peripheral.ts";
import { addPillBox, deviceAddresses, strangerOf } from "../../shipped/ble-devices.ts";
import { listening, startRig } from "./rig.ts";

const products = [bthomeBoxes, ...scales, watchPeripheral];

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
}, 30_000);
