import { type Batch, readingsIn } from "../../../../src/store/batch.ts";
import { BatchFault, decodeReadings, encodeBatch } from "../../../../src/transfer/batch-codec.ts";
import { bytesWith, everySeries, readingsOfDay, textOf } from "../../../../testbed/batch-sample.ts";

const samples = [everySeries, readingsOfDay].map((batch) => encodeBatch(batch) ?? new Uint8Array());

/** The decoder of batches as parsers of messages: a batch, or what is wrong with it. Throws where what was taken for a batch is none. */
export const batchParsers = [
  { name: "batches", samples, parse },
  {
    name: "what is inside of batches",
    samples: samples.map((bytes) => new Uint8Array(Buffer.from(textOf(bytes)))),
    parse: (text: Uint8Array) => parse(bytesWith(text)),
  },
];

function parse(bytes: Uint8Array): Batch | string {
  try {
    const batch = decodeReadings(bytes);
    requireSound(batch);
    return batch;
  } catch (thrown) {
    if (thrown instanceof BatchFault) return thrown.message;
    throw thrown;
  }
}

function requireSound(batch: Batch): void {
  const seqs: number[] = [];
  for (const { seq, device, stamp_ms, values } of Object.values(batch.series)) {
    for (const column of [device, stamp_ms, ...values]) {
      if (column.length !== seq.length) throw new Error("columns of different lengths");
    }
    if (!seq.every((number, row) => number > (seq[row - 1] ?? 0)))
      throw new Error("numbers that do not ascend");
    if (!stamp_ms.every((stamp) => Number.isSafeInteger(stamp) && stamp >= 0))
      throw new Error("a stamp that is none");
    seqs.push(...seq);
  }
  if (new Set(seqs).size !== readingsIn(batch)) throw new Error("a number that two readings have");
  if (seqs.some((seq) => seq < batch.from_seq || seq > batch.to_seq))
    throw new Error("a number outside of the span");
}
