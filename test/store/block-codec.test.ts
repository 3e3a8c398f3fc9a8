import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stamp_end_ms } from "../../src/base/clock.ts";
import { type SeriesName, seriesNames, type Value } from "../../src/domain/series.ts";
import type { ReadingColumns } from "../../src/store/batch.ts";
import { columnOf, pick } from "../../src/store/batch.ts";
import {
  decodeBlock,
  encodeBlock,
  merged,
  orderOf,
  readingAt,
  readingsOf,
  type StreamReading,
  within,
} from "../../src/store/series/block-codec.ts";
import { DecodedBlock } from "../../src/store/series/decoded-block.ts";
import { ObjectRecords } from "../../src/store/series/page-records.ts";
import { type SeriesColumn, valueColumns } from "../../src/store/series/series-columns.ts";
import { below, seeded } from "../../testbed/sample.ts";
import { columnsOfBlock } from "../../testbed/sqlite/block-decoder.ts";

test.each(seriesNames)(
  "what is in a block of %s comes back, whatever its values, and a second reader finds the same",
  (series) => {
    const random = seeded(seriesNames.indexOf(series));
    for (let round = 0; round < 60; round += 1) {
      const count = round < 3 ? round + 1 : below(random, 1_500) + 1;
      const readings = anyReadings(random, series, count);
      const bytes = encodeBlock(series, readings);
      const rows = rowsOf(readings);
      expect(rowsOf(decodeBlock(series, bytes))).toEqual(rows);
      const columns = columnsOfBlock(bytes, valueColumns(series).length + 2);
      expect(rows.map((_, index) => columns.map((column) => column[index] ?? null))).toEqual(rows);
    }
  },
);

test("numbers as far from each other as any power of two, and one beside it, come back", () => {
  for (let exponent = 0; exponent < 53; exponent += 1)
    for (const beside of [-1, 0, 1]) {
      const far = 2 ** exponent + beside;
      if (far < 1 || !Number.isSafeInteger(far + 1)) continue;
      const rows: StreamReading[] = [
        [0, 1, far, null],
        [1, 1 + far, -far, null],
        [Math.min(far + 1, stamp_end_ms - 1), far, 0, null],
      ];
      expect(
        rowsOf(
          decodeBlock(
            "wirelesssensor_events",
            encodeBlock("wirelesssensor_events", readingsOf("wirelesssensor_events", rows)),
          ),
        ),
      ).toEqual(rows);
    }
});

test("what a block gives as JSON is what records of its readings are, in either direction", () => {
  const random = seeded(11);
  let written = 0;
  for (let round = 0; round < 200; round += 1) {
    const series = seriesNames[round % seriesNames.length] as SeriesName;
    const readings = round % 2 === 0 ? homely(random, series, 300) : anyReadings(random, series, 40);
    const records = new ObjectRecords(series, { limit: 1_000, precision: "ms" });
    const block = new DecodedBlock(series, encodeBlock(series, readings));
    const step = random() < 0.5 ? 1 : -1;
    const count = 1 + below(random, block.count);
    const first =
      step > 0 ? below(random, block.count - count + 1) : count - 1 + below(random, block.count - count + 1);
    const bytes = block.json({ first, count, step, divisor: 1 });
    if (bytes === undefined) continue;
    written += 1;
    records.block(new DecodedBlock(series, encodeBlock(series, readings)), { first, count, step });
    expect(`[${new TextDecoder().decode(bytes)}]`).toBe(JSON.stringify(records.records));
  }
  expect(written).toBeGreaterThan(100);
});

test("texts of thousands of characters come back as JSON, however many readings have them", () => {
  const series = "wirelesssensor_measures";
  const rows = Array.from({ length: 600 }, (_, index): StreamReading => {
    return [index, index + 1, "temperature", index, "é".repeat(3_000 + (index % 2)), 0];
  });
  const readings = readingsOf(series, rows);
  const records = new ObjectRecords(series, { limit: 1_000, precision: "ms" });
  const all = { first: 0, count: rows.length, step: 1 } as const;
  records.block(new DecodedBlock(series, encodeBlock(series, readings)), all);
  const bytes = new DecodedBlock(series, encodeBlock(series, readings)).json({ ...all, divisor: 1 });
  expect(`[${new TextDecoder().decode(bytes)}]`).toBe(JSON.stringify(records.records));
});

/** Readings such as devices give: few decimals, few texts, times of some clock. */
function homely(random: () => number, series: SeriesName, count: number): ReadingColumns {
  let stamp_ms = 1_790_000_000_000;
  const rows = Array.from({ length: count }, (_, index): StreamReading => {
    stamp_ms += below(random, 400_000);
    const values = valueColumns(series).map(({ sql, nullable, rising }): Value => {
      if (nullable && random() < 0.1) return null;
      if (sql === "TEXT") return texts[below(random, texts.length)] ?? "";
      if (rising) return stamp_ms - below(random, 9_000_000);
      const whole = below(random, 10 ** below(random, 6)) - 50;
      return sql === "REAL" ? whole / 10 ** below(random, 5) + 0 : whole;
    });
    return [stamp_ms, index + 1, ...values];
  });
  return readingsOf(series, rows);
}

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

test("what a home measures takes few bytes: numbers follow on those of the same text, clocks on stamps, and one value is there once", () => {
  const random = seeded(10);
  const measures = Array.from({ length: 512 }, (_, index): StreamReading => {
    const stamp_ms = 1_800_000_000_000 + index * 600_000;
    return index % 2 === 0
      ? [stamp_ms, index, "temperature", 20 + below(random, 8) / 10, "°C", 0]
      : [stamp_ms, index, "humidity", 60 + below(random, 4), "%", 0];
  });
  const bytes = encodeBlock("wirelesssensor_measures", readingsOf("wirelesssensor_measures", measures));
  // Three bits of a value, a bit for its quantity and one for its unit.
  expect(bytes.length).toBeLessThan(600);
  const fields = valueColumns("watch_epochs").length - 3;
  const epochs = Array.from({ length: 512 }, (_, index): StreamReading => {
    const stamp_ms = 1_800_000_000_000 + index * 60_000 + below(random, 50);
    return [stamp_ms, index, ...new Array<Value>(fields).fill(1), 0, stamp_ms - 7_200_000, 7_200_000];
  });
  const watch = encodeBlock("watch_epochs", readingsOf("watch_epochs", epochs));
  expect(watch.length).toBeLessThan(512);
});

test("blocks that were written before are read as they were then, and written so again", async () => {
  const kept = (await Bun.file(join(import.meta.dir, "../golden/blocks.json")).json()) as Golden[];
  for (const { series, rows, bytes } of kept) {
    const block = new Uint8Array(Buffer.from(bytes, "base64"));
    expect(rowsOf(decodeBlock(series, block))).toEqual(rows);
    expect(Buffer.from(encodeBlock(series, readingsOf(series, rows))).toString("base64")).toBe(bytes);
  }
  expect(new Set(kept.map(({ series }) => series))).toEqual(new Set(seriesNames));
});

interface Golden {
  readonly series: SeriesName;
  readonly rows: StreamReading[];
  readonly bytes: string;
}

test("the decoder is what its source gives", () => {
  const built = join(mkdtempSync(join(tmpdir(), "lintel-wasm-")), "blocks-wasm.ts");
  const script = join(import.meta.dir, "../../scripts/build-wasm.ts");
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, script, built], { stderr: "pipe" });
  expect({ exitCode, said: stderr.toString() }).toMatchObject({ exitCode: 0 });
  const source = readFileSync(join(import.meta.dir, "../../src/store/series/blocks-wasm.ts"), "utf8");
  expect(readFileSync(built, "utf8")).toBe(source);
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
