import { expect, test } from "bun:test";
import { batch_readings_max } from "../../../src/store/batch.ts";
import { sensor } from "../../../testbed/sample.ts";
import { dayOf, SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { temporaryCentral } from "./temporary-central.ts";

const series = "wirelesssensor_events";
const first_ms = Date.UTC(2026, 10, 20);

test("a day of more readings than a batch has is told, and put right, in several", async () => {
  await using made = await temporaryCentral();
  const { store } = made;
  const gateway = new SimulatedGateway(12, "one");
  const device = sensor(1);
  const last = batch_readings_max + 1;
  for (let seq = 1; seq <= last; seq += 1)
    gateway.add({ device, series, stamp_ms: first_ms + seq, fields: [seq] });
  await store.receive(gateway.batch(1, batch_readings_max), gateway.sender);
  await store.receive(gateway.batch(last, last), gateway.sender);
  const { kind, address } = device;
  const all = {
    epoch: gateway.epoch,
    through_seq: last + 5,
    series,
    kind,
    address,
    day: dayOf(first_ms),
  } as const;
  const request = { ...all, after_seq: 0 };
  const first = await store.readingsOfDay(request, 12);
  expect([first.from_seq, first.to_seq]).toEqual([1, batch_readings_max]);
  expect(first.series[series]?.seq).toHaveLength(batch_readings_max);
  const rest = await store.readingsOfDay({ ...all, after_seq: batch_readings_max }, 12);
  expect([rest.from_seq, rest.to_seq]).toEqual([last, last + 5]);
  expect(rest.series[series]?.seq).toEqual(Float64Array.of(last));
  // A full batch says nothing of what follows it.
  expect((await store.readingsOfDay({ ...all, after_seq: 1 }, 12)).to_seq).toBe(last);
  const nothing = { added: 0, corrected: 0, kept: 0 };
  expect(await store.repairDay(request, first, gateway.sender)).toEqual(nothing);
  gateway.lost.add(batch_readings_max);
  expect(await store.repairDay(request, gateway.day(request), gateway.sender)).toEqual({
    ...nothing,
    kept: 1,
  });
});
