import type { Clock } from "../../base/clock.ts";
import { OperatorError } from "../../base/errors.ts";
import { type Batch, batch_readings_max } from "../../store/batch.ts";
import { BatchRefused, type Repaired, type Sender } from "../../store/central/central-store.ts";
import type { DayDigest } from "../../store/exchange.ts";
import type { DayReadings, DigestRequest } from "../../store/gateway/upload-store.ts";
import { compareDays } from "../../transfer/day-comparison.ts";
import type {
  BatchSender,
  HeldSpan,
  ReadAfter,
  TransferReport,
  TransferTarget,
} from "../../transfer/transfer-ends.ts";
import { TryAgainLater } from "../../web/client/http-request.ts";
import {
  AllowanceSpent,
  type IntakeParts,
  takeBatch,
  takeRepair,
  takeReport,
} from "../receiver/home-allowances.ts";

interface StoreTargetOptions extends IntakeParts {
  readonly home: number;
  readonly clock: Clock;
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

  /** Readings that the gateway numbered since it was first asked are left for the next turn. */
  async note({ epochs, condition, report }: TransferReport): Promise<readonly HeldSpan[]> {
    const remarked = { ...report, ...this.#options.remarks() };
    return this.#worded(
      takeReport(this.#options, { epochs, condition, report: remarked }, this.#sender, this.#begun_ms),
    );
  }

  sender(read: ReadAfter): BatchSender {
    return async (after_seq) => {
      const handed = await read(after_seq, batch_readings_max);
      if (handed === undefined) return undefined;
      try {
        const { held_seq } = await takeBatch(this.#options, handed, this.#sender);
        return { held_seq, batch: handed.batch };
      } catch (thrown) {
        if (thrown instanceof BatchRefused && thrown.reason === "gap") return { held_seq: thrown.held_seq };
        throw this.#fault(thrown);
      }
    };
  }

  async differing(request: DigestRequest, digests: readonly DayDigest[]): Promise<readonly DayDigest[]> {
    return compareDays(this.#options.store, { request, digests }, this.#sender);
  }

  async repairDay(request: DayReadings, readings: Batch): Promise<Repaired> {
    return this.#worded(takeRepair(this.#options, { request, readings }, this.#sender));
  }

  get #sender(): Sender {
    const { home, clock } = this.#options;
    return { home, at_ms: clock.now().unix_ms };
  }

  #worded<Result>(taken: Promise<Result>): Promise<Result> {
    return taken.catch((thrown) => {
      throw this.#fault(thrown);
    });
  }

  /** An error in words that name the gateway; TryAgainLater where the home has sent as much as it may. */
  #fault(thrown: unknown): unknown {
    const { title } = this.#options;
    if (thrown instanceof BatchRefused) return new OperatorError(`${title}: ${thrown.what}`, thrown.remedy);
    if (!(thrown instanceof AllowanceSpent)) return thrown;
    const { quota, most } = thrown.spent;
    return new TryAgainLater(
      `${title} has sent more ${quota} than ${most} a day`,
      `it is read again; where that many are right, start central with --quota ${quota}=N`,
    );
  }
}
