import type { Clock } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import { type Batch, readingsIn } from "../../store/batch.ts";
import type { TakenSpan } from "../../store/erasure.ts";
import type { UploadStore } from "../../store/gateway/upload-store.ts";
import type { PauseRequest } from "../../store/pause.ts";
import { prepareDatabase } from "../../store/sqlite/data-directory.ts";
import { openUploadStore } from "../../store/sqlite/open-store.ts";
import { claimRole, newEpoch } from "../../store/sqlite/role-and-epoch.ts";
import { batchFrom, decodeBatch } from "../../transfer/batch-codec.ts";
import type { CentralClient } from "../../transfer/central-client.ts";
import { positionHeader } from "../../transfer/protocol.ts";
import { followHomeRecords, homeFilesAt, takeHomeRecords } from "./home-at-central.ts";
import { putHomeFiles } from "./home-files.ts";

/** Counts of the readings and records that came back of a home. */
export interface RestoredHome {
  readonly readings: number;
  readonly records: number;
  /** Whether a copy of its Zigbee network was among it. */
  readonly network: boolean;
}

/**
 * Makes a gateway's data directory from central's data of its home: records, the readings of the last days, the copy of the Zigbee network
 * and the cursors of devices' buffers. The box gives later readings numbers of a new epoch.
 *
 * @param options.directory is empty
 * @param options.erasures what was erased here that central may not know; the same of `pauses`
 * @param options.random names the epoch: 16 random bytes
 * @param options.onBatch called with each batch once it is in the store, and with the number of readings so far
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function restoreHome(options: {
  readonly directory: string;
  readonly central: CentralClient;
  readonly days: number;
  readonly erasures: readonly TakenSpan[];
  readonly pauses: readonly PauseRequest[];
  readonly clock: Clock;
  readonly log: Log;
  readonly random?: () => Uint8Array;
  readonly onBatch: (batch: Batch, readings: number) => void;
}): Promise<RestoredHome> {
  const { directory, central, days, erasures, pauses, clock, log, random, onBatch } = options;
  const { database } = prepareDatabase(directory, newEpoch(random));
  claimRole(database, directory, "gateway");
  database.close();
  const { files, now_ms = clock.now().unix_ms } = await homeFilesAt(central);
  const store = await openUploadStore({ directory, clock, log });
  try {
    await store.takeErasures(erasures);
    await store.takePauses(pauses);
    const imported = await followHomeRecords({
      central,
      store,
      take: (document) => takeHomeRecords({ store, directory, document }),
    });
    const readings = await restoreHistory({
      central,
      store,
      from_ms: Math.max(0, now_ms - days * day_ms),
      onBatch,
    });
    const records = Object.values(imported?.changes ?? {}).reduce((sum, { added }) => sum + added, 0);
    return { readings, records, ...putHomeFiles(directory, files) };
  } finally {
    await store.close();
  }
}

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
        "check proxies between this machine and central: it may answer what was asked before",
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
