import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Batch, batch_readings_max, readingsIn } from "../../../src/batch.ts";
import { decodeBatch, decodeReadings, encodeBatch } from "../../../src/sync/batch-codec.ts";
import { predictions } from "../../../src/sync/codec/predictions.ts";
import { below, seeded } from "../../store/sample.ts";
import { bytesWith, everySeries, fault, randomBatch, readingsOfDay, textOf, written } from "./sample.ts";

const golden = join(import.meta.dir, "../../golden/batches");

describe("what was written comes back", () => {
  test("of every series, with nulls, lost numbers, late readings and a device without an address", () => {
    expect(decodeBatch(written(everySeries))).toEqual(everySeries);
  });

  test("of random batches, with any values that the series allow", () => {
    const seed = Number(process.env["LINTEL_TEST_SEED"] ?? 1);
    const random = seeded(seed);
    for (let round = 0; round < 60; round += 1) {
      const batch = randomBatch(random, below(random, round < 50 ? 200 : 3_000));
      expect(decodeBatch(written(batch)), `seed ${seed}, round ${round}`).toEqual(batch);
    }
  });

  test("of numbers at the edge of what is exact", () => {
    const { watch_epochs } = everySeries.series;
    const edges = (values: readonly number[]): Batch => {
      const rows = values.map(() => 0);
      const column = values.map(() => 1);
      return {
        ...everySeries,
        from_seq: 1,
        to_seq: values.length,
        missing: [],
        series: {
          watch_epochs: {
            seq: values.map((_value, row) => row + 1),
            device: values.map(() => watch_epochs?.device[0] ?? 0),
            stamp_ms: rows,
            clock: rows,
            device_ms: rows,
            offset_ms: rows,
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
      };
    };
    for (const values of [
      [1e15 + 0.5, 0],
      [2 ** 53 - 1, 1 - 2 ** 53, 2 ** 53 - 1],
      [2 ** 52, 0.1, -0.1],
      [1e308, 5e-324, 1e-7, 1 / 3, 0.1 + 0.2],
      [2 ** 46, 0, 2 ** 46, 1],
      [-5, 2 ** 46 - 1, 3],
      Array.from({ length: 300 }, (_, row) => 1e15 + 0.5 + row),
    ]) {
      expect(decodeBatch(written(edges(values)))).toEqual(edges(values));
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
    const lost: Batch = { ...nothing, to_seq: 200_000, missing: [[100, 200_000]] };
    expect(decodeBatch(written(lost))).toEqual(lost);
  });

  test("of a day, whose numbers do not follow each other, where that is asked for", () => {
    expect(decodeReadings(written(readingsOfDay))).toEqual(readingsOfDay);
    expect(decodeReadings(written(everySeries))).toEqual(everySeries);
    expect(fault(() => decodeBatch(written(readingsOfDay)))).toContain("holds single readings");
  });
});

describe("version 1 is read for ever", () => {
  const bytes = new Uint8Array(readFileSync(join(golden, "version-1.zst")));

  const files = readdirSync(golden).filter((name) => name.endsWith(".zst"));

  test("there are files of it that use every form", () => {
    expect(files).toContain("version-1.zst");
    const texts = files.map((name) => textOf(new Uint8Array(readFileSync(join(golden, name))))).join();
    for (const by of Object.keys(predictions)) expect(texts).toContain(`"by":"${by}"`);
    const members = [
      "unit",
      "decimals",
      "of",
      "times",
      "symbols",
      "sizes",
      "bits",
      "signs",
      "words",
      "learned",
    ];
    for (const member of [...members, "numbers", "predicted"]) expect(texts).toContain(`"${member}":`);
  });

  for (const name of files) {
    test(`${name} holds what it held, and is the same when it is written again`, () => {
      const held = decodeReadings(new Uint8Array(readFileSync(join(golden, name))));
      expect(held).toEqual(JSON.parse(readFileSync(join(golden, name.replace(".zst", ".json")), "utf8")));
      expect(decodeReadings(written(held))).toEqual(held);
    });
  }

  test("a newer version is refused by its number, and by the number of its dictionary", () => {
    const text = JSON.parse(textOf(bytes));
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify({ ...text, version: 2, order: "other" }))))).toBe(
      "it is of version 2, and this program knows up to 1; update this side first",
    );
    const numbered = bytes.slice();
    numbered[4] = (numbered[4] ?? 0) | 1;
    expect(fault(() => decodeBatch(numbered))).toContain("it is of a newer version");
  });
});

describe("a batch too large to be sent is not made", () => {
  test("more readings than a batch may have", () => {
    const count = batch_readings_max + 1;
    expect(encodeBatch(eventsOf(count))).toBeNull();
    expect(readingsIn(decodeBatch(written(eventsOf(count - 1))))).toBe(count - 1);
  });

  test("more text than a batch may come to, written or as values", () => {
    const { pillbox_status } = everySeries.series;
    const long = (word: (row: number) => string, count: number): Batch => {
      const rows = Array.from({ length: count }, (_, row) => row);
      const fields = pillbox_status?.fields.map((values, field) =>
        rows.map((row) => (field === 6 ? word(row) : (values[0] ?? null))),
      );
      const column = (value: number | null) => rows.map(() => value) as number[];
      return {
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
      };
    };
    const word = "w".repeat(1_000);
    expect(encodeBatch(long(() => word, 20_000))).toBeNull();
    expect(encodeBatch(long((row) => `${word}${row}`, 20_000))).toBeNull();
    const fits = long((row) => `${word}${row}`, 10_000);
    expect(decodeBatch(written(fits))).toEqual(fits);
    const random = seeded(3);
    const noise = () =>
      Array.from({ length: 250 }, () => String.fromCharCode(32 + below(random, 90))).join("");
    expect(encodeBatch(long(noise, 6_000))).toBeNull();
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

  test("a long word that every reading has", () => {
    const text: Text = JSON.parse(textOf(written(eventsOf(batch_readings_max))));
    text.devices = [{ kind: "pillboxes", address: "" }];
    const word = { words: ["w".repeat(10_000)] };
    const nothing = { words: [0] };
    const of = {
      count: batch_readings_max,
      device: {},
      stamp: nothing,
      clock: nothing,
      offset: nothing,
      device_clock: nothing,
    };
    const fields = Object.fromEntries(
      Object.keys(JSON.parse(textOf(written(everySeries))).series.pillbox_status.fields).map((name) => [
        name,
        nothing,
      ]),
    );
    for (const name of ["batteryseconds", "firmwarerevsion", "macaddress"]) fields[name] = word as never;
    fields["powersource"] = { words: ["battery"] } as never;
    text.series = { pillbox_status: { ...of, fields } };
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify(text))))).toBe(
      "it comes to more text than a batch may have",
    );
  });

  test("a learned column of many devices and words", () => {
    const text: Text = JSON.parse(textOf(written(everySeries)));
    text.devices = Array.from({ length: 10_000 }, () => ({ kind: "wirelesssensors", address: "" }));
    text.series = { wirelesssensor_events: text.series.wirelesssensor_events };
    const words = Array.from({ length: 10_000 }, (_, word) => word);
    text.series.wirelesssensor_events.fields.event = { words, learned: true };
    expect(fault(() => decodeBatch(bytesWith(JSON.stringify(text))))).toContain("too many words");
  });
});

// biome-ignore lint/suspicious/noExplicitAny: what is inside a batch is to be broken in every way.
type Text = any;

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
  return {
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
  };
}
