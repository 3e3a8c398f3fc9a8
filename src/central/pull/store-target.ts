import type { Clock } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import { type Batch, batch_readings_max, numbersIn, readingsIn } from "../../store/batch.ts";
import {
  BatchRefused,
  type CentralStore,
  type Repaired,
  type Sender,
} from "../../store/central/central-store.ts";
import { type DayDigest, notesIn } from "../../store/exchange.ts";
import type { DayReadings, DigestRequest } from "../../store/gateway/upload-store.ts";
import { compareDays } from "../../transfer/day-comparison.ts";
import { homeDay } from "../../transfer/days.ts";
import type {
  BatchSender,
  HeldSpan,
  ReadAfter,
  TransferReport,
  TransferTarget,
} from "../../transfer/transfer-ends.ts";
import { TryAgainLater } from "../../web/client/http-request.ts";
import type { DailyQuota, HomeAllowances, ReceivedCounts } from "../receiver/home-allowances.ts";

export interface StoreTargetOptions {
  readonly store: CentralStore;
  readonly home: number;
  readonly clock: Clock;
  readonly allowances: HomeAllowances;
  readonly counts: ReceivedCounts;
  /** Name of the gateway at the start of a sentence, and the file and line where it is listed. */
  readonly title: string;
  readonly place: string;
  /** Fields that central adds to a report of the gateway. */
  readonly remarks: () => Readonly<Record<string, unknown>>;
}

/** Central by its store on this machine, for the gateway of one home. */
export class StoreTarget implements TransferTarget {
  readonly #options: StoreTargetOptions;

  /** When the gateway was first asked for this transfer, unix milliseconds. */
  readonly #begun_ms: number;

  constructor(options: StoreTargetOptions) {
    this.#options = options;
    this.#begun_ms = options.clock.now().unix_ms;
  }

  async held(report: TransferReport): Promise<readonly HeldSpan[]> {
    const { store, home, title, place } = this.#options;
    if (report.home !== undefined && report.home !== home)
      throw new OperatorError(
        `${title} is in home ${report.home}, and is listed for home ${home}`,
        `correct home or url (${place}), or [home] id at the gateway`,
      );
    const held = await store.held(report.epochs.map(({ epoch }) => epoch));
    const foreign = held.find((one) => one.home !== undefined && one.home !== home);
    if (foreign !== undefined)
      throw new OperatorError(
        `${title} has readings that central holds as home ${foreign.home}'s`,
        `correct home or url (${place}); a box that comes from another home starts with a data directory of its own`,
      );
    return held;
  }

  async note({ epochs, condition, report }: TransferReport): Promise<readonly HeldSpan[]> {
    const { store, remarks } = this.#options;
    this.#spend("notes", notesIn(condition));
    const { epoch = "", last_seq = 0 } = epochs.at(-1) ?? {};
    // What the gateway numbered since it was first asked is left for the next turn.
    const as_of = { last_seq, day: homeDay(report.timezone, this.#begun_ms) };
    await store.noteReport(
      { epoch, health: condition, report: { ...report, ...remarks() }, as_of },
      this.#sender,
    );
    return store.held(epochs.map((one) => one.epoch));
  }

  sender(read: ReadAfter): BatchSender {
    const { store, allowances, home, counts } = this.#options;
    return async (after_seq) => {
      const handed = await read(after_seq, batch_readings_max);
      if (handed === undefined) return undefined;
      const { batch, bytes } = handed;
      this.#spend("readings", numbersIn(batch));
      try {
        const { held_seq, taken, erased = 0 } = await store.receive(batch, this.#sender);
        allowances.giveBack(home, "readings", readingsIn(batch) - taken);
        counts.taken(taken, bytes);
        counts.refusedErased(this.#options.home, erased);
        return { held_seq, batch };
      } catch (thrown) {
        allowances.giveBack(home, "readings", numbersIn(batch));
        return { held_seq: this.#heldAfter(thrown) };
      }
    };
  }

  async differing(request: DigestRequest, digests: readonly DayDigest[]): Promise<readonly DayDigest[]> {
    return compareDays(this.#options.store, { request, digests }, this.#sender);
  }

  async repairDay(request: DayReadings, readings: Batch): Promise<Repaired> {
    const { store, counts } = this.#options;
    try {
      const repaired = await store.repairDay(request, readings, this.#sender);
      counts.repaired += repaired.added + repaired.corrected;
      counts.refusedErased(this.#options.home, repaired.erased ?? 0);
      return repaired;
    } catch (thrown) {
      throw thrown instanceof BatchRefused ? this.#refusal(thrown) : thrown;
    }
  }

  /** @throws TryAgainLater where the home has sent as much as it may */
  #spend(quota: DailyQuota, amount: number): void {
    const { allowances, home, title, counts } = this.#options;
    const spent = allowances.take(home, quota, amount);
    if (spent === undefined) return;
    counts.exceeded(quota);
    throw new TryAgainLater(
      `${title} has sent more ${quota} than ${spent.most} a day`,
      `it is read again; where that many are right, start central with --quota ${quota}=N`,
    );
  }

  get #sender(): Sender {
    const { home, clock } = this.#options;
    return { home, at_ms: clock.now().unix_ms };
  }

  /** The number to go on from after a refusal. @throws OperatorError for refusals that somebody has to deal with, and any other error */
  #heldAfter(thrown: unknown): number {
    if (!(thrown instanceof BatchRefused)) throw thrown;
    this.#options.counts.refused(thrown.reason);
    if (thrown.reason !== "gap") throw this.#refusal(thrown);
    return thrown.held_seq;
  }

  #refusal({ what, remedy }: BatchRefused): OperatorError {
    return new OperatorError(`${this.#options.title}: ${what}`, remedy);
  }
}
