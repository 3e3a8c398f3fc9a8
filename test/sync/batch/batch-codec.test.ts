import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Batch, batch_readings_max, readingsIn } from "../../../src/store/batch.ts";
import { decodeBatch, decodeReadings, encodeBatch } from "../../../src/sync/batch-codec.ts";
import { items_max } from "../../../src/sync/batch-text.ts";
import { batchOf, plainOf } from "../../store/plain-batch.ts";
import { below, seeded, sensor } from "../../store/sample.ts";
import { bytesWith, everySeries, fault, randomBatch, readingsOfDay, textOf, written } from "./sample.ts";

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

  test("as docs/upload.md shows one", () => {
    const page = readFileSync(join(import.meta.dir, "../../../docs/upload.md"), "utf8");
    const shown = JSON.parse(/```json\n([^`]*)```/.exec(page)?.[1] ?? "");
    const text = JSON.parse(textOf(written(readingsOfDay)));
    const { from_seq, to_seq } = { from_seq: shown.seq[0], to_seq: shown.seq[0] + shown.seq.length - 1 };
    const batch = { ...text, from_seq, to_seq, series: { wirelesssensor_events: shown } };
    const held = plainOf(decodeBatch(bytesWith(JSON.stringify(batch))));
    expect(held.series.wirelesssensor_events?.stamp_ms[1]).toBe(shown.stamp_ms[0] + 23_840);
    expect(JSON.parse(textOf(written(batchOf(held)))).series.wirelesssensor_events).toEqual(shown);
  });

  test("with null where nothing is known, over which differences go on", () => {
    const { series } = JSON.parse(textOf(written(everySeries)));
    expect(series.pillbox_events.device_ms).toEqual([null, 1_795_179_498_123, null]);
    expect(series.scale_weights.fatMass).toEqual([24_037, null]);
  });
});

describe("a batch too large to be sent is not made", () => {
  test("more readings than a batch may have", () => {
    const count = batch_readings_max + 1;
    expect(encodeBatch(eventsOf(count))).toBeNull();
    expect(readingsIn(decodeBatch(written(eventsOf(count - 1))))).toBe(count - 1);
  });

  test("more devices than a batch may have", () => {
    const of = (count: number): Batch => {
      const batch = eventsOf(count);
      const { wirelesssensor_events: events } = batch.series;
      if (events === undefined) throw new Error("no events");
      const devices = Array.from({ length: count }, (_, number) => sensor(number));
      return {
        ...batch,
        devices,
        series: { wirelesssensor_events: { ...events, device: Float64Array.from(devices.keys()) } },
      };
    };
    expect(encodeBatch(of(items_max + 1))).toBeNull();
    expect(decodeBatch(written(of(items_max))).devices).toHaveLength(items_max);
  });

  test("more text than a batch may come to, written or as values", () => {
    const long = (word: (row: number) => string, count: number): Batch => {
      const rows = Array.from({ length: count }, (_, row) => row);
      const fields = plainOf(everySeries).series.pillbox_status?.fields.map((values, field) =>
        rows.map((row) => (field === 5 || field === 6 ? word(row) : (values[0] ?? null))),
      );
      const column = (value: number | null) => rows.map(() => value) as number[];
      return batchOf({
        ...everySeries,
        from_seq: 1,
        to_seq: count,
        missing: [],
        series: {
          pillbox_status: {
            seq: rows.map((row) => row + 1),
            device: column(1),
            stamp_ms: column(0),
            clock: column(0),
            device_ms: column(null),
            offset_ms: column(null),
            fields: fields ?? [],
          },
        },
      });
    };
    const word = "w".repeat(195);
    expect(encodeBatch(long(() => word, 40_000))).toBeNull();
    expect(encodeBatch(long((row) => `${word}${row}`, 40_000))).toBeNull();
    const fits = long((row) => `${word}${row}`, 20_000);
    expect(plainOf(decodeBatch(written(fits)))).toEqual(plainOf(fits));
    const random = seeded(3);
    const noise = () =>
      Array.from({ length: 200 }, () => String.fromCharCode(32 + below(random, 90))).join("");
    expect(encodeBatch(long(noise, 4_000))).toBeNull();
  });
});

describe("what would expand beyond all bounds is refused without being expanded", () => {
  const mebibyte = 2 ** 20;

  test("1 GiB of zeros", async () => {
    const zeros = zerosFrame(2 ** 30);
    expect(zeros.length).toBeLessThan(40_000);
    expect(zstdDecompressSync(zerosFrame(2 ** 20))).toEqual(Buffer.alloc(2 ** 20));
    // In a process of its own: how far one has grown at most is told of all that it ever did.
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "decoding-process.ts")], {
      stdin: zeros,
    });
    const said = (await new Response(child.stdout).json()) as { fault: string; grown_bytes: number };
    expect(said.fault).toContain("larger than 16777216 bytes");
    expect(said.grown_bytes).toBeLessThan(64 * mebibyte);
  });

  test("a frame that wants a window of 128 MiB", () => {
    const params = {
      [constants.ZSTD_c_compressionLevel]: 1,
      [constants.ZSTD_c_windowLog]: 27,
      [constants.ZSTD_c_contentSizeFlag]: 0,
    };
    const frame = new Uint8Array(zstdCompressSync(Buffer.from("{}"), { params }));
    // Without the size of the content the header has a window: RFC 8878, 3.1.1.1.2.
    frame[4] = 0b100;
    const windowed = new Uint8Array([...frame.subarray(0, 5), (27 - 10) << 3, ...frame.subarray(6)]);
    expect(fault(() => decodeBatch(windowed))).toContain("too much memory");
  });

  test("more readings in all series than a batch may have, though none has too many", () => {
    const text = JSON.parse(textOf(written(eventsOf(batch_readings_max))));
    text.series.scale_heart = JSON.parse(textOf(written(everySeries))).series.scale_heart;
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify(text))))).toBe(
      "it holds more than 65536 readings",
    );
  });

  test("more items than a batch may have, in one series or in all", () => {
    const text = JSON.parse(textOf(written(everySeries)));
    const items = (count: number, kind: string) =>
      Array.from({ length: count }, (_, itemid) => ({ address: kind, itemid }));
    text.series.scale_heart.items = items(10_001, "h");
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify(text))))).toContain("/series/scale_heart/items");
    text.series.scale_heart.items = items(6_000, "h");
    text.series.scale_weights.items = items(6_000, "w");
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify(text))))).toBe("it has more than 10000 items");
  });
});

/** A frame that comes to so many zeros, in blocks of 128 KiB: RFC 8878, 3.1.1. */
function zerosFrame(zeros: number): Uint8Array {
  const block_bytes = 2 ** 17;
  const count = zeros / block_bytes;
  // The magic number, a checksum to come, and a window of one block.
  const head = [0x28, 0xb5, 0x2f, 0xfd, 0b100, (17 - 10) << 3];
  const blocks = Array.from({ length: count }, (_, block) => {
    const repeatedByte = 1;
    const header = (block_bytes << 3) | (repeatedByte << 1) | (block === count - 1 ? 1 : 0);
    return [header & 0xff, (header >> 8) & 0xff, header >> 16, 0];
  });
  const checksum = new Uint8Array(4);
  if (zeros <= 2 ** 20) {
    const hash = Bun.hash.xxHash64(new Uint8Array(zeros)) & 0xffff_ffffn;
    new DataView(checksum.buffer).setUint32(0, Number(hash), true);
  }
  return Uint8Array.from([...head, ...blocks.flat(), ...checksum]);
}

function eventsOf(count: number): Batch {
  const rows = Array.from({ length: count }, (_, row) => row);
  return batchOf({
    ...everySeries,
    from_seq: 1,
    to_seq: count,
    missing: [],
    series: {
      wirelesssensor_events: {
        seq: rows.map((row) => row + 1),
        device: rows.map(() => 0),
        stamp_ms: rows.map((row) => row * 1_000),
        clock: rows.map(() => 0),
        fields: [rows.map((row) => row % 3)],
      },
    },
  });
}
