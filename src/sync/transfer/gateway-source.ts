import { decodingBounds } from "../../decoding-bounds.ts";
import { day_ms } from "../../durations.ts";
import type { HttpClient } from "../../http-client/http-client.ts";
import { plainWords } from "../../plain-text.ts";
import { type Batch, isOfDay } from "../../store/batch.ts";
import type { DayReadings, DigestRequest } from "../../store/upload-store.ts";
import { batchFrom, decodeBatch, decodeReadings } from "../batch-codec.ts";
import { DigestsAnswer, dayQueryOf, SourceReport } from "../protocol.ts";
import type { SourceBatch, SpanDigests, TransferSource } from "./source-and-target.ts";

/** A gateway that is asked, a day at a time. Its answers are checked: anybody may give them. */
export class GatewaySource implements TransferSource {
  readonly days_max = 1;
  readonly #gateway: HttpClient;

  constructor(gateway: HttpClient) {
    this.#gateway = gateway;
  }

  async report(after_note: number, after_device = 0): Promise<SourceReport> {
    const request = { method: "GET", path: "/report", query: { after_note, after_device } } as const;
    return plainWords(
      await this.#gateway.askJson({ ...request, answer: decodingBounds.sourceReport }, SourceReport),
    );
  }

  async batchAfter({
    epoch,
    after_seq,
  }: Parameters<TransferSource["batchAfter"]>[0]): Promise<SourceBatch | undefined> {
    const answer = await this.#gateway.ask({
      method: "GET",
      path: "/batches",
      query: { epoch, after: after_seq },
      answer: decodingBounds.sentBatch,
    });
    if (answer.status === 204) return undefined;
    return { batch: this.#decoded(epoch, answer.body, decodeBatch), bytes: answer.body.length };
  }

  async digests({ epoch, through_seq, from_ms, before_ms }: DigestRequest): Promise<SpanDigests> {
    const { digests, next_ms } = await this.#gateway.askJson(
      {
        method: "GET",
        path: "/digests",
        query: { epoch, through: through_seq, from: from_ms, before: before_ms },
        answer: decodingBounds.digests,
      },
      DigestsAnswer,
    );
    if (digests.some(({ day }) => day * day_ms < from_ms || day * day_ms >= before_ms))
      throw this.#gateway.unexpected("digests of another day than was asked for");
    if (next_ms !== undefined && (next_ms < before_ms || next_ms % day_ms !== 0))
      throw this.#gateway.unexpected("a next day that is none");
    return { digests, next_ms };
  }

  async readingsOfDay(request: DayReadings): Promise<Batch> {
    const answer = await this.#gateway.ask({
      method: "GET",
      path: "/days",
      query: dayQueryOf(request),
      answer: decodingBounds.sentBatch,
    });
    const batch = this.#decoded(request.epoch, answer.body, decodeReadings);
    if (!isOfDay(batch, request.day))
      throw this.#gateway.unexpected("readings of another day than was asked for");
    return batch;
  }

  /** @throws OperatorError where the bytes are no batch, or one of another epoch */
  #decoded(epoch: string, bytes: Uint8Array, decode: (bytes: Uint8Array) => Batch): Batch {
    const batch = batchFrom(this.#gateway, bytes, decode);
    if (batch.epoch !== epoch) throw this.#gateway.unexpected("a batch of another epoch than was asked for");
    return batch;
  }
}
