import type { Static } from "@sinclair/typebox";
import { type Batch, batch_bytes_max, isOfDay } from "../../store/batch.ts";
import { type BatchRefusal, BatchRefused, type CentralStore } from "../../store/central/central-store.ts";
import { batch_numbers_max, QuotaExceeded } from "../../store/exchange.ts";
import { restricts } from "../../store/pause.ts";
import { BatchFault, decodeBatch, decodeReadings, encodeBatch } from "../../transfer/batch-codec.ts";
import {
  type BatchAnswer,
  batchType,
  type DayQuery,
  dayReadingsOf,
  type RepairAnswer,
} from "../../transfer/protocol.ts";
import { batchAnswer } from "../../transfer/sync-answers.ts";
import { HttpError } from "../../web/server/http-errors.ts";
import type { BodyForm } from "../../web/server/request-body.ts";
import type { HomeCall } from "./admission-queue.ts";
import { AllowanceSpent, type IntakeParts, takeBatch, takeRepair } from "./home-allowances.ts";

/** A batch of readings that follow each other. */
export const batchForm = formOf(decodeBatch);
/** A batch of the readings of a day. */
export const dayForm = formOf(decodeReadings);

/** A batch as it is encoded; its compression is part of it. Refused is with 422, which says why, what is no batch. */
function formOf(decode: (bytes: Uint8Array) => Batch): BodyForm<Batch> {
  return {
    type: batchType,
    codings: ["identity"],
    bytes_max: batch_bytes_max,
    read: (bytes) => {
      try {
        return decode(bytes);
      } catch (thrown) {
        if (thrown instanceof BatchFault) throw new HttpError("body_unsuitable", { fault: thrown.message });
        throw thrown;
      }
    },
  };
}

/** The answer to a batch that is held already, from the header that names it, without its body or a turn; undefined where it is not held. */
export async function answerToHeld(
  header: string | undefined,
  home: number,
  { store, counts }: IntakeParts,
): Promise<BatchAnswer | undefined> {
  const [, epoch, from, to] = /^([0-9a-f]{32}) (\d{1,15}) (\d{1,15})$/.exec(header ?? "") ?? [];
  if (epoch === undefined || Number(from) > Number(to)) return undefined;
  // No batch has so many, and the count of what was repeated is to be believed.
  if (Number(to) - Number(from) >= batch_numbers_max) return undefined;
  const [held] = await store.held([epoch]);
  if (held === undefined || held.home !== home || held.held_seq < Number(to)) return undefined;
  counts.repeated(Number(to) - Number(from) + 1);
  return { held_seq: held.held_seq, taken: 0 };
}

/** Takes readings in. */
export async function receiveBatch(
  { home, now_ms, body: batch, bytes }: HomeCall<Batch>,
  parts: IntakeParts,
): Promise<BatchAnswer> {
  try {
    const { held_seq, taken } = await takeBatch(parts, { batch, bytes }, { home, at_ms: now_ms });
    return { held_seq, taken };
  } catch (thrown) {
    throw refusalOf(thrown, home, batch.epoch);
  }
}

/** Adds and puts right what a gateway holds of one series of one device on one day. */
export async function receiveRepair(
  { home, now_ms, query, body: readings }: HomeCall<Batch, Static<typeof DayQuery>>,
  parts: IntakeParts,
): Promise<RepairAnswer> {
  const request = dayReadingsOf(query);
  await requireOwn(parts.store, [request.epoch], home);
  if (readings.epoch !== request.epoch)
    throw new HttpError("body_unsuitable", { fault: "the batch is of another epoch than the query" });
  if (!isOfDay(readings, request.day))
    throw new HttpError("body_unsuitable", { fault: "the batch has readings of another day than the query" });
  try {
    const repaired = await takeRepair(parts, { request, readings }, { home, at_ms: now_ms });
    const { added, corrected, kept } = repaired;
    return { added, corrected, kept };
  } catch (thrown) {
    throw refusalOf(thrown, home, request.epoch);
  }
}

/** Answers the readings that are held here of one series of one device on one day: a gateway that has lost some of it takes it back. */
export async function heldOfDay(
  { home, query }: HomeCall<undefined, Static<typeof DayQuery>>,
  { store }: Pick<IntakeParts, "store">,
): Promise<Response> {
  const request = dayReadingsOf(query);
  await requireOwn(store, [request.epoch], home);
  await requireShown(store, home);
  const bytes = encodeBatch(await store.readingsOfDay(request, home));
  if (bytes === null) throw new Error(`the ${request.series} of a day are too large for a batch`);
  return batchAnswer(bytes);
}

/** Refuses to hand out what was recorded in a home that is restricted. @throws HttpError 403 */
export async function requireShown(store: Pick<CentralStore, "pauses">, home: number): Promise<void> {
  if (await isRestrictedIn(store, home)) throw new HttpError("home_restricted", { home });
}

export async function isRestrictedIn(store: Pick<CentralStore, "pauses">, home: number): Promise<boolean> {
  return (await store.pauses([home])).some(restricts);
}

/** Refuses an epoch that another home has sent; one that nobody has sent yet passes. Nothing is told of what the other home has. */
export async function requireOwn(
  store: Pick<CentralStore, "held">,
  epochs: readonly string[],
  home: number,
): Promise<void> {
  for (const held of await store.held(epochs))
    if (held.home !== undefined && held.home !== home) throw refusal("foreign", held.epoch, 0);
}

/** The refusal of a batch or a report as an answer to the gateway: 409, 422, or 429 with Retry-After; any other error passes unchanged. */
export function refusalOf(thrown: unknown, home: number, epoch = ""): unknown {
  if (thrown instanceof AllowanceSpent) return new HttpError("allowance_spent", { home, ...thrown.spent });
  if (thrown instanceof QuotaExceeded) {
    const { quota, most, remedy } = thrown;
    return new HttpError("quota_exceeded", { home, most, quota }, {}, { remedy });
  }
  if (!(thrown instanceof BatchRefused)) return thrown;
  return refusal(thrown.reason, epoch, thrown.reason === "foreign" ? 0 : thrown.held_seq);
}

function refusal(reason: BatchRefusal, epoch: string, held_seq: number): HttpError {
  const more = { reason, held_seq };
  if (reason === "gap") return new HttpError("batch_gap", { held_seq }, {}, more);
  return new HttpError(reason === "foreign" ? "epoch_foreign" : "batch_diverged", { epoch }, {}, more);
}
