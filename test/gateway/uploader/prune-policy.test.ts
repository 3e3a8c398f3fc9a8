import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { pruneByPolicy } from "../../../src/gateway/uploader/upload.ts";
import { sensor, sensorEvent, temporaryDirectory } from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";
import { openUpload } from "../../store/upload/opening.ts";

const first_day = 20_000;
/** In the middle of the fiftieth day. */
const now_ms = (first_day + 49.5) * day_ms;
const beforeDays = (days: number) => (first_day + 49 - days) * day_ms;

/** The store of a gateway, as its uploader has it, with as many readings of one sensor, evenly over fifty days. */
async function fiftyDays(count: number) {
  const directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const step_ms = (50 * day_ms) / count;
  for (let at = 0; at < count; at += 5_000)
    await gateway.append(
      Array.from({ length: Math.min(5_000, count - at) }, (_, index) =>
        sensorEvent(sensor(1), Math.floor(first_day * day_ms + (at + index) * step_ms), 48),
      ),
    );
  const store = await openUpload(directory.path);
  return {
    prune: (of: { keep_days: number; through_seq?: number; now_ms?: number; stop?: AbortSignal }) =>
      pruneByPolicy({ store, now_ms, through_seq: count, stop: new AbortController().signal, ...of }),
    store,
    async [Symbol.asyncDispose]() {
      await store.close();
      await gateway.close();
      directory[Symbol.dispose]();
    },
  };
}

test("what is older than whole days goes, however many readings that is, and the bound is kept", async () => {
  await using home = await fiftyDays(30_000);
  const pruned = await home.prune({ keep_days: 10 });
  // The day that is under way stays besides.
  expect(pruned).toBe((39 * 30_000) / 50);
  expect((await home.store.uploadState()).pruned_before_ms).toBe(beforeDays(10));
  expect(await home.prune({ keep_days: 10 })).toBe(0);
  const [{ first_seq } = { first_seq: 0 }] = await home.store.epochs();
  expect(first_seq).toBe(1);
});

test("readings that are not confirmed and compared stay, and where none is, no bound is noted", async () => {
  await using home = await fiftyDays(2_000);
  expect(await home.prune({ keep_days: 10, through_seq: 0 })).toBe(0);
  expect(await home.prune({ keep_days: 10, through_seq: -1 })).toBe(0);
  expect((await home.store.uploadState()).pruned_before_ms).toBeUndefined();
  expect(await home.prune({ keep_days: 10, through_seq: 1 })).toBe(1);
  expect((await home.store.uploadState()).pruned_before_ms).toBe(beforeDays(10));
});

test("a clock before the days that are kept prunes nothing", async () => {
  await using home = await fiftyDays(2_000);
  expect(await home.prune({ keep_days: 10, now_ms: 10.5 * day_ms })).toBe(0);
  expect(await home.prune({ keep_days: 10, now_ms: 3 * day_ms })).toBe(0);
  expect((await home.store.uploadState()).pruned_before_ms).toBeUndefined();
});

test("a policy that keeps more days from now on does not take the bound back", async () => {
  await using home = await fiftyDays(2_000);
  await home.prune({ keep_days: 10 });
  await home.prune({ keep_days: 20 });
  expect((await home.store.uploadState()).pruned_before_ms).toBe(beforeDays(10));
});

test("a run that is stopped before it prunes has noted the bound: its days are not compared any more", async () => {
  await using home = await fiftyDays(2_000);
  const stop = AbortSignal.abort(new Error("the box is switched off"));
  expect(await home.prune({ keep_days: 10, stop }).catch(String)).toBe("Error: the box is switched off");
  expect((await home.store.uploadState()).pruned_before_ms).toBe(beforeDays(10));
  expect(await home.prune({ keep_days: 10 })).toBeGreaterThan(0);
});
