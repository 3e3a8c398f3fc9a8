import { expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { clockQuality, stamp_end_ms } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import {
  type Batch,
  BatchColumns,
  columnOf,
  isOfDay,
  numbersIn,
  numbersMissing,
  readingsIn,
  seriesIn,
  valueAt,
  valuesAt,
} from "../../src/store/batch.ts";
import { differencesOf, stampSchema, sumsOf, valueColumns } from "../../src/store/series/series-columns.ts";
import { sensor } from "../../testbed/sample.ts";

const day = 20_000;

/** A batch of numbers 5 to 20, with what is said of some of them at these times. */
function batchOf(...stamps_ms: number[]): Batch {
  const columns = new BatchColumns();
  const [one, other] = [sensor(1), { ...sensor(2), kind: "scales" as const }];
  for (const [place, stamp_ms] of stamps_ms.entries()) {
    if (place % 2 === 0)
      columns.add("wirelesssensor_events", one, 5 + place, [1, stamp_ms, 5 + place, 48, 0]);
    else columns.add("scale_heart", other, 5 + place, [2, stamp_ms, 5 + place, 60, 1, null, 7]);
  }
  const head = { epoch: "0".repeat(32), first_seq: 1, from_seq: 5, to_seq: 20 };
  return {
    ...head,
    missing: [
      [8, 8],
      [10, 20],
    ],
    ...columns.columns(),
  };
}

test("of a batch are its numbers, those that were lost, and the readings that there are, by series and device", () => {
  const batch = batchOf(day * day_ms, day * day_ms + 1, day * day_ms + 2);
  expect([numbersIn(batch), numbersMissing(batch), readingsIn(batch)]).toEqual([16, 12, 3]);
  expect(batch.devices.map(({ kind }) => kind)).toEqual(["wirelesssensors", "scales"]);
  const told = seriesIn(batch).map(([series, { seq, device, stamp_ms }]) => [series, seq, device, stamp_ms]);
  const numbers = (...of: number[]) => Float64Array.from(of);
  const midnight = day * day_ms;
  expect(told).toEqual([
    ["wirelesssensor_events", numbers(5, 7), numbers(0, 0), numbers(midnight, midnight + 2)],
    ["scale_heart", numbers(6), numbers(1), numbers(midnight + 1)],
  ]);
  const values = seriesIn(batch).map(([, columns]) => valuesAt(columns, 0));
  expect(values).toEqual([
    [48, 0],
    [60, 1, null, 7],
  ]);
  expect([numbersMissing({ ...batch, missing: [] }), readingsIn({ ...batch, series: {} })]).toEqual([0, 0]);
});

test("a batch is of one day where all its readings are, from midnight to midnight", () => {
  const [midnight, next] = [day * day_ms, (day + 1) * day_ms];
  expect(isOfDay(batchOf(midnight, next - 1), day)).toBe(true);
  expect(isOfDay(batchOf(), day)).toBe(true);
  for (const stamps_ms of [[midnight - 1], [next], [midnight, next], [midnight, midnight, midnight - 1]])
    expect(isOfDay(batchOf(...stamps_ms), day)).toBe(false);
});

test("a value that nobody knows is null in any column, and a text or a zero is none", () => {
  expect([1, null, 0].map((_, row) => valueAt(columnOf("INTEGER", [1, null, 0]), row))).toEqual([1, null, 0]);
  expect([0, 1, 2].map((row) => valueAt(columnOf("TEXT", ["a", null, ""]), row))).toEqual(["a", null, ""]);
  expect(valueAt(columnOf("REAL", []), 0)).toBeNull();
  expect(columnOf("INTEGER", [1, null])).toBeInstanceOf(Float64Array);
});

test("differences of numbers that rise are small, and what nobody knows lies between them", () => {
  const numbers = [1_000, 1_007, Number.NaN, 1_010, 900, Number.NaN];
  const differences = differencesOf(Float64Array.from(numbers));
  expect(differences).toEqual([1_000, 7, Number.NaN, 3, -110, Number.NaN]);
  expect([...sumsOf(JSON.parse(JSON.stringify(differences)))]).toEqual(numbers);
});

test("the columns of a series are its fields and how its stamps were made, and say what may be unknown", () => {
  const told = (series: Parameters<typeof valueColumns>[0]) =>
    valueColumns(series).map(({ name, sql, nullable, rising = false }) => [name, sql, nullable, rising]);
  expect(told("wirelesssensor_measures")).toEqual([
    ["quantity", "TEXT", false, false],
    ["value", "REAL", false, false],
    ["unit", "TEXT", false, false],
    ["clock", "INTEGER", false, false],
  ]);
  expect(told("scale_weights").slice(0, 2)).toEqual([
    ["weight", "INTEGER", false, false],
    ["fatMass", "INTEGER", true, false],
  ]);
  expect(told("scale_weights").slice(-3)).toEqual([
    ["clock", "INTEGER", false, false],
    ["device_ms", "INTEGER", true, true],
    ["offset_ms", "INTEGER", true, false],
  ]);
  expect(told("pillbox_status").find(([name]) => name === "powersource")?.[2]).toBe(false);
  expect(
    told("pillbox_status")
      .filter(([, , , rising]) => rising)
      .map(([name]) => name),
  ).toEqual(["devicestamp", "nextpanicstart", "nextpanicstop", "device_ms"]);
});

test("times of strangers are bounded: no stamp is of a clock that no page comes to, and differences stay exact", () => {
  const fits = (schema: TSchema, ...values: (number | null)[]) =>
    values.map((value) => Value.Check(schema, value));
  expect(fits(stampSchema, 0, stamp_end_ms - 1, -1, stamp_end_ms)).toEqual([true, true, false, false]);
  const columns = new Map(valueColumns("scale_heart").map(({ name, schema }) => [name, schema]));
  const of = (name: string) => columns.get(name) as TSchema;
  const most = Math.max(...Object.values(clockQuality));
  expect(fits(of("clock"), 0, most, -1, most + 1)).toEqual([true, true, false, false]);
  const time_max_ms = 8_640_000_000_000_000;
  const year_one_ms = Date.UTC(2001, 0, 1) - 2_000 * 365.2425 * day_ms;
  const device = fits(of("device_ms"), null, year_one_ms, time_max_ms, year_one_ms - 1, time_max_ms + 1);
  expect(device).toEqual([true, true, true, false, false]);
  const offset = fits(of("offset_ms"), null, -time_max_ms, time_max_ms, -time_max_ms - 1, time_max_ms + 1);
  expect(offset).toEqual([true, true, true, false, false]);
});
