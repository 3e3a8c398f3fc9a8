import type { Clock } from "../../clock.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import { TryAgainLater } from "../../http-client/outcome.ts";
import type { Log } from "../../log.ts";
import { readingsIn } from "../../store/batch.ts";
import type { Imported } from "../../store/record-store.ts";
import type { UploadState, UploadStore } from "../../store/upload-store.ts";
import type { GatewayDescription } from "../gateway-report.ts";
import { sendHomeFiles } from "../home-files.ts";
import { nothingNoted } from "../nothing-noted.ts";
import type { GatewayReport } from "../protocol.ts";
import { followRoster } from "../roster-following.ts";
import { CentralTarget } from "../transfer/central-target.ts";
import type { Source, Target } from "../transfer/source-and-target.ts";
import { StoreSource } from "../transfer/store-source.ts";
import { TouchedDays } from "../transfer/touched-days.ts";
import { type Transferred, transfer } from "../transfer/transfer.ts";
import type { Central } from "./central.ts";
import { pruneByPolicy } from "./prune.ts";

export interface UploadOptions {
  readonly store: UploadStore;
  /** Prepares the requests to central; an error ends the upload. */
  readonly connect: () => Central;
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
  /** Takes in a roster, an import document as JSON. Absent: none is asked for. */
  readonly takeRoster?: (document: string) => Promise<Imported>;
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
 * Brings central up to what this store has, compares both and clears away what the policy no longer keeps. However it ends, the next one
 * goes on from what central says it holds; how it ended is kept in the store.
 *
 * @throws TryAgainLater where that may go better by itself; OperatorError where somebody has to do something
 */
export async function upload(options: UploadOptions): Promise<Uploaded> {
  const { store, clock, stop } = options;
  try {
    const done = await new Upload(options, options.connect()).run();
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

class Upload {
  readonly #options: UploadOptions;
  readonly #central: Central;
  /** The error of the upload before this one; in the last report, of this one. */
  #failure = "";
  #differing_days = 0;

  constructor(options: UploadOptions, central: Central) {
    this.#options = options;
    this.#central = central;
  }

  async run(): Promise<Uploaded> {
    const { store, clock, log, keep_days, stop } = this.#options;
    const state = await store.uploadState();
    this.#failure = state.failure ?? "";
    const source = new StoreSource({ store, describe: () => this.#describe() });
    const target = new CentralTarget({ central: this.#central, clock, log });
    const { sent, ...done } = await this.#transfer({ source, target, state });
    const { confirmed_seq, verified_seq, lost, compared } = done;
    const { differing, repaired, kept } = compared;
    this.#differing_days = differing.size;
    const rosterFault = await this.#followRoster();
    // After the readings: what is in these files may rest on readings that central then has.
    await sendHomeFiles(this.#central, this.#options.homeFiles);
    const { now_ms } = target;
    const pruned =
      keep_days === undefined
        ? 0
        : await pruneByPolicy({ store, keep_days, now_ms, through_seq: verified_seq, stop });
    this.#failure = rosterFault?.message ?? "";
    await target.note({ ...(await source.report(0)), condition: nothingNoted });
    if (rosterFault !== undefined) throw rosterFault;
    return { sent, confirmed_seq, differing_days: differing.size, repaired, kept, lost, pruned };
  }

  /** Readings, health of devices and comparison; `sent` counts the readings that central has confirmed. */
  async #transfer(ends: {
    source: Source;
    target: Target;
    state: UploadState;
  }): Promise<Transferred & { readonly sent: number }> {
    const { source, target, state } = ends;
    const { store, clock, log, stop, onProgress } = this.#options;
    const { confirmed_seq = 0, verified_seq = 0, verified_all_ms = 0 } = state;
    const touched = new TouchedDays(verified_seq, days_max);
    touched.all = this.#options.everyDay;
    let sent = 0;
    let total = 0;
    const tell = () => onProgress({ sent, total, now: "sending" });
    const done = await transfer({
      source,
      target,
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
        this.#central.checkTime();
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

  async #describe(): Promise<GatewayReport> {
    const failure = this.#failure.slice(0, failure_length_max);
    return {
      ...(await this.#options.describe()),
      differing_days: this.#differing_days,
      failure: failure === "" ? undefined : failure,
    };
  }

  /** Fetches the records; their faults are reported at the end, because they hold up nothing else. */
  async #followRoster(): Promise<OperatorError | undefined> {
    const { store, log, takeRoster } = this.#options;
    if (takeRoster === undefined) return undefined;
    try {
      const imported = await followRoster({ store, central: this.#central, take: takeRoster });
      if (imported !== undefined) log.info("took in the records that central has for this home");
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof OperatorError) || thrown instanceof TryAgainLater) throw thrown;
      return thrown;
    }
  }
}

/** Characters of a failure that are kept, and told to central. */
const failure_length_max = 200;
/** Days of one upload that are remembered, a hundred years; more than these are all. */
const days_max = 36_500;
