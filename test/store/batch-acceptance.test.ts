import { expect, test } from "bun:test";
import { clockQuality } from "../../src/base/clock.ts";
import { type Batch, digestText, readingDigest } from "../../src/store/batch.ts";
import {
  devicesFrom,
  digestAt,
  firstNewSeq,
  type KnownSource,
} from "../../src/store/central/batch-acceptance.ts";
import { BatchRefused } from "../../src/store/central/central-store.ts";
import { batchOf, columnsOf, type PlainBatch } from "../../testbed/plain-batch.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";

const sender = { home: 12, at_ms: start_ms };
const clock = clockQuality.synchronised;
const digestOf = (seq: number) => digestText(readingDigest(seq, start_ms + seq, [48, clock]));

/** Events of two sensors in turn, of the numbers named. */
function batch(from_seq: number, to_seq: number, changes: Partial<PlainBatch> = {}): Batch {
  const missing = new Set(
    (changes.missing ?? []).flatMap(([from, to]) =>
      Array.from({ length: to - from + 1 }, (_, at) => from + at),
    ),
  );
  const seq = Array.from({ length: to_seq - from_seq + 1 }, (_, at) => from_seq + at).filter(
    (number) => !missing.has(number),
  );
  return batchOf({
    epoch: "0123456789abcdef0123456789abcdef",
    first_seq: 1,
    from_seq,
    to_seq,
    missing: [],
    devices: [sensor(1), sensor(2), sensor(3)],
    series: {
      wirelesssensor_events: {
        seq,
        device: seq.map((number) => number % 2),
        stamp_ms: seq.map((number) => start_ms + number),
        clock: seq.map(() => clock),
        fields: [seq.map(() => 48)],
      },
    },
    ...changes,
  });
}

function refusal(of: Batch, source: KnownSource | undefined): unknown[] {
  try {
    return ["taken from", firstNewSeq(of, source, sender)];
  } catch (thrown) {
    if (!(thrown instanceof BatchRefused)) throw thrown;
    return [thrown.reason, thrown.held_seq];
  }
}

test("a batch is new from the number on that follows what is held, and none of it where all is held", () => {
  const held: KnownSource = { home: 12, first_seq: 1, held_seq: 10 };
  expect(firstNewSeq(batch(11, 20), held, sender)).toBe(11);
  expect(firstNewSeq(batch(8, 20), held, sender)).toBe(11);
  expect(firstNewSeq(batch(8, 11), held, sender)).toBe(11);
  expect(firstNewSeq(batch(8, 10), held, sender)).toBeUndefined();
  expect(firstNewSeq(batch(1, 5), held, sender)).toBeUndefined();
  expect(refusal(batch(12, 20), held)).toEqual(["gap", 10]);
});

test("of an epoch that is new a batch begins where its numbers do, whatever a report has said before", () => {
  const later = { first_seq: 101 };
  for (const known of [undefined, { home: 12, held_seq: 0 }]) {
    expect(refusal(batch(1, 5), known)).toEqual(["taken from", 1]);
    expect(refusal(batch(2, 5), known)).toEqual(["gap", 0]);
    expect(refusal(batch(101, 105, later), known)).toEqual(["taken from", 101]);
    expect(refusal(batch(102, 105, later), known)).toEqual(["gap", 100]);
    // What it says of a reading before its first one is compared with nothing.
    expect(refusal(batch(101, 105, { ...later, previous: digestOf(100) }), known)).toEqual([
      "taken from",
      101,
    ]);
  }
});

test("nobody sends in the name of another home's gateway", () => {
  expect(refusal(batch(11, 20), { home: 13, first_seq: 1, held_seq: 10 })).toEqual(["foreign", 10]);
});

test("two gateways that number in one name are told apart by the last reading that is held, in the batch or before it", () => {
  const held = { home: 12, first_seq: 1, held_seq: 10 };
  const [same, other] = [digestOf(10), digestOf(9)];
  expect(refusal(batch(8, 20), { ...held, digest: same })).toEqual(["taken from", 11]);
  expect(refusal(batch(8, 20), { ...held, digest: other })).toEqual(["diverged", 10]);
  expect(refusal(batch(11, 20, { previous: same }), { ...held, digest: same })).toEqual(["taken from", 11]);
  expect(refusal(batch(11, 20, { previous: other }), { ...held, digest: same })).toEqual(["diverged", 10]);
  // Where either has lost it nobody can tell.
  expect(refusal(batch(11, 20, { previous: other }), held)).toEqual(["taken from", 11]);
  expect(refusal(batch(11, 20), { ...held, digest: other })).toEqual(["taken from", 11]);
  const lost = batch(8, 20, { missing: [[10, 10]] });
  expect(refusal(lost, { ...held, digest: other })).toEqual(["taken from", 11]);
});

/** The same with one reading more, of number 3: the heart rate of a scale that stands at a place of the devices. */
function withHeart(place: number): Batch {
  const { series, ...of } = batch(1, 5, { missing: [[3, 3]] });
  const scale_heart = columnsOf("scale_heart", {
    seq: [3],
    device: [place],
    stamp_ms: [start_ms],
    clock: [clock],
    device_ms: [null],
    offset_ms: [7],
    fields: [[60]],
  });
  return { ...of, missing: [], series: { ...series, scale_heart } };
}

test("the digest of a reading is found by its number in any series, and of one that is not there is none", () => {
  expect([1, 2, 3, 4, 5, 6].map((seq) => digestAt(withHeart(2), seq))).toEqual([
    digestOf(1),
    digestOf(2),
    digestText(readingDigest(3, start_ms, [60, clock, null, 7])),
    digestOf(4),
    digestOf(5),
    undefined,
  ]);
  expect(digestAt(batch(1, 5, { missing: [[3, 3]] }), 3)).toBeUndefined();
});

test("devices are those with readings from a number on, in the order of the batch, each with the stamp of its first", () => {
  expect(devicesFrom(batch(1, 6), 1)).toEqual([
    { place: 0, first_ms: start_ms + 2 },
    { place: 1, first_ms: start_ms + 1 },
  ]);
  expect(devicesFrom(batch(1, 6), 4)).toEqual([
    { place: 0, first_ms: start_ms + 4 },
    { place: 1, first_ms: start_ms + 5 },
  ]);
  expect(devicesFrom(batch(1, 6), 6)).toEqual([{ place: 0, first_ms: start_ms + 6 }]);
  expect(devicesFrom(batch(1, 6), 7)).toEqual([]);
  // Of any series: here that is the lowest number of the second.
  expect(devicesFrom(withHeart(1), 2)).toEqual([
    { place: 0, first_ms: start_ms + 2 },
    { place: 1, first_ms: start_ms },
  ]);
});
