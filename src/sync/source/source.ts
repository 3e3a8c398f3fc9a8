import { condition_notes_max } from "../../condition.ts";
import type { App } from "../../http/app.ts";
import type { UploadStore } from "../../store/upload-store.ts";
import { batchAnswer, emptyAnswer, jsonAnswer } from "../answer.ts";
import { encodeBatch } from "../batch-codec.ts";
import { dayReadingsOf } from "../day-query.ts";
import { encodedBatch } from "../encoded-batch.ts";
import {
  BatchQuery,
  DayQuery,
  DigestQuery,
  type DigestsAnswer,
  type GatewayReport,
  ReportQuery,
} from "../protocol.ts";
import { readQuery } from "../query.ts";
import { type Call, type Route, syncApp } from "../route.ts";

/** What of a gateway's store central reads. */
export type SourceStore = Pick<
  UploadStore,
  "epochs" | "batchAfter" | "conditionAfter" | "digests" | "readingsOfDay"
>;

/**
 * The gateway's side of sync where central comes to it: the same report, batches, digests and days that an upload sends, read-only.
 *
 * @param options.describe what the gateway says of itself now
 */
export function sourceApp(options: {
  store: SourceStore;
  describe: () => Promise<GatewayReport>;
  /** The home that the gateway is in, where that is known: a token of another home opens nothing here. */
  home: number | undefined;
}): App {
  const { store, home } = options;
  const rows: readonly [path: string, answer: Route["answer"]][] = [
    ["/report", (call) => report(call, options)],
    ["/batches", (call) => batches(call, store)],
    ["/digests", (call) => digests(call, store)],
    ["/days", (call) => days(call, store)],
  ];
  return syncApp(
    rows.map(([path, answer]) => ({
      method: "GET",
      path,
      scopes: ["sync", "admin"],
      ...(home === undefined ? {} : { home }),
      answer,
    })),
  );
}

async function report(
  { exchange }: Call,
  { store, describe }: { store: SourceStore; describe: () => Promise<GatewayReport> },
): Promise<Response> {
  const { after_note } = readQuery(ReportQuery, exchange.query);
  const [epochs, condition, said] = await Promise.all([
    store.epochs(),
    store.conditionAfter(after_note, condition_notes_max),
    describe(),
  ]);
  const own = epochs.filter(({ restored }) => !restored);
  return jsonAnswer(exchange, {
    // What came from central is not told back to it.
    epochs: own.map(({ epoch, first_seq, last_seq }) => ({ epoch, first_seq, last_seq })),
    condition,
    report: said,
  });
}

async function batches({ exchange }: Call, store: SourceStore): Promise<Response> {
  const { epoch, after } = readQuery(BatchQuery, exchange.query);
  const made = await encodedBatch(async (readings_max) => {
    const batch = await store.batchAfter({ epoch, after_seq: after, readings_max });
    return batch === undefined ? undefined : { batch };
  });
  return made === undefined ? emptyAnswer() : batchAnswer(made.bytes);
}

async function digests({ exchange }: Call, store: SourceStore): Promise<Response> {
  const { epoch, through, from, before } = readQuery(DigestQuery, exchange.query);
  const found = await store.digests({ epoch, through_seq: through, from_ms: from, before_ms: before });
  return jsonAnswer(exchange, { digests: [...found] } satisfies DigestsAnswer);
}

async function days({ exchange }: Call, store: SourceStore): Promise<Response> {
  const request = dayReadingsOf(readQuery(DayQuery, exchange.query));
  const bytes = encodeBatch(await store.readingsOfDay(request));
  if (bytes === null) throw new Error(`the ${request.series} of one day are larger than a batch may be`);
  return batchAnswer(bytes);
}
