import type { Clock } from "../../clock.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import { TryAgainLater } from "../../http-client/outcome.ts";
import type { Log } from "../../log.ts";
import { readingsIn } from "../../store/batch.ts";
import { nothingNoted } from "../../store/device-health.ts";
import type { Imported } from "../../store/record-store.ts";
import type { UploadState, UploadStore } from "../../store/upload-store.ts";
import type { GatewayDescription } from "../gateway-report.ts";
import { sendHomeFiles } from "../home-files.ts";
import { followHomeRecords } from "../home-records-following.ts";
import { CentralTarget } from "../transfer/central-target.ts";
import { StoreSource } from "../transfer/store-source.ts";
import { TouchedDays } from "../transfer/touched-days.ts";
import { type TransferOptions, type Transferred, transfer } from "../transfer/transfer.ts";
import type { CentralClient } from "./central.ts";
import { pruneByPolicy } from "./prune.ts";

export interface UploadOptions {
  readonly store: UploadStore;
  /** Prepares the requests to central; an error ends the upload. */
  readonly connect: () => CentralClient;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the upload where it leaves things in order; it rejects with the signal's reason. */
  readonly stop: AbortSignal;
  /** Compares every day, not only those that were touched. */
  readonly everyDay: boolean;
  /** Days to keep here; absent: everything. */
  readonly keep_days?: number;
  /** The gateway's present report of itself. */
  readonly describe: () => Promise<GatewayDescription>;
  /** Takes in home records, an import document as JSON. Absent: none are asked for. */
  readonly takeHomeRecords?: (document: object) => Promise<Imported>;
  /** Told the time of central, unix milliseconds, where it can be a witness: over TLS. */
  readonly onCentralTime?: ((unix_ms: number) => void) | undefined;
  /** Files that a spare gateway would need besides readings and records, by name, as they were before this upload began. */
  readonly homeFiles: ReadonlyMap<string, Uint8Array>;
  readonly onProgress: (progress: UploadProgress) => void;
}

export interface UploadProgress {
  /** Readings confirmed by this upload, of those that were here when it began. */
  readonly sent: number;
  readonly total: number;
  readonly now: string;
}

export interface Uploaded {
  /** Readings that central has confirmed in this upload. */
  readonly sent: number;
  /** Number up to which central holds every reading of this store. */
  readonly confirmed_seq: number;
  /** Days that were found to differ, and readings that were put right. */
  readonly differing_days: number;
  readonly repaired: number;
  /** Readings that central holds and this store has not. */
  readonly kept: number;
  /** Numbers that neither this store nor central has a reading of. */
  readonly lost: number;
  readonly pruned: number;
}

/**
 * Sends central the readings that it lacks of this store, compares both and removes the readings that the policy no longer keeps. However an
 * upload ends, the next one goes on from the number that central holds. The outcome is kept in the store.
 *
 * @throws TryAgainLater where that may go better by itself; OperatorError where somebody has to do something
 */
export async function upload(options: UploadOptions): Promise<Uploaded> {
  const { store, clock, stop } = options;
  try {
    const done = await uploadOnce(options, options.connect());
    await store.noteUpload({ uploaded_ms: clock.now().unix_ms, failure: "" });
    return done;
  } catch (thrown) {
    if (!stop.aborted)
      await store.noteUpload({
        failed_ms: clock.now().unix_ms,
        failure: messageOf(thrown, failure_length_max),
      });
    throw thrown;
  }
}

async function uploadOnce(options: UploadOptions, central: CentralClient): Promise<Uploaded> {
  const { store, clock, log, keep_days, stop, homeFiles } = options;
  const state = await store.uploadState();
  /** The error of the upload before this one; in the last report, of this one. */
  let failure = state.failure ?? "";
  let differing_days = 0;
  const describe = async () => ({
    ...(await options.describe()),
    differing_days,
    failure: failure.slice(0, failure_length_max) || undefined,
  });
  const source = new StoreSource({ store, describe });
  const target = new CentralTarget({ central, clock, log, onTime: options.onCentralTime });
  const { sent, confirmed_seq, verified_seq, lost, compared } = await transferReadings(
    { source, target, state, checkTime: () => central.checkTime() },
    options,
  );
  const { repaired, kept } = compared;
  differing_days = compared.differing.size;
  const recordsFault = await takeRecords(central, options);
  // After the readings: a cursor in these files means that central has the readings before it.
  await sendHomeFiles(central, homeFiles);
  const { now_ms } = target;
  const pruned =
    keep_days === undefined
      ? 0
      : await pruneByPolicy({ store, keep_days, now_ms, through_seq: verified_seq, stop });
  failure = recordsFault?.message ?? "";
  await target.note({ ...(await source.report(0)), condition: nothingNoted });
  if (recordsFault !== undefined) throw recordsFault;
  return { sent, confirmed_seq, differing_days, repaired, kept, lost, pruned };
}

/** Readings, health of devices and comparison; `sent` counts the readings that central has confirmed. */
async function transferReadings(
  ends: Pick<TransferOptions, "source" | "target" | "checkTime"> & { readonly state: UploadState },
  { store, clock, log, stop, onProgress, everyDay }: UploadOptions,
): Promise<Transferred & { readonly sent: number }> {
  const { confirmed_seq = 0, verified_seq = 0, verified_all_ms = 0 } = ends.state;
  const touched = new TouchedDays(verified_seq, days_max);
  touched.all = everyDay;
  let sent = 0;
  let total = 0;
  const tell = () => onProgress({ sent, total, now: "sending" });
  const done = await transfer({
    ...ends,
    clock,
    log,
    gateway: "this box",
    earlier: () => ({ confirmed_seq, verified_seq, verified_all_ms }),
    touched,
    held_note: 0,
    remember: (changed) => store.noteUpload(changed),
    batches_max: Number.POSITIVE_INFINITY,
    checkTime: () => {
      stop.throwIfAborted();
      ends.checkTime();
    },
    onBegin: (readings) => {
      total = readings;
      tell();
    },
    onBatch: (batch) => {
      sent += readingsIn(batch);
      tell();
    },
    onCompare: (from_ms) => {
      const day = new Date(from_ms).toISOString().slice(0, 10);
      onProgress({ sent, total: sent, now: `comparing ${day}` });
    },
  });
  return { ...done, sent };
}

/** Takes in the records that central has for this home. Answers their fault, which is reported at the end: it holds up nothing else. */
async function takeRecords(
  central: CentralClient,
  { store, log, takeHomeRecords }: UploadOptions,
): Promise<OperatorError | undefined> {
  if (takeHomeRecords === undefined) return undefined;
  try {
    const imported = await followHomeRecords({ store, central, take: takeHomeRecords });
    if (imported !== undefined) log.info("took in the records that central has for this home");
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof OperatorError) || thrown instanceof TryAgainLater) throw thrown;
    return thrown;
  }
}

/** Characters of a failure that are kept, and reported to central. */
const failure_length_max = 200;
/** Days of one upload that are remembered, a hundred years; more than these are all. */
const days_max = 36_500;
