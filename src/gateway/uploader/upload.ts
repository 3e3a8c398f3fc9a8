import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { day_ms } from "../../base/time.ts";
import type { StoppedRelease } from "../../domain/fleet-home.ts";
import { readingsIn } from "../../store/batch.ts";
import { nothingNoted } from "../../store/exchange.ts";
import type { UploadState, UploadStore } from "../../store/gateway/upload-store.ts";
import type { Imported } from "../../store/inventory/record-store.ts";
import type { NoteChanges } from "../../store/note.ts";
import type { CentralClient } from "../../transfer/central-client.ts";
import { CentralTarget } from "../../transfer/central-target.ts";
import { TouchedDays } from "../../transfer/days.ts";
import { type TransferOptions, type Transferred, transfer } from "../../transfer/transfer.ts";
import { StoreSource } from "../../transfer/transfer-ends.ts";
import { TryAgainLater } from "../../web/client/http-request.ts";
import type { GatewayDescription } from "../gateway-status.ts";
import { followHomeRecords, sendHomeFiles } from "./home-at-central.ts";

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
  /** Changes of the home's notes that central was not told. Absent: none are told. */
  readonly notes?: () => Promise<NoteChanges | undefined>;
  /** Told the time of central, unix milliseconds, where it can be a witness: over TLS. */
  readonly onCentralTime?: ((unix_ms: number) => void) | undefined;
  /** Told the certificate that central will have next, in PEM. */
  readonly onNextCertificate?: (certificate: string) => void;
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
  /** Releases that central has stopped. */
  readonly stopped: readonly StoppedRelease[];
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
  let unmended_days = 0;
  const describe = async () => ({
    ...(await options.describe()),
    differing_days,
    unmended_days,
    failure: failure.slice(0, failure_length_max) || undefined,
  });
  const source = new StoreSource({ store, describe, notes: options.notes });
  const { onCentralTime: onTime, onNextCertificate } = options;
  const target = new CentralTarget({ central, clock, log, onTime, onNextCertificate });
  const { sent, confirmed_seq, verified_seq, lost, compared } = await transferReadings(
    { source, target, state, checkTime: () => central.checkTime() },
    options,
  );
  const { repaired, kept } = compared;
  differing_days = compared.differing.size;
  unmended_days = compared.unmended.size;
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
  return { sent, confirmed_seq, differing_days, repaired, kept, lost, pruned, stopped: target.stopped };
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

/**
 * Removes readings older than the policy says, if central has confirmed them and the days were compared.
 *
 * @param options.keep_days days that stay here, besides the one that is under way
 * @param options.now_ms the earlier of this machine's time and central's: a clock that is a year ahead must not empty the store
 * @param options.through_seq up to which all is confirmed and compared
 * @returns how many
 */
export async function pruneByPolicy(options: {
  readonly store: UploadStore;
  readonly keep_days: number;
  readonly now_ms: number;
  readonly through_seq: number;
  readonly stop: AbortSignal;
}): Promise<number> {
  const { store, keep_days, now_ms, through_seq, stop } = options;
  const before_ms = (Math.floor(now_ms / day_ms) - keep_days) * day_ms;
  const { pruned_before_ms = 0 } = await store.uploadState();
  if (through_seq <= 0) return 0;
  // Noted first: days that may have lost readings are never compared, however this ends.
  if (before_ms > pruned_before_ms) await store.noteUpload({ pruned_before_ms: before_ms });
  let pruned = 0;
  for (let rounds = 0; rounds < rounds_max; rounds += 1) {
    stop.throwIfAborted();
    const done = await store.prune({ before_ms, through_seq, readings_max: readings_per_round });
    pruned += done.pruned;
    if (!done.more) break;
  }
  return pruned;
}

/** A transaction short enough that the running gateway does not wait. */
const readings_per_round = 10_000;
const rounds_max = 100_000;
