import { expect, test } from "bun:test";
import type { Value } from "../../../src/domain/series.ts";
import { digestText, readingDigest } from "../../../src/store/batch.ts";
import { decodeBatch, encodeBatch } from "../../../src/transfer/batch-codec.ts";
import { plainOf } from "../../../testbed/plain-batch.ts";
import { below, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkTotals } from "../sqlite/totals.ts";
import { batchesAfter, rowsOf, UploadModel } from "./model.ts";
import { openUpload, ownEpoch } from "./opening.ts";

for (const seed of [Number(process.env["LINTEL_TEST_SEED"] ?? 1), 2, 3]) {
  test(`batches are what was appended, whatever is late, merged and pruned meanwhile (seed ${seed})`, async () => {
    using directory = temporaryDirectory();
    const gateway = await openGateway(directory.path);
    const store = await openUpload(directory.path);
    const epoch = await ownEpoch(store);
    const model = new UploadModel(gateway, seed);
    const { random } = model;
    const gone = new Set<number>();
    let confirmed_seq = 0;

    const upload = async () => {
      const readings_max = 1 + below(random, 1_500);
      const batch = await store.batchAfter({ epoch, after_seq: confirmed_seq, readings_max });
      if (batch === undefined) return expect(confirmed_seq).toBe(model.last_seq);
      expect(batch).toMatchObject({ epoch, first_seq: 1, from_seq: confirmed_seq + 1, missing: [] });
      expect(batch.to_seq).toBe(Math.min(confirmed_seq + readings_max, model.last_seq));
      expect(rowsOf(batch)).toEqual(model.between(batch.from_seq, batch.to_seq));
      expect(batch.previous).toBe(gone.has(confirmed_seq) ? undefined : previousOf(model, confirmed_seq));
      const bytes = encodeBatch(batch);
      expect(bytes && plainOf(decodeBatch(bytes))).toEqual(plainOf(batch));
      confirmed_seq = batch.to_seq;
    };
    const prune = async () => {
      const before_ms = model.now_ms - below(random, 10 * 86_400_000);
      const readings_max = 500 + below(random, 3_000);
      const done = await store.prune({ before_ms, through_seq: confirmed_seq, readings_max });
      expect(done.pruned).toBeLessThanOrEqual(Math.max(readings_max, 1_024));
      const left = new Set((await allRows(store, epoch)).map(([seq]) => seq));
      const taken = model.numbers().filter((seq) => !left.has(seq) && !gone.has(seq));
      expect(taken).toHaveLength(done.pruned);
      const prunable = model.prunable(before_ms, confirmed_seq);
      expect(taken.filter((seq) => !prunable.has(seq))).toEqual([]);
      for (const seq of taken) gone.add(seq);
      checkTotals(directory.path);
    };

    for (let round = 0; round < 40; round += 1) {
      await model.append(1 + below(random, 900));
      if (random() < 0.2) await model.adopt(1 + below(random, 2), below(random, 5));
      while (random() < 0.6) await upload();
      if (random() < 0.2) await prune();
    }
    expect(gone.size).toBeGreaterThan(0);
    checkTotals(directory.path);

    const kept = model.between(1, model.last_seq).filter(([seq]) => !gone.has(seq as number));
    expect(await allRows(store, epoch)).toEqual(kept);
    const through_seq = below(random, model.last_seq);
    const digests = await store.digests({
      epoch,
      through_seq,
      from_ms: 0,
      before_ms: Number.MAX_SAFE_INTEGER,
    });
    const expected = model.digests(through_seq, (seq) => !gone.has(seq));
    expect(sorted(digests)).toEqual(sorted(expected));
    for (const digest of digests.slice(0, 50)) {
      const day = await store.readingsOfDay({ ...digest, epoch, through_seq, after_seq: 0 });
      expect(day).toMatchObject({ epoch, first_seq: 1, from_seq: 1, to_seq: through_seq, missing: [] });
      const held = new Set(rowsOf(day).map(([seq]) => seq));
      expect(held.size).toBe(digest.count);
      expect(rowsOf(day)).toEqual(kept.filter(([seq]) => held.has(seq)));
    }
    await store.close();
    await gateway.close();
  });
}

async function allRows(store: Awaited<ReturnType<typeof openUpload>>, epoch: string): Promise<unknown[][]> {
  const batches = await batchesAfter(store, { epoch, after_seq: 0, readings_max: () => 4_000 });
  return batches.flatMap(rowsOf);
}

function previousOf(model: UploadModel, seq: number): string | undefined {
  const [row] = seq === 0 ? [] : model.between(seq, seq);
  if (row === undefined) return undefined;
  const [number, , , , stamp_ms, ...values] = row as [number, string, string, number, number, ...Value[]];
  return digestText(readingDigest(number, stamp_ms, values));
}

function sorted(digests: readonly unknown[]): string[] {
  return digests
    .map((digest) => JSON.stringify(Object.entries(JSON.parse(JSON.stringify(digest))).sort()))
    .sort();
}
