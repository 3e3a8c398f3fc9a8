import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { batch_readings_max } from "../../../src/store/batch.ts";
import type { DayReadings } from "../../../src/store/gateway/upload-store.ts";
import { beginEpochIn } from "../../../src/store/sqlite/role-and-epoch.ts";
import { reading, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { rowsOf } from "./model.ts";
import { openUpload, ownEpoch } from "./opening.ts";

const today = Math.floor(start_ms / day_ms);
const day = { series: "wirelesssensor_events", ...sensor(1), day: today, after_seq: 0 } as const;

test("a day of a device is its readings of that series from midnight to midnight, as far as is asked, in order of number", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const [from_ms, before_ms] = [today * day_ms, (today + 1) * day_ms];
  const at = (stamp_ms: number, number = 1) => sensorEvent(sensor(number), stamp_ms, 48);
  const measure = { quantity: "temperature", value: 21.5, unit: "°C" };
  await gateway.append([
    at(before_ms - 1),
    at(from_ms),
    at(from_ms - 1),
    at(before_ms),
    at(start_ms, 2),
    reading(sensor(1), "wirelesssensor_measures", start_ms, measure),
    at(start_ms),
    at(start_ms + 1),
  ]);
  const store = await openUpload(directory.path);
  const epoch = await ownEpoch(store);
  const numbers = async (change: Partial<DayReadings>) => {
    const batch = await store.readingsOfDay({ ...day, epoch, through_seq: 8, ...change });
    const { from_seq, to_seq, first_seq, missing } = batch;
    expect({ epoch: batch.epoch, missing }).toEqual({ epoch: change.epoch ?? epoch, missing: [] });
    return [first_seq, from_seq, to_seq, rowsOf(batch).map(([seq]) => seq)];
  };
  expect(await numbers({})).toEqual([1, 1, 8, [1, 2, 7, 8]]);
  expect(await numbers({ after_seq: 2, through_seq: 7 })).toEqual([1, 3, 7, [7]]);
  expect(await numbers({ after_seq: 1, through_seq: 7 })).toEqual([1, 2, 7, [2, 7]]);
  expect(await numbers({ after_seq: 8, through_seq: 7 })).toEqual([1, 9, 8, []]);
  expect(await numbers({ day: today - 1 })).toEqual([1, 1, 8, [3]]);
  expect(await numbers({ day: today + 1 })).toEqual([1, 1, 8, [4]]);
  expect(await numbers({ address: sensor(3).address })).toEqual([1, 1, 8, []]);
  expect(await numbers({ series: "wirelesssensor_measures" })).toEqual([1, 1, 8, [6]]);
  expect(await numbers({ epoch: "f".repeat(32) })).toEqual([1, 1, 8, []]);
  await gateway.close();
  const later = "0123456789abcdef".repeat(2);
  beginEpochIn(directory.path, later);
  const again = await openGateway(directory.path);
  await again.append([at(start_ms + 2)]);
  expect(await numbers({ epoch: later, through_seq: 100 })).toEqual([9, 1, 100, [9]]);
  expect(await numbers({ through_seq: 100 })).toEqual([1, 1, 100, [1, 2, 7, 8]]);
  await again.close();
  await store.close();
});

test("a day of more readings than a batch has is told in several", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const count = batch_readings_max + 1;
  await gateway.append(Array.from({ length: count }, (_, n) => sensorEvent(sensor(1), start_ms + n, 48)));
  const store = await openUpload(directory.path);
  const request = { ...day, epoch: await ownEpoch(store), through_seq: count + 5 };
  const first = await store.readingsOfDay(request);
  expect(first).toMatchObject({ from_seq: 1, to_seq: batch_readings_max });
  expect(first.series.wirelesssensor_events?.seq).toHaveLength(batch_readings_max);
  const rest = await store.readingsOfDay({ ...request, after_seq: first.to_seq });
  expect([rest.from_seq, rest.to_seq]).toEqual([count, count + 5]);
  expect(rest.series.wirelesssensor_events?.seq).toEqual(Float64Array.of(count));
  await store.close();
  await gateway.close();
});
