import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { sensor, sensorEvent, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload, ownEpoch } from "./opening.ts";

/** Three of a millisecond, so that readings of one lie before and after the 10,000 that are looked at without a pause. */
const stampOf = (index: number) => first_ms + Math.floor(index / 3) * 10;
const midnight_ms = 20_500 * day_ms;
const first_ms = midnight_ms - 10_000;

test("digests of more readings than are looked at without a pause are of all of them, and others are served meanwhile", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const model = new SimulatedGateway(0, "model");
  const device = sensor(1);
  const stamps_ms = Array.from({ length: 10_500 }, (_, index) => stampOf(index));
  await gateway.append(stamps_ms.map((stamp_ms, event) => sensorEvent(device, stamp_ms, event)));
  for (const [event, stamp_ms] of stamps_ms.entries())
    model.add({ device, series: "wirelesssensor_events", stamp_ms, fields: [event] });
  const store = await openUpload(directory.path);
  const epoch = await ownEpoch(store);
  const last_ms = stampOf(10_499);
  for (const [through_seq, from_ms, before_ms] of [
    [10_500, 0, midnight_ms * 2],
    [10_450, first_ms, last_ms],
    [10_500, first_ms + 1, last_ms + 1],
  ] as const) {
    let served = false;
    setImmediate(() => {
      served = true;
    });
    const span = { through_seq, from_ms, before_ms };
    expect(await store.digests({ epoch, ...span })).toEqual(model.digests(span));
    expect(served).toBe(true);
  }
  await store.close();
  await gateway.close();
});
