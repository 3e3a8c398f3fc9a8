import { HttpError } from "../../http/errors.ts";
import { type BatchRefusal, BatchRefused, type CentralStore } from "../../store/central-store.ts";

/** Refuses an epoch that another home has sent; one that nobody has sent yet passes. Nothing is told of what the other home has. */
export async function requireOwn(
  store: Pick<CentralStore, "held">,
  epochs: readonly string[],
  home: number,
): Promise<void> {
  for (const held of await store.held(epochs))
    if (held.home !== undefined && held.home !== home) throw refusal("foreign", held.epoch, 0);
}

/** The refusal of the store as an answer to the gateway; any other error passes unchanged. */
export function refusalOf(thrown: unknown, epoch: string): unknown {
  if (!(thrown instanceof BatchRefused)) return thrown;
  return refusal(thrown.reason, epoch, thrown.reason === "foreign" ? 0 : thrown.held_seq);
}

function refusal(reason: BatchRefusal, epoch: string, held_seq: number): HttpError {
  const more = { reason, held_seq };
  if (reason === "gap") return new HttpError("batch_gap", { held_seq }, {}, more);
  return new HttpError(reason === "foreign" ? "epoch_foreign" : "batch_diverged", { epoch }, {}, more);
}
