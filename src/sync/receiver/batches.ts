import { HttpError } from "../../http/errors.ts";
import { type Batch, batch_bytes_max } from "../../store/batch.ts";
import { BatchRefused, type CentralStore } from "../../store/central-store.ts";
import { jsonAnswer } from "../answer.ts";
import { decodeBatch } from "../batch-codec.ts";
import { BatchFault } from "../batch-frame.ts";
import { type BatchAnswer, batchHeader, batchType } from "../protocol.ts";
import type { BodyForm } from "../route.ts";
import type { HomeRoute } from "./home-route.ts";
import type { Receptions } from "./receptions.ts";
import { refusalOf } from "./refusal.ts";

/** A batch as it is encoded; its compression is part of it. */
export const batchForm: BodyForm = { type: batchType, codings: ["identity"], bytes_max: batch_bytes_max };

/** POST /batches: takes readings in. What is held already is answered from the header, without reading or decoding the batch. */
export function batchesRoute(store: CentralStore, counts: Receptions): HomeRoute {
  return {
    method: "POST",
    path: "/batches",
    body: batchForm,
    early: async ({ exchange, home }) => {
      const named = parseBatchHeader(exchange.header(batchHeader));
      if (named === undefined) return undefined;
      const [held] = await store.held([named.epoch]);
      if (held === undefined || held.home !== home || held.held_seq < named.to_seq) return undefined;
      counts.repeated(named.to_seq - named.from_seq + 1);
      const answer: BatchAnswer = { held_seq: held.held_seq, taken: 0 };
      return jsonAnswer(exchange, answer);
    },
    answer: async ({ exchange, home, body }) => {
      const batch = readBatch(body);
      const at_ms = exchange.now_ms;
      try {
        const answer: BatchAnswer = await store.receive(batch, { home, at_ms });
        counts.taken(answer.taken, body.length);
        return jsonAnswer(exchange, { held_seq: answer.held_seq, taken: answer.taken });
      } catch (thrown) {
        if (thrown instanceof BatchRefused) counts.refused(thrown.reason);
        throw refusalOf(thrown, batch.epoch);
      }
    },
  };
}

/**
 * @param decode `decodeReadings` where the readings need not follow each other
 * @throws HttpError 422 that says why it is no batch
 */
export function readBatch(body: Uint8Array, decode = decodeBatch): Batch {
  try {
    return decode(body);
  } catch (thrown) {
    if (thrown instanceof BatchFault) throw new HttpError("body_unsuitable", { fault: thrown.message });
    throw thrown;
  }
}

function parseBatchHeader(
  text: string | null,
): { epoch: string; from_seq: number; to_seq: number } | undefined {
  const [, epoch, from, to] = /^([0-9a-f]{32}) (\d{1,15}) (\d{1,15})$/.exec(text ?? "") ?? [];
  if (epoch === undefined || Number(from) > Number(to)) return undefined;
  return { epoch, from_seq: Number(from), to_seq: Number(to) };
}
