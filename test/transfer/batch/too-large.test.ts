import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type Batch, batch_readings_max, readingsIn } from "../../../src/store/batch.ts";
import { decodeBatch, decodeReadings, encodeBatch, items_max } from "../../../src/transfer/batch-codec.ts";
import { bytesWith, everySeries, fault, textOf, written } from "../../../testbed/batch-sample.ts";
import { batchOf, type PlainBatch, plainOf } from "../../../testbed/plain-batch.ts";
import { below, seeded, sensor } from "../../../testbed/sample.ts";

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
      return readingsOf(count, {
        pillbox_status: {
          seq: rows.map((row) => row + 1),
          device: column(1),
          stamp_ms: column(0),
          clock: column(0),
          device_ms: column(null),
          offset_ms: column(null),
          fields: fields ?? [],
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
    expect(said.fault).toBe("BatchFault: it expands to more than 16777216 bytes");
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
    const { scale_heart, scale_weights } = text.series;
    const all = (count: number) => {
      scale_heart.items = items(5_000, "h");
      scale_weights.items = items(count - 5_000, "w");
      return bytesWith(JSON.stringify({ ...text, series: { scale_heart, scale_weights } }));
    };
    expect(decodeReadings(all(items_max)).devices).toHaveLength(items_max);
    expect(fault(() => decodeReadings(all(items_max + 1)))).toBe("it has more than 10000 items");
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
  return readingsOf(count, {
    wirelesssensor_events: {
      seq: rows.map((row) => row + 1),
      device: rows.map(() => 0),
      stamp_ms: rows.map((row) => row * 1_000),
      clock: rows.map(() => 0),
      fields: [rows.map((row) => row % 3)],
    },
  });
}

/** The first so many readings of a gateway, all there. */
function readingsOf(count: number, series: PlainBatch["series"]): Batch {
  return batchOf({ ...everySeries, from_seq: 1, to_seq: count, missing: [], series });
}
