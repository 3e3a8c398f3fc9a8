import { heapStats } from "bun:jsc";
import { expect } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { HciSimulator } from "../../../drivers/ble/simulator/controller.ts";
import type { PeripheralDefinition } from "../../../drivers/peripheral.ts";
import { testAtNight } from "../../at-night.ts";
import { bthome, listening, startRig } from "./rig.ts";

const packets = 100_000;
/** Caches and the collector of garbage add as many; of the 10,000 strangers nothing may be kept. */
const objects_more_max = 2_000;
/** A device in ten is somebody's phone with a new address each time, the rest are twenty boxes. */
const boxes = 20;

testAtNight(
  "100,000 advertisements, every tenth from an address never heard before, leave memory as it was",
  async () => {
    let heard = 0;
    const counting: PeripheralDefinition = {
      name: "counting",
      section: Type.Object({}),
      kind: "pillboxes",
      recognises: ({ serviceData }) => serviceData.has("fcd2"),
      deviceOf: ({ address }) => ({ kind: "pillboxes", address }),
      create: () => ({
        advertised: () => {
          heard += 1;
        },
      }),
    };
    await using rig = await startRig({ products: [counting], transport: "tcp" });
    await listening(rig);
    const known = Array.from({ length: boxes }, (_, number) =>
      rig.controller.addPeripheral({
        address: `54:48:e6:00:00:${number.toString(16).padStart(2, "0")}`,
        advertisement: bthome(0x40, number),
        scanResponse: { name: "box" },
      }),
    );
    let stranger = 0;
    const send = async (count: number) => {
      const expected = heard + count * 2 * 0.9;
      for (let sent = 0; sent < count; sent += 1) {
        if (sent % 10 === 9) {
          stranger += 1;
          passBy(rig.controller, stranger);
        } else known[sent % boxes]?.advertise();
        if (sent % 500 === 499) await rig.controller.drained();
      }
      await rig.host.until("all of them", () => heard === expected);
    };
    await send(packets / 10);
    rig.host.sightings.length = 0;
    const before = objects();
    await send(packets);
    rig.host.sightings.length = 0;
    const after = objects();
    expect(stranger).toBe(11_000);
    // A driver that kept something of every stranger would have some tens of thousands of objects more.
    expect(after - before).toBeLessThan(objects_more_max);
  },
);

/** A device that is heard once. */
function passBy(controller: HciSimulator, number: number): void {
  const address = `c0:00:00:${number.toString(16).padStart(6, "0").match(/../g)?.join(":")}`;
  controller.addPeripheral({ address, advertisement: { name: "phone" } }).advertise();
  controller.peripherals.pop();
}

function objects(): number {
  Bun.gc(true);
  return heapStats().objectCount;
}
