import { decodingBounds } from "../decoding-bounds.ts";
import { OperatorError } from "../errors.ts";
import { type Batch, readingsIn } from "../store/batch.ts";
import type { UploadStore } from "../store/upload-store.ts";
import { batchFrom, decodeBatch } from "./batch-codec.ts";
import { positionHeader } from "./protocol.ts";
import type { CentralClient } from "./upload/central.ts";

/**
 * Restores the readings that central has of the items that are in this home now, from a time on, oldest first.
 *
 * @param options.store new, with the home's records in it
 * @param options.from_ms unix milliseconds
 * @param options.onBatch called with each batch once it is in the store, and with the number of readings so far
 * @returns the number of readings
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function restoreHistory(options: {
  readonly central: CentralClient;
  readonly store: Pick<UploadStore, "restoreReadings">;
  readonly from_ms: number;
  readonly onBatch: (batch: Batch, readings: number) => void;
}): Promise<number> {
  const { central, store, from_ms, onBatch } = options;
  let readings = 0;
  let position: RestorePosition | undefined;
  for (let batches = 0; batches < batches_max; batches += 1) {
    central.checkTime();
    const answer = await central.ask({
      method: "GET",
      path: "/history",
      answer: decodingBounds.sentBatch,
      query: { from: from_ms, ...position },
    });
    if (answer.status === 204) return readings;
    const batch = batchFrom(central, answer.body, decodeBatch);
    await store.restoreReadings(batch);
    readings += readingsIn(batch);
    onBatch(batch, readings);
    const next = positionIn(answer.headers.get(positionHeader), central);
    if (next.seq === position?.seq && next.at === position.at)
      throw new OperatorError(
        `central at ${central.url.host} says twice that its history goes on at ${next.seq} ${next.at}`,
        "check what stands between this machine and central: it may answer what was asked before",
      );
    position = next;
  }
  throw new OperatorError(
    `the history of this home does not end after ${readings} readings`,
    "ask for fewer --days",
  );
}

type RestorePosition = { seq: number; at: string };

function positionIn(header: string | null, { url }: CentralClient): RestorePosition {
  const found = /^(?<seq>\d{1,16}) (?<at>.*)/.exec(header ?? "")?.groups;
  if (found === undefined)
    throw new OperatorError(
      `central at ${url.host} does not say where its history goes on`,
      "run the same version of Lintel on both; if it is, this is a fault of the program",
    );
  return { seq: Number(found["seq"]), at: String(found["at"]) };
}

/** Of thousands of readings each: more than a home makes in a hundred years. */
const batches_max = 1_000_000;
