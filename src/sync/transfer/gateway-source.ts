import { day_ms } from "../../day.ts";
import type { HttpClient } from "../../http-client/http-client.ts";
import { type Batch, batch_bytes_max } from "../../store/batch.ts";
import type { DayDigest, DayReadings, DigestRequest } from "../../store/upload-store.ts";
import { decodeBatch, decodeReadings } from "../batch-codec.ts";
import { BatchFault } from "../batch-frame.ts";
import { dayQueryOf } from "../day-query.ts";
import { DigestsAnswer, SourceReport } from "../protocol.ts";
import type { DaySpan } from "./days.ts";
import type { HandedBatch, Source } from "./ends.ts";

/** A gateway that is asked, which answers a day at once. What it says is checked: it may be anybody. */
export class GatewaySource implements Source {
  readonly #gateway: HttpClient;
  /** The first day after the one whose digests were read last on which the gateway has readings, unix milliseconds. */
  #next_ms: number | undefined;

  constructor(gateway: HttpClient) {
    this.#gateway = gateway;
  }

  report(after_note: number): Promise<SourceReport> {
    return this.#gateway.askJson(
      { method: "GET", path: "/report", query: { after_note }, answer_bytes_max: report_bytes_max },
      SourceReport,
    );
  }

  async batchAfter({
    epoch,
    after_seq,
  }: Parameters<Source["batchAfter"]>[0]): Promise<HandedBatch | undefined> {
    const answer = await this.#gateway.ask({
      method: "GET",
      path: "/batches",
      query: { epoch, after: after_seq },
      answer_bytes_max: batch_bytes_max,
    });
    if (answer.status === 204) return undefined;
    return { batch: this.#decoded(epoch, answer.body, decodeBatch), bytes: answer.body.length };
  }

  async digests({ epoch, through_seq, from_ms, before_ms }: DigestRequest): Promise<readonly DayDigest[]> {
    const { digests, next_ms } = await this.#gateway.askJson(
      {
        method: "GET",
        path: "/digests",
        query: { epoch, through: through_seq, from: from_ms, before: before_ms },
        answer_bytes_max: digests_bytes_max,
      },
      DigestsAnswer,
    );
    if (digests.some(({ day }) => day * day_ms < from_ms || day * day_ms >= before_ms))
      throw this.#gateway.strange("digests of another day than was asked for");
    if (next_ms !== undefined && (next_ms < before_ms || next_ms % day_ms !== 0))
      throw this.#gateway.strange("a next day that is none");
    this.#next_ms = next_ms;
    return digests;
  }

  async readingsOfDay(request: DayReadings): Promise<Batch> {
    const answer = await this.#gateway.ask({
      method: "GET",
      path: "/days",
      query: dayQueryOf(request),
      answer_bytes_max: batch_bytes_max,
    });
    return this.#decoded(request.epoch, answer.body, decodeReadings);
  }

  spansOf(days: readonly number[]): DaySpan[] {
    return days
      .toSorted((one, other) => one - other)
      .map((day) => ({ from_ms: day * day_ms, before_ms: (day + 1) * day_ms }));
  }

  async *allSpans(from_ms: number): AsyncGenerator<DaySpan> {
    for (let next_ms: number | undefined = from_ms; next_ms !== undefined; next_ms = this.#next_ms)
      yield { from_ms: next_ms, before_ms: next_ms + day_ms };
  }

  /** @throws OperatorError where the bytes are no batch, or one of another epoch */
  #decoded(epoch: string, bytes: Uint8Array, decode: (bytes: Uint8Array) => Batch): Batch {
    let batch: Batch;
    try {
      batch = decode(bytes);
    } catch (thrown) {
      if (thrown instanceof BatchFault) throw this.#gateway.strange(thrown.message);
      throw thrown;
    }
    if (batch.epoch !== epoch) throw this.#gateway.strange("a batch of another epoch than was asked for");
    return batch;
  }
}

const report_bytes_max = 16 * 1024 * 1024;
const digests_bytes_max = 16 * 1024 * 1024;
