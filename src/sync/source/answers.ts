import { day_ms } from "../../day.ts";
import { HttpError } from "../../http/errors.ts";
import { batchAnswer, emptyAnswer, jsonAnswer } from "../answer.ts";
import { encodeBatch } from "../batch-codec.ts";
import { dayReadingsOf } from "../day-query.ts";
import { encodedBatch } from "../encoded-batch.ts";
import { bodyOfFiles, type HomeFiles } from "../kept-files.ts";
import { BatchQuery, DayQuery, DigestQuery, type DigestsAnswer, ReportQuery } from "../protocol.ts";
import { readQuery } from "../query.ts";
import type { Call } from "../route.ts";
import { nextDay_ms } from "../transfer/days.ts";
import { type SourceStore, StoreSource } from "../transfer/store-source.ts";

/** The gateway's report of itself, and the epochs it holds. */
export async function report(
  { exchange }: Call,
  options: ConstructorParameters<typeof StoreSource>[0],
): Promise<Response> {
  const { after_note } = readQuery(ReportQuery, exchange.query);
  return jsonAnswer(exchange, await new StoreSource(options).report(after_note));
}

/** The readings of an epoch after a number, as many as go into one batch. */
export async function batches({ exchange }: Call, store: SourceStore): Promise<Response> {
  const { epoch, after } = readQuery(BatchQuery, exchange.query);
  const made = await encodedBatch(async (readings_max) => {
    const batch = await store.batchAfter({ epoch, after_seq: after, readings_max });
    return batch === undefined ? undefined : { batch };
  }, batch_readings_max);
  return made === undefined ? emptyAnswer() : batchAnswer(made.bytes);
}

/** Digests of the readings of at most a day. */
export async function digests({ exchange }: Call, store: SourceStore): Promise<Response> {
  const { epoch, through, from, before } = readQuery(DigestQuery, exchange.query);
  if (before <= from || before - from > digests_span_ms_max)
    throw new HttpError("parameter_malformed", {
      parameter: "before",
      expected: "at most one day after from",
    });
  const [found, next_ms] = await Promise.all([
    store.digests({ epoch, through_seq: through, from_ms: from, before_ms: before }),
    nextDay_ms(store, before),
  ]);
  const answer: DigestsAnswer = { digests: [...found], ...(next_ms === undefined ? {} : { next_ms }) };
  return jsonAnswer(exchange, answer);
}

/** The readings of one series and day. */
export async function days({ exchange }: Call, store: SourceStore): Promise<Response> {
  const request = dayReadingsOf(readQuery(DayQuery, exchange.query));
  const bytes = encodeBatch(await store.readingsOfDay(request));
  if (bytes === null) throw new Error(`the ${request.series} of one day are larger than a batch may be`);
  return batchAnswer(bytes);
}

/** Files of the home that central keeps besides readings and records. */
export async function backups({ exchange }: Call, files: HomeFiles): Promise<Response> {
  return jsonAnswer(exchange, bodyOfFiles(files));
}

/** Readings in one answer: the thread that answers also stamps what the drivers hear, and must not be busy for long. */
const batch_readings_max = 4_096;
/** For the same reason. */
const digests_span_ms_max = day_ms;
