import { expect, test } from "bun:test";
import { zstdDecompressSync } from "node:zlib";
import { stamp_end_ms } from "../../src/base/clock.ts";
import { seriesNames, type Value } from "../../src/domain/series.ts";
import { columnOf, pick } from "../../src/store/batch.ts";
import {
  decodeBlock,
  encodeBlock,
  merged,
  orderOf,
  type ReadingColumns,
  readingAt,
  readingsOf,
  type StreamReading,
  within,
} from "../../src/store/series/block-codec.ts";
import { type SeriesColumn, valueColumns } from "../../src/store/series/series-columns.ts";
import { below, seeded } from "../../testbed/sample.ts";

test.each(seriesNames)("what is sealed of %s is what comes back, whatever its values", (series) => {
  const random = seeded(seriesNames.indexOf(series));
  for (let round = 0; round < 60; round += 1) {
    const count = round < 3 ? round + 1 : below(random, 1_500) + 1;
    const readings = anyReadings(random, series, count);
    expect(rowsOf(decodeBlock(series, encodeBlock(series, readings)))).toEqual(rowsOf(readings));
  }
});

test("rows make the same columns, and columns the same rows", () => {
  const random = seeded(7);
  for (const series of seriesNames) {
    const readings = anyReadings(random, series, 50);
    const rows = rowsOf(readings);
    expect(rowsOf(readingsOf(series, rows))).toEqual(rows);
  }
});

test("readings of two sets are merged in order of stamp, then of number, and cut by time at both ends", () => {
  const random = seeded(8);
  for (let round = 0; round < 100; round += 1) {
    const all = anyReadings(random, "watch_epochs", 1 + below(random, 200));
    const [here, there]: number[][] = [[], []];
    for (const index of all.seq.keys()) (random() < 0.5 ? here : there)?.push(index);
    expect(rowsOf(merged(pick(all, here ?? []), pick(all, there ?? [])))).toEqual(rowsOf(all));
    const [from_ms, before_ms] = [0, 1].map(
      () => (all.stamp_ms.at(below(random, 200)) ?? 0) + below(random, 3),
    ) as [number, number];
    const [start, end] = within(all, from_ms, before_ms);
    const meant = [...all.stamp_ms].filter((stamp_ms) => stamp_ms >= from_ms && stamp_ms < before_ms);
    expect([...all.stamp_ms.slice(start, end)]).toEqual(meant);
  }
});

test("readings have all that their rows said wherever they are picked, merged and put in order", () => {
  const series = "wirelesssensor_measures";
  const rows: StreamReading[] = [
    [5_000, 3, "temperature", 21.5, "°C", 0],
    [3_000, 9, "humidity", 60, "%", 2],
    [3_000, 4, "temperature", -1.25, "", 0],
  ];
  const readings = readingsOf(series, rows);
  expect(rowsOf(readings)).toEqual(rows);
  expect(orderOf(readings)).toEqual([2, 1, 0]);
  const inOrder = rows.toReversed();
  expect(rowsOf(pick(readings, [2, 1, 0]))).toEqual(inOrder);
  const both = merged(readingsOf(series, rows.slice(0, 1)), readingsOf(series, rows.slice(1)));
  expect(both).toEqual(readingsOf(series, inOrder));
});

test("a column of one value alone has it once", () => {
  const rows = [1, 2, 3].map((seq): StreamReading => [1_000, seq, "humidity", seq, "%", 0]);
  const bytes = encodeBlock("wirelesssensor_measures", readingsOf("wirelesssensor_measures", rows));
  const [, , ...columns] = JSON.parse(zstdDecompressSync(bytes).toString()) as unknown[][];
  expect(columns).toEqual([["humidity"], [1, 2, 3], ["%"], [0]]);
});

test("bytes that were damaged are refused, and never taken for other readings", () => {
  const random = seeded(9);
  const readings = anyReadings(random, "wirelesssensor_events", 300);
  const bytes = encodeBlock("wirelesssensor_events", readings);
  for (let round = 0; round < 300; round += 1) {
    const damaged = Uint8Array.from(bytes);
    const place = below(random, damaged.length);
    damaged[place] = (damaged[place] as number) ^ (1 << below(random, 8));
    let read: ReadingColumns | undefined;
    try {
      read = decodeBlock("wirelesssensor_events", damaged);
    } catch {
      continue;
    }
    expect(rowsOf(read)).toEqual(rowsOf(readings));
  }
});

function rowsOf(readings: ReadingColumns): StreamReading[] {
  return Array.from(readings.seq, (_, index) => readingAt(readings, index));
}

/** In order of stamp, then of number: stamps close together, equal, and as far as they go; numbers that rise and fall. */
function anyReadings(
  random: () => number,
  series: (typeof seriesNames)[number],
  count: number,
): ReadingColumns {
  let stamp_ms = below(random, 1_800_000_000_000);
  const numbers = new Set<number>();
  while (numbers.size < count)
    numbers.add(1 + below(random, random() < 0.9 ? 100_000 : Number.MAX_SAFE_INTEGER));
  const readings: ReadingColumns = {
    stamp_ms: Float64Array.from({ length: count }, () => {
      const draw = random();
      if (draw > 0.4) stamp_ms += below(random, draw > 0.9 ? 90_000_000_000 : 1_000);
      return Math.min(stamp_ms, stamp_end_ms - 1);
    }),
    seq: Float64Array.from(numbers),
    values: valueColumns(series).map((column) =>
      columnOf(
        column.sql,
        random() < 0.3
          ? new Array<Value>(count).fill(anyValue(random, column))
          : Array.from({ length: count }, () => anyValue(random, column)),
      ),
    ),
  };
  return pick(readings, orderOf(readings));
}

function anyValue(random: () => number, { sql, nullable, rising }: SeriesColumn): Value {
  if (nullable && random() < 0.3) return null;
  if (sql === "TEXT") return texts[below(random, texts.length)] ?? "";
  const sign = random() < 0.3 ? -1 : 1;
  if (sql === "REAL" && random() < 0.7) return sign * random() * 10 ** (below(random, 40) - 20);
  const most = rising ? 8_640_000_000_000_000 / 2 : Number.MAX_SAFE_INTEGER;
  return Math.max(-most, Math.min(most, sign * below(random, 10 ** below(random, 17)))) + 0;
}

const texts = [
  "",
  "1.4",
  "\u0000",
  "\ue000x",
  "a \"quoted\" 'text'\n",
  "\ud800",
  "é 日本 🚪",
  "null",
  "x".repeat(200),
];
