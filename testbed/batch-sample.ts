import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { kinds } from "../src/domain/kinds.ts";
import {
  type SeriesField,
  type SeriesName,
  seriesNames,
  seriesOf,
  type Value,
} from "../src/domain/series.ts";
import type { Batch, BatchDevice } from "../src/store/batch.ts";
import { BatchFault, encodeBatch } from "../src/transfer/batch-codec.ts";
import { batchOf, type PlainColumns } from "./plain-batch.ts";
import { below } from "./sample.ts";

const at = Date.UTC(2026, 10, 20, 12, 0, 0, 123);

/** A batch made by hand: every series, nulls, lost numbers, a late reading, and a device whose address nobody knows. */
export const everySeries: Batch = batchOf({
  epoch: "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  first_seq: 7,
  from_seq: 100,
  to_seq: 122,
  previous: "00c0ffee00c0ffee",
  missing: [
    [103, 104],
    [122, 122],
  ],
  devices: [
    { kind: "wirelesssensors", address: "00:0d:6f:00:05:a1:b2:c3", itemid: 4711, subtype: "curtain" },
    { kind: "pillboxes", address: "", itemid: 12 },
    { kind: "scales", address: "c0:ff:ee:00:00:01", model: "BF720", vendor: "Beurer" },
    { kind: "watches", address: "e1:5c:07:2d:9a:31" },
    { kind: "pillboxes", address: "5c:f2:86:42:0b:2e", subtype: "broadcasting" },
  ],
  series: {
    pillbox_status: {
      seq: [101, 112],
      device: [1, 1],
      stamp_ms: [at + 1_000, at + 3_601_517],
      clock: [0, 1],
      device_ms: [at - 500, null],
      offset_ms: [1_500, null],
      fields: [
        [1_795_176_001, 1_795_179_602],
        [3_012, 2_950],
        ["external_power", "battery"],
        [418, 419],
        ["5460", "5460 — „Zwischenfall“"],
        ["1.4.2", "1.4.2"],
        ["5c:f2:86:41:0a:17", '5c:f2:86:41:0a:17"\\'],
        [1_795_190_400, 1_795_219_200],
        [1_795_191_000, 1_795_219_800],
      ],
    },
    pillbox_events: {
      seq: [100, 110, 117],
      device: [4, 1, 4],
      stamp_ms: [at, at + 3_500_000, at - 86_400_000],
      clock: [2, 4, 3],
      device_ms: [null, at + 3_498_000, null],
      offset_ms: [null, 2_000, null],
      fields: [[1, 0, 64]],
    },
    wirelesssensor_events: {
      seq: [102, 105, 106, 111, 118],
      device: [0, 0, 0, 0, 0],
      stamp_ms: [at + 1_001, at + 1_500, at + 1_500, at + 3_600_000, 0],
      clock: [0, 0, 0, 0, 5],
      fields: [[48, 50, 48, 50, 48]],
    },
    wirelesssensor_measures: {
      seq: [119, 120, 121],
      device: [0, 0, 0],
      stamp_ms: [at + 2_000, at + 2_000, at + 602_003],
      clock: [0, 0, 0],
      fields: [
        ["temperature", "humidity", "action_single"],
        [-3.25, 61, 1],
        ["°C", "%", ""],
      ],
    },
    scale_weights: {
      seq: [107, 113],
      device: [2, 2],
      stamp_ms: [at + 2_000, at + 3_700_000],
      clock: [0, 0],
      device_ms: [at + 2_000, -1],
      offset_ms: [0, at + 3_700_001],
      fields: [
        [67_559, 67_421],
        [24_037, null],
        [null, 31_804],
        [null, null],
        [41_239, 41_003],
        [39, 38],
      ],
    },
    scale_heart: {
      seq: [108],
      device: [2],
      stamp_ms: [at + 2_001],
      clock: [0],
      device_ms: [null],
      offset_ms: [null],
      fields: [[68]],
    },
    watch_epochs: {
      seq: [109, 114, 115, 116],
      device: [3, 3, 3, 3],
      stamp_ms: [at - 123, at + 599_877, at + 1_199_877, at + 2_399_877],
      clock: [4, 4, 4, 4],
      device_ms: [at - 123, at + 599_877, at + 1_199_877, at + 2_399_877],
      offset_ms: [0, 0, 0, 0],
      fields: [
        [600, 600, 600, 600],
        [0, 449.4, 0.7, 1 / 3],
        [0, 642, 1, 5],
        [1, 2, 1, 1],
        [1, 1, 1, 1],
        [3, 1, 1, 2],
      ],
    },
  },
});

/** The readings of a day: their numbers do not follow each other. */
export const readingsOfDay: Batch = batchOf({
  epoch: everySeries.epoch,
  first_seq: 1,
  from_seq: 51,
  to_seq: 9_000,
  missing: [],
  devices: everySeries.devices.slice(0, 1),
  series: {
    wirelesssensor_events: {
      seq: [52, 70, 71, 8_999],
      device: [0, 0, 0, 0],
      stamp_ms: [at, at - 10, at + 5, at + 9],
      clock: [0, 0, 0, 0],
      fields: [[48, 50, 48, 50]],
    },
  },
});

/** A batch of `count` readings of any series in any order, with whatever values their schemas allow. */
export function randomBatch(random: () => number, count: number): Batch {
  const devices = randomDevices(random);
  const columns: Partial<Record<SeriesName, Mutable>> = {};
  const missing: [number, number][] = [];
  const from_seq = 1 + below(random, 1_000_000);
  let seq = from_seq;
  for (let reading = 0; reading < count; reading += 1) {
    if (random() < 0.02) {
      const lost = 1 + below(random, 1_000);
      missing.push([seq, seq + lost - 1]);
      seq += lost;
    }
    const name = seriesNames[below(random, seriesNames.length)] as SeriesName;
    addReading(columns, name, { seq, random, devices });
    seq += 1;
  }
  return batchOf({
    epoch: Array.from({ length: 32 }, () => below(random, 16).toString(16)).join(""),
    first_seq: 1 + below(random, from_seq),
    from_seq,
    to_seq: seq - 1,
    ...(random() < 0.5
      ? {}
      : {
          previous: below(random, 2 ** 32)
            .toString(16)
            .padStart(16, "0"),
        }),
    missing,
    devices,
    series: columns as Partial<Record<SeriesName, PlainColumns>>,
  });
}

type Mutable = { [Name in keyof PlainColumns]: Name extends "fields" ? Value[][] : (number | null)[] };

function addReading(
  columns: Partial<Record<SeriesName, Mutable>>,
  name: SeriesName,
  { seq, random, devices }: { seq: number; random: () => number; devices: readonly BatchDevice[] },
): void {
  const { kind, fields, deviceClock } = seriesOf(name);
  const names = Object.keys(fields);
  const own = deviceClock === true ? { device_ms: [], offset_ms: [] } : {};
  columns[name] ??= { seq: [], device: [], stamp_ms: [], clock: [], ...own, fields: names.map(() => []) };
  const of = columns[name];
  const suited = devices.flatMap((device, place) => (device.kind === kind ? [place] : []));
  const stamp_ms =
    random() < 0.02 ? below(random, Date.UTC(2100, 0, 1)) : at + seq * 10_000 + below(random, 30_000);
  of.seq.push(seq);
  of.device.push(suited[below(random, suited.length)] as number);
  of.stamp_ms.push(stamp_ms);
  of.clock.push(below(random, 6));
  of.device_ms?.push(random() < 0.3 ? null : stamp_ms - 1_000 - below(random, 3));
  of.offset_ms?.push(random() < 0.3 ? null : 1_000);
  for (const [place, field] of names.entries())
    of.fields[place]?.push(randomValue(random, field, fields[field]?.sql));
}

function randomValue(random: () => number, field: string, sql: SeriesField["sql"] | undefined): Value {
  const values: Record<string, () => Value> = {
    powersource: () => (random() < 0.5 ? "battery" : "external_power"),
    batteryseconds: () => String(below(random, 1_000_000)),
    firmwarerevsion: () => `1.${below(random, 4)} "é\u2028\\${String.fromCharCode(below(random, 32))}`,
    macaddress: () => "x".repeat(below(random, 200)),
    distance: () => (random() < 0.2 ? random() * 1e6 : Math.round(random() * 10_000) / 100),
    walkState: () => 1 + below(random, 2),
    runState: () => 1 + below(random, 2),
    sleepState: () => 1 + below(random, 4),
    fatMass: () => (random() < 0.5 ? null : below(random, 90_000)),
    waterMass: () => null,
    eventcount: () => (random() < 0.01 ? Number.MAX_SAFE_INTEGER : below(random, 1_000) - 500),
  };
  const ofType = {
    TEXT: () => `text ${below(random, 20)} °`,
    REAL: () => (random() < 0.5 ? random() * 1e3 - 500 : below(random, 1_000)),
    INTEGER: () => below(random, 2 ** below(random, 31)),
  };
  return (values[field] ?? ofType[sql ?? "INTEGER"])();
}

function randomDevices(random: () => number): BatchDevice[] {
  const many = random() < 0.2 ? 150 : 2;
  return Object.keys(kinds).flatMap((kind) =>
    Array.from({ length: 1 + below(random, many) }, (_, number) => {
      const address = random() < 0.1 ? "" : `00:${number.toString(16).padStart(2, "0")}`;
      const adopted = address === "" || random() < 0.5;
      return { kind: kind as BatchDevice["kind"], address, ...(adopted ? { itemid: number } : {}) };
    }),
  );
}

/** The JSON text inside a batch. */
export function textOf(bytes: Uint8Array): string {
  return zstdDecompressSync(bytes).toString("utf8");
}

/** A batch with this inside, whatever it is. */
export function bytesWith(text: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return zstdCompressSync(text, {
    params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 },
  });
}

/** The bytes of a batch. */
export function written(batch: Batch): Uint8Array<ArrayBuffer> {
  const bytes = encodeBatch(batch);
  if (bytes === null) throw new Error("it is too large");
  return bytes;
}

/** The message of a BatchFault; any other error, or none, fails the test. */
export function fault(decode: () => unknown): string {
  try {
    decode();
  } catch (thrown) {
    if (thrown instanceof BatchFault) return thrown.message;
    throw thrown;
  }
  throw new Error("it was taken for a batch");
}
