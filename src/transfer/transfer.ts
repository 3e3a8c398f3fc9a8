import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { day_ms } from "../base/time.ts";
import { type Batch, batch_readings_max, numbersMissing } from "../store/batch.ts";
import { health_notes_max, notesIn } from "../store/exchange.ts";
import { TryAgainLater } from "../web/client/http-request.ts";
import { type Compared, Comparison, type ComparisonOptions } from "./day-comparison.ts";
import { spansOf, type TouchedDays } from "./days.ts";
import type { HeldSpan, TransferReport } from "./transfer-ends.ts";

export interface TransferOptions extends ComparisonOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Name of the gateway in messages, such as `this box`. */
  readonly gateway: string;
  /** Result of earlier transfers from the store with this epoch, with the days left to compare. */
  readonly earlier: (epoch: string) => Earlier;
  readonly touched: TouchedDays;
  /** The last note of the health of devices that central is known to hold; the first report is asked for later notes. 0: unknown. */
  readonly held_note: number;
  /** Stores the results that have changed, for later transfers. */
  readonly remember: (changed: Partial<Earlier>) => Promise<void>;
  /** Batches after which the rest is left for another transfer. */
  readonly batches_max: number;
  /** Called with the readings that central does not hold, as they are counted first. */
  readonly onBegin?: (readings: number) => void;
  /** Called for each batch once central holds it. */
  readonly onBatch?: (batch: Batch) => void;
}

/** Result of earlier transfers between a gateway and central. */
export interface Earlier {
  /** Number up to which central confirmed every reading, and up to which every day was compared and found equal, or put right. */
  readonly confirmed_seq: number;
  readonly verified_seq: number;
  /** When all days were last compared, unix milliseconds. */
  readonly verified_all_ms: number;
}

export interface Transferred {
  /** Readings are left for another transfer, and nothing was compared. */
  readonly more: boolean;
  /** The last report that the source gave. */
  readonly report: TransferReport;
  readonly held_note: number;
  readonly confirmed_seq: number;
  readonly verified_seq: number;
  /** Every day was compared. */
  readonly everyDay: boolean;
  readonly compared: Compared;
  /** Numbers that neither side has a reading of. */
  readonly lost: number;
}

/**
 * Sends central the readings that it lacks of a gateway, and compares both. Either side may be on this machine; the other is asked over the
 * network. However a transfer ends, the next one goes on from the readings that central holds.
 *
 * @throws TryAgainLater where the next one may go better by itself; OperatorError where somebody has to do something
 */
export function transfer(options: TransferOptions): Promise<Transferred> {
  return new Transfer(options).run();
}

/** Numbers of one epoch, and how far central holds them. */
interface EpochProgress {
  readonly epoch: string;
  readonly first_seq: number;
  readonly last_seq: number;
  held_seq: number;
}

class Transfer {
  readonly #options: TransferOptions;
  #epochs: readonly EpochProgress[] = [];
  #earlier: Earlier = { confirmed_seq: 0, verified_seq: 0, verified_all_ms: 0 };
  #held_note = 0;
  #lost = 0;
  readonly #comparison: Comparison;

  constructor(options: TransferOptions) {
    this.#options = options;
    this.#comparison = new Comparison(options);
  }

  async run(): Promise<Transferred> {
    const { touched, remember } = this.#options;
    let report = await this.#begin();
    const more = !(await this.#sendReadings());
    const everyDay = touched.all;
    const confirmed_seq = this.#confirmed();
    let { verified_seq } = this.#earlier;
    if (!more) {
      await remember({ confirmed_seq });
      report = await this.#sendHealth(report);
      verified_seq = await this.#compareDays(report, confirmed_seq);
    }
    const done = { more, report, confirmed_seq, verified_seq, everyDay };
    return { ...done, held_note: this.#held_note, compared: this.#comparison, lost: this.#lost };
  }

  /** Asks how far central holds each epoch, and compares that with the gateway's numbers. */
  async #begin(): Promise<TransferReport> {
    const { source, target, gateway, log, clock, touched, onBegin } = this.#options;
    const report = await source.report(this.#options.held_note);
    const held = await target.held(report);
    await this.#requireNewest(report, held);
    this.#epochs = report.epochs.map((span, index) => ({
      ...span,
      held_seq: Math.max(held[index]?.held_seq ?? 0, span.first_seq - 1),
    }));
    this.#held_note = held.at(-1)?.held_note ?? 0;
    this.#earlier = this.#options.earlier(report.epochs.at(-1)?.epoch ?? "");
    const { confirmed_seq, verified_all_ms } = this.#earlier;
    const wentBack = this.#confirmed() < confirmed_seq;
    if (wentBack)
      log.warn(
        `central had confirmed readings of ${gateway} up to ${confirmed_seq} and now holds them up to ${this.#confirmed()} (was it restored from a backup?): they are sent again`,
      );
    const age_ms = clock.now().unix_ms - verified_all_ms;
    touched.all ||= wentBack || age_ms >= every_day_ms || age_ms < 0;
    onBegin?.(this.#epochs.reduce((sum, one) => sum + Math.max(0, one.last_seq - one.held_seq), 0));
    return report;
  }

  /** Refuses a box that runs on an older copy of its card: it has less than central holds. The box may have numbered more since its report: it is asked again. */
  async #requireNewest(report: TransferReport, held: readonly HeldSpan[]): Promise<void> {
    const { source, gateway } = this.#options;
    const last = report.epochs.at(-1);
    const held_seq = held.at(-1)?.held_seq ?? 0;
    if (last === undefined || held_seq <= last.last_seq) return;
    const again = await source.report(this.#options.held_note);
    const now = again.epochs.find(({ epoch }) => epoch === last.epoch);
    if (now !== undefined && held_seq <= now.last_seq) return;
    throw new OperatorError(
      `central has readings up to ${held_seq} of ${gateway}, which itself has them up to ${last.last_seq}: it runs on an older copy of its data`,
      "on that box stop lintel, set its data directory aside and run lintel restore, which brings the readings back and goes on with numbers of its own",
    );
  }

  /** Sends every reading that central does not hold. Answers whether that is all of them. */
  async #sendReadings(): Promise<boolean> {
    const { gateway, log, batches_max } = this.#options;
    let batches = 0;
    try {
      for (const progress of this.#epochs) {
        await this.#addUncompared(progress);
        batches += await this.#sendEpoch(progress, batches_max - batches);
        if (progress.held_seq < progress.last_seq && batches >= batches_max) return false;
      }
      return true;
    } finally {
      if (this.#lost > 0)
        log.warn(
          `${this.#lost} readings that central does not hold are not at ${gateway} any more either, lost or erased: central passes their numbers`,
        );
    }
  }

  /** Sends one epoch, batch by batch. Central takes each in one transaction with its `held_seq`. Answers the number of batches. */
  async #sendEpoch(progress: EpochProgress, batches_max: number): Promise<number> {
    const { source, target, gateway, touched, checkTime, onBatch } = this.#options;
    const { epoch } = progress;
    const send = target.sender((after_seq, readings_max) =>
      source.batchAfter({ epoch, after_seq, readings_max }),
    );
    let batches = 0;
    let stalls = 0;
    while (progress.held_seq < progress.last_seq && batches < batches_max) {
      checkTime();
      const sent = await send(progress.held_seq);
      if (sent === undefined) break;
      batches += 1;
      // Central decides where to go on, also where it goes back; but not without end.
      stalls = sent.held_seq > progress.held_seq ? 0 : stalls + 1;
      progress.held_seq = sent.held_seq;
      if (sent.batch !== undefined) {
        touched.add(sent.batch);
        this.#lost += numbersMissing(sent.batch);
        onBatch?.(sent.batch);
      }
      if (stalls >= stalls_max)
        throw new TryAgainLater(
          `central stays at reading ${progress.held_seq}, whatever ${gateway} hands over`,
          again,
        );
    }
    return batches;
  }

  /** Adds the days of readings that central holds and that were never compared: an earlier transfer may have ended before. */
  async #addUncompared({ epoch, first_seq, last_seq, held_seq }: EpochProgress): Promise<void> {
    const { source, touched, checkTime } = this.#options;
    const until_seq = Math.min(held_seq, last_seq);
    if (touched.all || touched.seen_seq >= until_seq) return;
    for (let after_seq = Math.max(first_seq - 1, touched.seen_seq); after_seq < until_seq; ) {
      checkTime();
      const readings_max = Math.min(batch_readings_max, until_seq - after_seq);
      const read = await source.batchAfter({ epoch, after_seq, readings_max });
      if (read === undefined || read.batch.to_seq <= after_seq) break;
      touched.add(read.batch);
      after_seq = read.batch.to_seq;
    }
    touched.seen_seq = Math.max(touched.seen_seq, until_seq);
  }

  /**
   * Sends the health of devices, interruptions from the note on that central holds and every state, in as many reports as it takes.
   * Answers the last report.
   */
  async #sendHealth(first: TransferReport): Promise<TransferReport> {
    const { source, target, gateway, checkTime } = this.#options;
    let report =
      first.condition.after_note === this.#held_note ? first : await source.report(this.#held_note);
    let after_device = 0;
    for (let reports = 1; ; reports += 1) {
      const held_note = (await target.note(report)).at(-1)?.held_note ?? 0;
      const { to_note, next_device = every_device } = report.condition;
      const all = notesIn(report.condition) < health_notes_max;
      const moved = held_note > this.#held_note || next_device > after_device;
      this.#held_note = held_note;
      after_device = next_device;
      if (all && held_note >= to_note && next_device === every_device) return report;
      if (reports >= reports_max || !moved)
        throw new TryAgainLater(
          `central stays at note ${held_note} of the interruptions of ${gateway}`,
          again,
        );
      checkTime();
      report = await source.report(held_note, after_device);
    }
  }

  /** Compares the days that were touched, or all, as far as central holds them; up to where all was found equal or put right. */
  async #compareDays({ pruned_before_ms = 0 }: TransferReport, confirmed_seq: number): Promise<number> {
    const { source, clock, log, gateway, touched, remember } = this.#options;
    const first_day = Math.ceil(pruned_before_ms / day_ms);
    const everyDay = touched.all;
    const comparison = this.#comparison;
    for (const { epoch, first_seq, last_seq, held_seq } of this.#epochs) {
      const through_seq = Math.min(held_seq, last_seq);
      if (through_seq < first_seq) continue;
      const days = touched.of(epoch);
      const whole = everyDay ? [] : days.filter((day) => day >= first_day);
      const pruned = days.filter((day) => day < first_day);
      if (everyDay) await comparison.compareFrom(epoch, through_seq, first_day * day_ms);
      for (const span of spansOf(whole, source.days_max)) await comparison.compare(epoch, through_seq, span);
      for (const span of spansOf(pruned, source.days_max))
        await comparison.sendDays(epoch, through_seq, span);
    }
    const { differing, repaired, kept, returned, unrepaired } = comparison;
    if (differing.size > 0)
      log.warn(
        `${differing.size} days of ${gateway} differed from central's: ${repaired} readings were sent again${kept === 0 ? "" : `, and central has ${kept} besides, of which ${returned} came back`}`,
      );
    if (unrepaired.size > 0) {
      log.warn(
        `${unrepaired.size} days of ${gateway} still differ from central's: they are compared again the next time`,
      );
      return this.#earlier.verified_seq;
    }
    const all = everyDay ? { verified_all_ms: clock.now().unix_ms } : {};
    await remember({ verified_seq: confirmed_seq, ...all });
    touched.settle(confirmed_seq);
    return confirmed_seq;
  }

  /** Up to which number central holds every reading of the gateway. */
  #confirmed(): number {
    let confirmed_seq = 0;
    for (const { held_seq, last_seq } of this.#epochs) {
      const held = Math.min(held_seq, last_seq);
      // An epoch that has no number yet confirms all readings before it: those came from central.
      confirmed_seq = Math.max(confirmed_seq, held);
      if (held < last_seq) break;
    }
    return confirmed_seq;
  }
}

const again = "look at the logs of both; nothing is lost, and the next time goes on from here";
/** How often in a row central may stay where it is, or go back. */
const stalls_max = 5;
/** A million interruptions; what is more follows the next time. */
const reports_max = 2_000;
/** After it there are no more devices. */
const every_device = Number.MAX_SAFE_INTEGER;
const every_day_ms = 7 * day_ms;
