import { describe, expect, test } from "bun:test";
import { constants, zstdCompressSync } from "node:zlib";
import { batch_bytes_max } from "../../../src/store/batch.ts";
import { BatchFault, decodeBatch, decodeReadings } from "../../../src/transfer/batch-codec.ts";
import {
  bytesWith,
  everySeries,
  fault,
  readingsOfDay,
  textOf,
  written,
} from "../../../testbed/batch-sample.ts";
import { plainOf } from "../../../testbed/plain-batch.ts";

/** Every one of these is a batch but for one thing. */
const faults: readonly { what: string; change: (text: Text) => void; says: string }[] = [
  { what: "no version", change: (text) => delete text.version, says: "/version" },
  { what: "a version that is no number", change: (text) => (text.version = "2"), says: "/version" },
  {
    what: "a digest of the reading before that is none",
    change: (text) => (text.previous = "00C0FFEE00C0FFEE"),
    says: "/previous",
  },
  { what: "an epoch that is no name", change: (text) => (text.epoch = "X".repeat(32)), says: "/epoch" },
  {
    what: "a number of readings that its span has not",
    change: (text) => (text.to_seq += 1),
    says: "it holds 20 readings, where 100 to 123 are 21",
  },
  {
    what: "an end before its beginning",
    change: (text) => (text.to_seq = 98),
    says: "ends before it begins",
  },
  { what: "lost numbers in disorder", change: (text) => text.missing.reverse(), says: "disorder" },
  {
    what: "lost numbers outside of its span",
    change: (text) => (text.missing[0] = [1, 2]),
    says: "disorder",
  },
  {
    what: "lost numbers that go beyond its span",
    change: (text) => {
      text.missing[1] = [122, 123];
    },
    says: "disorder",
  },
  {
    what: "lost numbers that end before they begin",
    change: (text) => (text.missing[0] = [104, 103]),
    says: "disorder",
  },
  {
    what: "a lost number that it holds",
    change: (text) => (text.missing[0] = [104, 105]),
    says: "number 105 is in it twice, or where it cannot be",
  },
  {
    what: "the first of the lost numbers after those that follow",
    change: (text) => (text.series.wirelesssensor_measures.seq = [119, 1, 2]),
    says: "number 122 is in it twice, or where it cannot be",
  },
  {
    what: "a number that is lost twice",
    change: (text) => text.missing.splice(1, 0, [104, 104]),
    says: "disorder",
  },
  {
    what: "a number that two series have",
    change: (text) => (text.series.scale_heart.seq = [107]),
    says: "number 107 is in it twice",
  },
  {
    what: "a number before its first",
    change: (text) => (text.series.pillbox_events.seq = [99, 11, 7]),
    says: "number 99 is in it twice, or where it cannot be",
  },
  {
    what: "a number after its last",
    change: (text) => (text.series.watch_epochs.seq[3] += 100),
    says: "number 216 is in it twice, or where it cannot be",
  },
  {
    what: "numbers that do not ascend",
    change: (text) => (text.series.pillbox_events.seq = [110, -10, 17]),
    says: "do not ascend",
  },
  {
    what: "number 0",
    change: (text) => (text.series.scale_heart.seq = [0]),
    says: "seq of scale_heart cannot be 0",
  },
  {
    what: "a device of a kind of its own",
    change: (text) => (text.series.scale_heart.items[0].kind = "toasters"),
    says: "/series/scale_heart/items/0/kind",
  },
  {
    what: "a device that is not in the list",
    change: (text) => text.series.pillbox_events.items.pop(),
    says: "item of pillbox_events cannot be 1",
  },
  {
    what: "a device before the first of the list",
    change: (text) => (text.series.pillbox_events.item[0] = -1),
    says: "/series/pillbox_events/item/0",
  },
  {
    what: "an unknown series",
    change: (text) => (text.series.toaster_slices = text.series.scale_heart),
    says: "/series/toaster_slices",
  },
  {
    what: "something else that nobody knows",
    change: (text) => (text.weather = "fine"),
    says: "/weather",
  },
  {
    what: "a field too many",
    change: (text) => (text.series.scale_heart.mood = [1]),
    says: "/series/scale_heart/mood",
  },
  {
    what: "a field too few",
    change: (text) => delete text.series.scale_heart.heartRate,
    says: "/series/scale_heart/heartRate",
  },
  {
    what: "a string where the series has numbers",
    change: (text) => (text.series.scale_heart.heartRate = ["fast"]),
    says: "/series/scale_heart/heartRate/0",
  },
  {
    what: "a string where there are times",
    change: (text) => (text.series.scale_heart.stamp_ms = ["1"]),
    says: "/series/scale_heart/stamp_ms/0",
  },
  {
    what: "a number where the series has strings",
    change: (text) => (text.series.pillbox_status.macaddress[1] = 7),
    says: "/series/pillbox_status/macaddress/1",
  },
  {
    what: "null where the series has none",
    change: (text) => (text.series.scale_heart.heartRate = [null]),
    says: "/series/scale_heart/heartRate/0",
  },
  {
    what: "null among times that are known",
    change: (text) => (text.series.watch_epochs.stamp_ms[1] = null),
    says: "/series/watch_epochs/stamp_ms/1",
  },
  {
    what: "a fraction where the series has whole numbers",
    change: (text) => (text.series.scale_heart.heartRate = [68.5]),
    says: "/series/scale_heart/heartRate/0",
  },
  {
    what: "a fraction between times",
    change: (text) => (text.series.watch_epochs.stamp_ms[1] += 0.5),
    says: "/series/watch_epochs/stamp_ms/1",
  },
  {
    what: "a whole number beyond what is exact",
    change: (text) => (text.series.watch_epochs.steps[2] = 2 ** 53),
    says: "steps of watch_epochs cannot be 9007199254740992",
  },
  {
    what: "a number beyond the range of its field",
    change: (text) => (text.series.watch_epochs.walkState[0] = 3),
    says: "/series/watch_epochs/walkState/0",
  },
  {
    what: "a time of a field beyond its range",
    change: (text) => (text.series.pillbox_status.nextpanicstop[1] = 253_402_300_799),
    says: "nextpanicstop of pillbox_status cannot be",
  },
  {
    what: "a word that the field does not have",
    change: (text) => (text.series.pillbox_status.powersource[1] = "steam"),
    says: "/series/pillbox_status/powersource/1",
  },
  {
    what: "a time before the first",
    change: (text) => (text.series.scale_heart.stamp_ms = [-1]),
    says: "stamp_ms of scale_heart cannot be -1",
  },
  {
    what: "a time before the first, and later ones behind it",
    change: (text) => (text.series.watch_epochs.stamp_ms = [-1, 600_001, 600_000, 1_200_000]),
    says: "stamp_ms of watch_epochs cannot be -1",
  },
  {
    what: "a time that no date has",
    change: (text) => (text.series.watch_epochs.stamp_ms[3] = 8_640_000_000_000_000),
    says: "stamp_ms of watch_epochs cannot be",
  },
  {
    what: "a time of the year 2100",
    change: (text) => (text.series.watch_epochs.stamp_ms = [Date.UTC(2100, 0, 1), 0, 0, 0]),
    says: "stamp_ms of watch_epochs cannot be",
  },
  {
    what: "a time of the year 2100, and earlier ones behind it",
    change: (text) => {
      text.series.watch_epochs.stamp_ms = [
        Date.UTC(2026, 0, 1),
        Date.UTC(2090, 0, 1),
        -Date.UTC(2090, 0, 1),
        0,
      ];
    },
    says: "stamp_ms of watch_epochs cannot be",
  },
  {
    what: "differences that add up beyond what is exact",
    change: (text) => (text.series.watch_epochs.device_ms = [2 ** 53 - 1, 2 ** 53 - 1, 0, 0]),
    says: "device_ms of watch_epochs cannot be",
  },
  {
    what: "an unknown quality of the clock",
    change: (text) => (text.series.scale_heart.clock = [6]),
    says: "/series/scale_heart/clock/0",
  },
  {
    what: "a text that is longer than any field has",
    change: (text) => (text.series.pillbox_status.macaddress[1] = "x".repeat(201)),
    says: "macaddress of pillbox_status has a text of more than 200 characters",
  },
  {
    what: "a number that no gateway has come to",
    change: (text) => (text.first_seq = 1_000_000_000_001),
    says: "/first_seq",
  },
  {
    what: "more lost numbers than a batch may have",
    change: (text) => {
      text.to_seq += 65_536;
      text.missing.push([123, text.to_seq]);
    },
    says: "it has 65559 numbers, and more than 65536 go into several batches",
  },
  {
    what: "no clock of the devices",
    change: (text) => delete text.series.scale_heart.offset_ms,
    says: "/series/scale_heart/offset_ms",
  },
  {
    what: "a clock of devices that have none",
    change: (text) => (text.series.wirelesssensor_events.offset_ms = [0, 0, 0, 0, 0]),
    says: "/series/wirelesssensor_events/offset_ms",
  },
  {
    what: "a column that is too short",
    change: (text) => text.series.watch_epochs.steps.pop(),
    says: "steps of watch_epochs has 3 values for 4 readings",
  },
  {
    what: "a column of texts that is too long",
    change: (text) => text.series.pillbox_status.macaddress.push("x"),
    says: "macaddress of pillbox_status has 3 values for 2 readings",
  },
  {
    what: "more readings than a batch may have",
    change: (text) => (text.series.scale_heart.seq = Array.from({ length: 65_537 }, () => 1)),
    says: "/series/scale_heart/seq",
  },
  {
    what: "single readings",
    change: (text) => delete text.series.scale_heart,
    says: "it holds 19 readings, where 100 to 122 are 20",
  },
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
    for (const [seq, says] of [
      [[52, 0, 1, 1], "do not ascend"],
      [[52, 18, -1, 1], "do not ascend"],
      [[52, 18, 1, 8_930], "number 9001 is in it twice, or where it cannot be"],
    ] as const) {
      text.series.wirelesssensor_events.seq = seq;
      expect(fault(() => decodeReadings(bytesWith(JSON.stringify(text))))).toContain(says);
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

test("bytes that are longer than a batch, frames without a checksum and texts of too many values are not read", () => {
  expect(fault(() => decodeBatch(new Uint8Array(batch_bytes_max + 1)))).toBe(
    "it is larger than 1048576 bytes",
  );
  const text = textOf(written(everySeries));
  const params = { [constants.ZSTD_c_checksumFlag]: 0 };
  expect(fault(() => decodeBatch(zstdCompressSync(text, { params })))).toBe(
    "it is no batch, or lacks its checksum",
  );
  const listOf = (word: string, times: number) => bytesWith(`[${`${word},`.repeat(times - 1)}${word}]`);
  expect(fault(() => decodeBatch(listOf("0", 1_200_001)))).toBe("it has more than 1200000 numbers");
  expect(fault(() => decodeBatch(listOf("[]", 500_000)))).toBe("it has more than 500000 values");
});

test("a batch in which any bit has turned is refused, or holds the same: some bits mean nothing", () => {
  const bytes = written(everySeries);
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const turned = bytes.slice();
    turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    try {
      expect(plainOf(decodeBatch(turned)), `bit ${bit}`).toEqual(plainOf(everySeries));
    } catch (thrown) {
      expect(thrown, `bit ${bit}`).toBeInstanceOf(BatchFault);
    }
  }
});

// biome-ignore lint/suspicious/noExplicitAny: what is inside a batch is to be broken in every way.
type Text = any;
