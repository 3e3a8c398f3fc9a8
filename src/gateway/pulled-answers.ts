import type { Static } from "@sinclair/typebox";
import { day_ms } from "../base/time.ts";
import { encodeBatch, encodedBatch } from "../transfer/batch-codec.ts";
import {
  type BatchQuery,
  type DayQuery,
  type DigestQuery,
  type DigestsAnswer,
  dayReadingsOf,
  type ReportQuery,
} from "../transfer/protocol.ts";
import { batchAnswer, emptyAnswer } from "../transfer/sync-answers.ts";
import { digestsOf, type SourceStore, StoreSource } from "../transfer/transfer-ends.ts";
import { HttpError } from "../web/server/http-errors.ts";

/** The gateway's report of itself, and the epochs it holds. */
export async function report(
  { after_note, after_device }: Static<typeof ReportQuery>,
  options: ConstructorParameters<typeof StoreSource>[0],
) {
  return await new StoreSource(options).report(after_note, after_device);
}

/** The readings of an epoch after a number, as many as go into one batch. */
export async function batches(
  { epoch, after }: Static<typeof BatchQuery>,
  store: SourceStore,
): Promise<Response> {
  const made = await encodedBatch(async (readings_max) => {
    const batch = await store.batchAfter({ epoch, after_seq: after, readings_max });
    return batch && { batch };
  }, batch_readings_max);
  return made === undefined ? emptyAnswer() : batchAnswer(made.bytes);
}

/** Digests of the readings of at most a day. */
export async function digests(
  { epoch, through, from, before }: Static<typeof DigestQuery>,
  store: SourceStore,
): Promise<DigestsAnswer> {
  if (before <= from || before - from > digests_span_ms_max)
    throw new HttpError("parameter_malformed", {
      parameter: "before",
      expected: "at most one day after from",
    });
  const request = { epoch, through_seq: through, from_ms: from, before_ms: before };
  const { digests: found, next_ms } = await digestsOf(store, request);
  return { digests: [...found], next_ms };
}

/** The readings of one series and day. */
export async function days(query: Static<typeof DayQuery>, store: SourceStore): Promise<Response> {
  const request = dayReadingsOf(query);
  const bytes = encodeBatch(await store.readingsOfDay(request));
  if (bytes === null) throw new Error(`the ${request.series} of one day are larger than a batch may be`);
  return batchAnswer(bytes);
}

/** Readings in one answer: the thread that answers also stamps what the drivers hear, and must not be busy for long. */
const batch_readings_max = 4_096;
/** For the same reason. */
const digests_span_ms_max = day_ms;
