import { describe, expect, test } from "bun:test";
import { BatchFault, decodeBatch, decodeReadings } from "../../../src/sync/batch-codec.ts";
import { bytesWith, everySeries, fault, readingsOfDay, textOf, written } from "./sample.ts";

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

// biome-ignore lint/suspicious/noExplicitAny: what is inside a batch is to be broken in every way.
type Text = any;
