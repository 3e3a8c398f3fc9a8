import { expect, test } from "bun:test";
import { type SeriesName, seriesOf, type Value } from "../../src/domain/series.ts";
import { byDevice, refuseMisfits } from "../../src/store/series/series-rows.ts";
import { ReadingRefused } from "../../src/store/store.ts";
import { columnsOf } from "../../testbed/plain-batch.ts";

test("readings of a device stand together, in the order of the devices, and in their own order within", () => {
  const device = Float64Array.of(2, 0, 2, 1, 0, 0, 2);
  expect([...byDevice(device, 0, 3)]).toEqual([1, 4, 5, 3, 0, 2, 6]);
  // From an index on; a device of which nothing is left has no place.
  expect([...byDevice(device, 2, 4)]).toEqual([4, 5, 3, 2, 6]);
  expect([...byDevice(device, 7, 3)]).toEqual([]);
});

/** Two readings of a series, whose second has these values; its index where it is refused. */
function refused(
  series: SeriesName,
  values: readonly Value[],
  first: readonly Value[],
  from = 0,
): number | undefined {
  const count = Object.keys(seriesOf(series).fields).length;
  const column = (place: number) => [first[place] ?? null, values[place] ?? null];
  const clock = seriesOf(series).deviceClock === true && {
    device_ms: column(count + 1) as number[],
    offset_ms: column(count + 2) as number[],
  };
  const columns = columnsOf(series, {
    seq: [8, 9],
    device: [0, 0],
    stamp_ms: [0, 0],
    clock: column(count) as number[],
    ...clock,
    fields: Array.from({ length: count }, (_, place) => column(place)),
  });
  try {
    refuseMisfits(series, columns, from);
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof ReadingRefused)) throw thrown;
    return thrown.index;
  }
}

test("a value that does not fit its column is refused with its place, from an index on", () => {
  const measure = ["temperature", 21.5, "°C", 0];
  expect(refused("wirelesssensor_measures", measure, measure)).toBeUndefined();
  for (const wrong of [
    [7, 21.5, "°C", 0],
    [null, 21.5, "°C", 0],
    ["temperature", null, "°C", 0],
    ["temperature", Number.POSITIVE_INFINITY, "°C", 0],
    ["temperature", 21.5, "°C", null],
    ["temperature", 21.5, "°C", 0.5],
  ]) {
    expect(refused("wirelesssensor_measures", wrong, measure)).toBe(1);
    expect(refused("wirelesssensor_measures", measure, wrong)).toBe(0);
    expect(refused("wirelesssensor_measures", measure, wrong, 1)).toBeUndefined();
    expect(refused("wirelesssensor_measures", wrong, measure, 2)).toBeUndefined();
  }
});

test("what may be unknown may be null, and is a whole number otherwise", () => {
  const heart = [60, 1, 1_000, -5];
  expect(refused("scale_heart", [60, 1, null, null], heart)).toBeUndefined();
  for (const wrong of [
    [null, 1, 1_000, -5],
    [60, 1, 0.5, -5],
    [60, 1, 1_000, 2 ** 53],
    [60.5, 1, null, null],
  ])
    expect(refused("scale_heart", wrong, heart)).toBe(1);
});
