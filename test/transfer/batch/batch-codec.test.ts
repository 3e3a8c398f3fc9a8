import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Batch } from "../../../src/store/batch.ts";
import { decodeBatch, decodeReadings, encodedBatch, items_max } from "../../../src/transfer/batch-codec.ts";
import {
  bytesWith,
  everySeries,
  fault,
  randomBatch,
  readingsOfDay,
  textOf,
  written,
} from "../../../testbed/batch-sample.ts";
import { batchOf, plainOf } from "../../../testbed/plain-batch.ts";
import { below, seeded, sensor } from "../../../testbed/sample.ts";

const golden = join(import.meta.dir, "../../golden/batches");

describe("what was written comes back", () => {
  test("of every series, with nulls, lost numbers, late readings and a device without an address", () => {
    expect(plainOf(decodeBatch(written(everySeries)))).toEqual(plainOf(everySeries));
  });

  test("of random batches, with any values that the series allow", () => {
    const seed = Number(process.env["LINTEL_TEST_SEED"] ?? 1);
    const random = seeded(seed);
    for (let round = 0; round < 60; round += 1) {
      const batch = randomBatch(random, below(random, round < 50 ? 200 : 3_000));
      expect(plainOf(decodeBatch(written(batch))), `seed ${seed}, round ${round}`).toEqual(plainOf(batch));
    }
  });

  test("of numbers at the edge of what is exact", () => {
    const { watch_epochs } = everySeries.series;
    const edges = (values: readonly number[], times: readonly (number | null)[]): Batch => {
      const rows = values.map(() => 0);
      const column = values.map(() => 1);
      return batchOf({
        ...everySeries,
        from_seq: 1,
        to_seq: values.length,
        missing: [],
        series: {
          watch_epochs: {
            seq: values.map((_value, row) => row + 1),
            device: values.map(() => watch_epochs?.device[0] ?? 0),
            stamp_ms: times.map((time) => Math.min(Math.max(0, time ?? 0), Date.UTC(2100, 0, 1) - 1)),
            clock: rows,
            device_ms: times,
            offset_ms: times.map((time) => (time === null ? null : -time)),
            fields: [
              column,
              values,
              values.map((value) => Math.trunc(value) % 2 ** 53 || 0),
              column,
              column,
              column,
            ],
          },
        },
      });
    };
    const [first_ms, last_ms] = [-62_135_596_800_000, 8_640_000_000_000_000];
    const times = [last_ms, first_ms, null, last_ms, null, last_ms - 1, first_ms + 1];
    for (const values of [
      [1e15 + 0.5, 0],
      [2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53 - 1],
      [2 ** 52, 0.1, -0.1],
      [1e308, 5e-324, 1e-7, 1 / 3, 0.1 + 0.2],
      [2 ** 46, 0, 2 ** 46, 1],
      [-5, 2 ** 46 - 1, 3],
      Array.from({ length: 300 }, (_, row) => 1e15 + 0.5 + row),
    ]) {
      const batch = edges(
        values,
        values.map((_value, row) => times[row % times.length] ?? null),
      );
      expect(plainOf(decodeBatch(written(batch)))).toEqual(plainOf(batch));
    }
  });

  test("of no readings at all, and of nothing but lost ones", () => {
    const nothing: Batch = {
      ...everySeries,
      from_seq: 100,
      to_seq: 99,
      missing: [],
      devices: [],
      series: {},
    };
    expect(decodeBatch(written(nothing))).toEqual(nothing);
    const lost: Batch = { ...nothing, to_seq: 65_635, missing: [[100, 65_635]] };
    expect(decodeBatch(written(lost))).toEqual(lost);
  });

  test("of a day, whose numbers do not follow each other, where that is asked for", () => {
    expect(plainOf(decodeReadings(written(readingsOfDay)))).toEqual(plainOf(readingsOfDay));
    expect(plainOf(decodeReadings(written(everySeries)))).toEqual(plainOf(everySeries));
    expect(fault(() => decodeBatch(written(readingsOfDay)))).toBe(
      "it holds 4 readings, where 51 to 9000 are 8950",
    );
  });
});

describe("version 1 is read for ever", () => {
  for (const name of ["version-1", "version-1-day"]) {
    const bytes = new Uint8Array(readFileSync(join(golden, `${name}.zst`)));

    test(`${name} holds what it held, and is the same when it is written again`, () => {
      const held = decodeReadings(bytes);
      expect(plainOf(held)).toEqual(JSON.parse(readFileSync(join(golden, `${name}.json`), "utf8")));
      expect(textOf(written(held))).toBe(textOf(bytes));
    });
  }

  test("a newer version is refused by its number", () => {
    const text = JSON.parse(textOf(written(everySeries)));
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify({ ...text, version: 2, series: [] }))))).toBe(
      "it is of version 2, and this program knows up to 1; update this side first",
    );
  });

  test("a frame that was compressed with a dictionary is refused: only a later version could have one", () => {
    const numbered = written(everySeries);
    numbered[4] = (numbered[4] ?? 0) | 1;
    expect(fault(() => decodeBatch(numbered))).toContain("it cannot be read");
  });
});

describe("a batch is plain to whoever prints it", () => {
  test("by zstd, without anything else: columns by the names of the table", () => {
    const { series } = JSON.parse(textOf(written(everySeries)));
    expect(series.wirelesssensor_events).toEqual({
      items: [{ address: "00:0d:6f:00:05:a1:b2:c3", itemid: 4711, subtype: "curtain" }],
      item: [0, 0, 0, 0, 0],
      seq: [102, 3, 1, 5, 7],
      stamp_ms: [1_795_176_001_124, 499, 0, 3_598_500, -1_795_179_600_123],
      event: [48, 50, 48, 50, 48],
      clock: [0, 0, 0, 0, 5],
    });
    expect(series.scale_weights).toMatchObject({ device_ms: [1_795_176_002_123, -1_795_176_002_124] });
  });

  test("with null where nothing is known, over which differences go on", () => {
    const { series } = JSON.parse(textOf(written(everySeries)));
    expect(series.pillbox_events.device_ms).toEqual([null, 1_795_179_498_123, null]);
    expect(series.scale_weights.fatMass).toEqual([24_037, null]);
  });
});

test("a series without a reading is left out", () => {
  const { watch_epochs } = batchOf({
    ...everySeries,
    series: {
      watch_epochs: {
        seq: [],
        device: [],
        stamp_ms: [],
        clock: [],
        device_ms: [],
        offset_ms: [],
        fields: [[], [], [], [], [], []],
      },
    },
  }).series;
  const batch = { ...everySeries, series: { ...everySeries.series, watch_epochs } } as Batch;
  expect(Object.keys(JSON.parse(textOf(written(batch))).series)).not.toContain("watch_epochs");
});

describe("as many readings as fit are made a batch", () => {
  const devices = Array.from({ length: items_max + 1 }, (_, number) => sensor(number));
  const tooLarge: Batch = { ...everySeries, devices };

  test("by asking for fewer until one does, from as many as there may be or as is said", async () => {
    const asked: number[] = [];
    const made = (most?: number) =>
      encodedBatch(async (readings_max) => {
        asked.push(readings_max);
        return { batch: readings_max > 9_000 ? tooLarge : everySeries, place: 7 };
      }, most);
    const { bytes = new Uint8Array(), ...rest } = (await made()) ?? {};
    expect(rest).toEqual({ batch: everySeries, place: 7 });
    expect(plainOf(decodeBatch(bytes))).toEqual(plainOf(everySeries));
    expect(asked).toEqual([65_536, 32_768, 16_384, 8_192]);
    expect((await made(1))?.place).toBe(7);
    expect(asked.at(-1)).toBe(1);
  });

  test("none where there is nothing, and not without end where a single one does not fit", async () => {
    expect(await encodedBatch(async () => undefined)).toBeUndefined();
    const asked: number[] = [];
    const never = encodedBatch(async (readings_max) => {
      asked.push(readings_max);
      return { batch: tooLarge };
    }, 4);
    expect(await never.catch(String)).toContain("one reading is larger than a batch may be");
    expect(asked).toEqual([4, 2, 1]);
  });
});
