import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { item, sensor, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

test("the offset of a device's own clock is that of its newest reading with one, whatever the inventory calls the device", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const box = (number: number) => ({ ...sensor(number), kind: "pillboxes" }) as const;
  const told = (
    number: number,
    second: number,
    offset_ms: number,
    clock: Reading["clock"] = clockQuality.device,
  ): Reading => {
    const stamp_ms = start_ms + second * 1000;
    const deviceClock = { stamp_ms: stamp_ms - offset_ms, offset_ms };
    return {
      device: box(number),
      series: "pillbox_events",
      stamp_ms,
      clock,
      values: { event: 1 },
      deviceClock,
    };
  };
  const offsetOf = (number: number) => store.deviceOffset("pillbox_events", box(number));
  // So that keys of items and of what is heard of them differ.
  await store.importRecords([[{ type: "items", record: item(5) }]]);
  expect(await offsetOf(1)).toBeUndefined();
  await store.append([
    told(1, 1, 500),
    told(2, 2, 900),
    told(1, 3, 700),
    told(1, 4, 1, clockQuality.bounded),
    told(3, 5, 1, clockQuality.bounded),
    told(6, 6, 300),
    told(6, 7, 400, clockQuality.synchronised),
    told(6, 8, 1, clockQuality.deviceUnmeasured),
  ]);
  expect([await offsetOf(1), await offsetOf(2), await offsetOf(6)]).toEqual([700, 900, 400]);
  // One that no reading has it of, and one that was never heard.
  expect([await offsetOf(3), await offsetOf(4)]).toEqual([undefined, undefined]);
  expect(await store.deviceOffset("wirelesssensor_events", box(1))).toBeUndefined();
  await store.close();
});
