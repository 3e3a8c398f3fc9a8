import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { clockQuality } from "../../../src/base/clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { Gap, Reading } from "../../../src/domain/reading.ts";
import { Ingest } from "../../../src/gateway/ingest/ingest.ts";
import { DeviceHealth } from "../../../src/store/exchange.ts";
import { decodeBatch } from "../../../src/transfer/batch-codec.ts";
import { written } from "../../../testbed/batch-sample.ts";
import { keptLog, sensor, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedMachine } from "../../../testbed/simulated-machine.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload, ownEpoch } from "../../store/upload/opening.ts";

const box = { kind: "pillboxes", address: "00:0d:6f:00:07:00" } as const;
const year_ms = 365 * day_ms;

/** Readings and gaps of a device whose clock shows anything. */
const far_ms: readonly number[] = [
  -year_ms * 1_900,
  -1,
  start_ms + year_ms,
  start_ms + year_ms * 70,
  start_ms + year_ms * 900,
];
const readings = far_ms.map(
  (ahead_ms, event): Reading => ({
    device: box,
    series: "pillbox_events",
    stamp_ms: start_ms,
    monotonic_ms: event % 2 === 0 ? ahead_ms : -ahead_ms,
    clock: clockQuality.device,
    deviceClock: { stamp_ms: ahead_ms, offset_ms: -ahead_ms },
    values: { event },
  }),
);
const gaps = far_ms.map(
  (at_ms): Gap => ({ device: box, from_ms: at_ms - year_ms, to_ms: at_ms, reason: "overwritten" }),
);

for (const known of [true, false])
  test(`whatever a device takes for the time, its readings are kept and central takes them (the time is ${known ? "" : "not "}known as they come)`, async () => {
    using directory = temporaryDirectory();
    const machine = new SimulatedMachine({ now_ms: start_ms });
    machine.start(start_ms, 0);
    if (known) machine.synchronise();
    const store = await openGateway(directory.path);
    const ingest = new Ingest({ store, clock: machine.startProcess(), log: keptLog().log });
    const onDisk = async (taken: Promise<unknown>) => {
      let done = false;
      const settled = taken.finally(() => {
        done = true;
      });
      while (!done) {
        machine.advance(100);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await settled;
    };
    for (const one of readings) await onDisk(ingest.accept(one));
    for (const one of gaps) await onDisk(ingest.gap(one));
    if (!known) machine.synchronise();
    const { unix_ms, monotonic_ms, quality } = machine.moment();
    await onDisk(
      ingest.accept({
        device: sensor(1),
        series: "wirelesssensor_events",
        stamp_ms: unix_ms,
        monotonic_ms,
        clock: quality,
        values: { event: 1 },
      }),
    );
    await store.close();

    const upload = await openUpload(directory.path);
    const batch = await upload.batchAfter({ epoch: await ownEpoch(upload), after_seq: 0, readings_max: 100 });
    if (batch === undefined) throw new Error("there is no batch");
    expect(decodeBatch(written(batch)).series.pillbox_events?.seq).toHaveLength(readings.length);
    const health = await upload.deviceHealthAfter(0, 100);
    expect([...Value.Errors(DeviceHealth, health)].map(({ path, message }) => `${path} ${message}`)).toEqual(
      [],
    );
    expect(health.gaps.length).toBeGreaterThan(0);
    await upload.close();
  });
