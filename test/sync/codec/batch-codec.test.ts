import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Batch, batch_readings_max, readingsIn } from "../../../src/batch.ts";
import { BatchFault, decodeBatch, decodeReadings, encodeBatch } from "../../../src/sync/batch-codec.ts";
import { predictions } from "../../../src/sync/codec/predictions.ts";
import { below, seeded } from "../../store/sample.ts";
import { bytesWith, everySeries, randomBatch, readingsOfDay, textOf } from "./sample.ts";

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

/** Every one of these is a batch but for one thing. */
const faults: readonly { what: string; change: (text: Text) => void; says: string }[] = [
  { what: "no version", change: (text) => delete text.version, says: "/version" },
  { what: "an epoch that is no name", change: (text) => (text.epoch = "X".repeat(32)), says: "/epoch" },
  {
    what: "a number of readings that its span has not",
    change: (text) => (text.to_seq += 1),
    says: "more or fewer",
  },
  { what: "lost numbers in disorder", change: (text) => text.missing.reverse(), says: "disorder" },
  {
    what: "lost numbers outside of its span",
    change: (text) => (text.missing[0] = [1, 2]),
    says: "disorder",
  },
  {
    what: "lost numbers that end before they begin",
    change: (text) => (text.missing[0] = [104, 103]),
    says: "disorder",
  },
  {
    what: "a device of no kind",
    change: (text) => (text.devices[0].kind = "toasters"),
    says: "/devices/0/kind",
  },
  {
    what: "a device of another kind",
    change: (text) => (text.devices[0].kind = "scales"),
    says: "none of its wirelesssensors",
  },
  {
    what: "a device that is not in the list",
    change: (text) => text.devices.pop(),
    says: "none of its pillboxes",
  },
  {
    what: "an unknown series",
    change: (text) => (text.series.toaster_slices = text.series.scale_heart),
    says: "/series",
  },
  {
    what: "a field too many",
    change: (text) => (text.series.scale_heart.fields.mood = { words: [1] }),
    says: "a field that nobody knows",
  },
  {
    what: "a field too few",
    change: (text) => delete text.series.scale_heart.fields.heartRate,
    says: "lacks its field heartRate",
  },
  {
    what: "a string where the series has numbers",
    change: (text) => (text.series.scale_heart.fields.heartRate = { words: ["fast"] }),
    says: "heartRate of scale_heart cannot be",
  },
  {
    what: "null where the series has none",
    change: (text) => (text.series.scale_heart.fields.heartRate = { words: [null] }),
    says: "cannot be null",
  },
  {
    what: "null among numbers where the series has none",
    change: (text) => (text.series.scale_heart.fields.heartRate = { by: "base", signs: "C" }),
    says: "cannot be null",
  },
  {
    what: "a fraction where the series has whole numbers",
    change: (text) => (text.series.scale_heart.fields.heartRate = { by: "base", base: 685, decimals: 1 }),
    says: "numbers that it cannot have",
  },
  {
    what: "a number beyond the range of its field",
    change: (text) => (text.series.watch_epochs.fields.walkState = { by: "base", base: 3 }),
    says: "walkState of watch_epochs cannot be 3",
  },
  {
    what: "a word that the field does not have",
    change: (text) => (text.series.pillbox_status.fields.powersource = { words: ["steam"] }),
    says: 'cannot be "steam"',
  },
  {
    what: "a time before the first",
    change: (text) => (text.series.scale_heart.stamp = { by: "base", base: -1 }),
    says: "stamp of scale_heart cannot be -1",
  },
  {
    what: "an unknown quality of the clock",
    change: (text) => (text.series.scale_heart.clock = { words: [6] }),
    says: "clock of scale_heart cannot be 6",
  },
  {
    what: "no clock of the devices",
    change: (text) => delete text.series.scale_heart.offset,
    says: "lacks the clock of its devices",
  },
  {
    what: "a clock of devices that have none",
    change: (text) => (text.series.wirelesssensor_events.offset = { words: [0] }),
    says: "no clock of its devices",
  },
  {
    what: "a column that is too short",
    change: (text) => (text.series.watch_epochs.fields.steps = { by: "base", symbols: "AAA" }),
    says: "3 readings where 4",
  },
  {
    what: "a character that stands for nothing",
    change: (text) => (text.series.watch_epochs.fields.steps = { by: "base", symbols: "AAA\u0000" }),
    says: "stands for nothing",
  },
  {
    what: "bits that end too early",
    change: (text) => (text.series.watch_epochs.fields.steps = { by: "base", sizes: "zzzz", bits: "AA" }),
    says: "too few",
  },
  {
    what: "bits that go on",
    change: (text) => (text.series.watch_epochs.fields.steps = { by: "base", sizes: "AAAA", bits: "AAAA" }),
    says: "more bits than numbers",
  },
  {
    what: "a word that is not in the list",
    change: (text) => (text.series.watch_epochs.fields.steps = { words: [1, 2], symbols: "ABCA" }),
    says: "not in its list",
  },
  {
    what: "a learned word that was never told",
    change: (text) => (text.series.watch_epochs.fields.steps = { words: [1, 2], learned: true }),
    says: "it has not had",
  },
  {
    what: "a column beside one that there is not",
    change: (text) => (text.series.watch_epochs.fields.distance = { by: "beside", of: "mood" }),
    says: "goes along with none",
  },
  {
    what: "numbers that grow beyond what is exact",
    change: (text) =>
      (text.series.watch_epochs.fields.steps = {
        by: "before",
        base: 2 ** 53,
        unit: 2 ** 40,
        symbols: "BBBB",
      }),
    says: "out of range",
  },
  {
    what: "an order that names a series too often",
    change: (text) => (text.order = { symbols: "A".repeat(17) }),
    says: "more often than",
  },
  {
    what: "more readings than a batch may have",
    change: (text) => (text.series.scale_heart.count = 65_536),
    says: "more than 65536 readings",
  },
  { what: "single readings", change: (text) => (text.numbers = {}), says: "single readings" },
];

describe("what is no batch is refused by what is wrong with it", () => {
  for (const { what, change, says } of faults) {
    test(what, () => {
      const text: Text = JSON.parse(textOf(written(everySeries)));
      change(text);
      expect(fault(() => decodeBatch(bytesWith(JSON.stringify(text))))).toContain(says);
    });
  }

  test("single readings whose numbers do not ascend, or go beyond the last", () => {
    const text: Text = JSON.parse(textOf(written(readingsOfDay)));
    for (const [numbers, says] of [
      [{ symbols: "BBBB", signs: "AABA" }, "do not ascend"],
      [{ symbols: "BBBB", signs: "AACA" }, "do not ascend"],
      [{ sizes: "AAAz", bits: "AAAA" }, "beyond what it says"],
    ] as const) {
      expect(fault(() => decodeReadings(bytesWith(JSON.stringify({ ...text, numbers }))))).toContain(says);
    }
  });

  test("bytes of something else, and a batch that was cut anywhere", () => {
    const bytes = written(everySeries);
    for (const other of [
      new Uint8Array(),
      new Uint8Array(1_000),
      Buffer.from("{}"),
      bytesWith("[]"),
      bytesWith("null"),
    ]) {
      expect(fault(() => decodeBatch(other))).not.toBe("");
    }
    for (let length = 0; length < bytes.length; length += 1) {
      expect(fault(() => decodeBatch(bytes.subarray(0, length)))).not.toBe("");
    }
  });
});

test("a batch in which any bit has turned is refused, or holds the same: some bits mean nothing", () => {
  const bytes = written(everySeries);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const turned = bytes.slice();
    turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    try {
      expect(decodeBatch(turned), `bit ${bit}`).toEqual(everySeries);
    } catch (thrown) {
      expect(thrown, `bit ${bit}`).toBeInstanceOf(BatchFault);
    }
  }
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

function written(batch: Batch): Uint8Array<ArrayBuffer> {
  const bytes = encodeBatch(batch);
  if (bytes === null) throw new Error("it is too large");
  return bytes;
}

/** What a BatchFault says; anything else that is thrown, or that nothing is, fails the test. */
function fault(decode: () => unknown): string {
  try {
    decode();
  } catch (thrown) {
    if (thrown instanceof BatchFault) return thrown.message;
    throw thrown;
  }
  throw new Error("it was taken for a batch");
}

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
