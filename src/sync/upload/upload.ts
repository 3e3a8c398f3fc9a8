import { numbersMissing, readingsIn } from "../../batch.ts";
import type { Clock } from "../../clock.ts";
import type { Condition } from "../../condition.ts";
import { messageOf, OperatorError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Imported } from "../../store/record-store.ts";
import type { EpochSpan, UploadState, UploadStore } from "../../store/upload-store.ts";
import { type Compared, Comparison } from "../compare/compare.ts";
import { addDays, allSpans, day_ms, daysAfter, spansOf } from "../compare/days.ts";
import type { GatewayDescription } from "../gateway-report.ts";
import { sendHomeFiles } from "../home-files.ts";
import { TryAgainLater } from "../line/outcome.ts";
import { nothingNoted } from "../nothing-noted.ts";
import { ReportAnswer } from "../protocol.ts";
import { followRoster } from "../roster-following.ts";
import type { Central } from "./central.ts";
import { sendNotes } from "./notes.ts";
import { pruneByPolicy } from "./prune.ts";
import { sendEpoch } from "./send.ts";
import { sidesOf } from "./sides.ts";

export interface UploadOptions {
  readonly store: UploadStore;
  /** Makes ready to ask central; what it throws ends the upload. */
  readonly connect: () => Central;
  readonly clock: Clock;
  readonly log: Log;
  /** Ends the upload where it leaves things in order; it rejects with the signal's reason. */
  readonly stop: AbortSignal;
  /** Compares every day, not only those that were touched. */
  readonly everyDay: boolean;
  /** Days to keep here; absent: everything. */
  readonly keep_days?: number;
  /** What this gateway says of itself now. */
  readonly describe: () => Promise<GatewayDescription>;
  /** Takes in a roster, an import document as JSON. Absent: none is asked for. */
  readonly takeRoster?: (document: string) => Promise<Imported>;
  /** What a spare box would need besides readings and records, by name, as it was before this upload began. */
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
  readonly mended: number;
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

/** One span of numbers, and how far central holds it. */
interface Course {
  readonly span: EpochSpan;
  held_seq: number;
}

class Upload {
  readonly #options: UploadOptions;
  readonly #central: Central;
  #state: UploadState = {};
  #courses: Course[] = [];
  #held_note = 0;
  #everyDay = false;
  /** What to take for now where things are removed: see `pruneByPolicy`. */
  #now_ms = 0;
  /** What stopped the upload before this one; in the last report, what is wrong with this one. */
  #failure = "";
  #sent = 0;
  #lost = 0;
  #compared: Compared = { differing: new Set(), mended: 0, kept: 0, unmended: new Set() };

  constructor(options: UploadOptions, central: Central) {
    this.#options = options;
    this.#central = central;
  }

  async run(): Promise<Uploaded> {
    const { store, keep_days, stop } = this.#options;
    this.#state = await store.uploadState();
    this.#failure = this.#state.failure ?? "";
    await this.#begin();
    const days = await this.#send();
    const confirmed_seq = this.#confirmed();
    await store.noteUpload({ confirmed_seq });
    await sendNotes({ store, held_note: this.#held_note, report: (condition) => this.#note(condition) });
    const verified_seq = await this.#compare(days, confirmed_seq);
    const rosterFault = await this.#followRoster();
    await this.#putHomeFiles();
    const pruned =
      keep_days === undefined
        ? 0
        : await pruneByPolicy({ store, keep_days, now_ms: this.#now_ms, through_seq: verified_seq, stop });
    this.#failure = rosterFault?.message ?? "";
    await this.#report(nothingNoted);
    if (rosterFault !== undefined) throw rosterFault;
    const { differing, mended, kept } = this.#compared;
    return {
      sent: this.#sent,
      confirmed_seq,
      differing_days: differing.size,
      mended,
      kept,
      lost: this.#lost,
      pruned,
    };
  }

  /** Asks where central stands, and holds that against this store. */
  async #begin(): Promise<void> {
    const { clock, log } = this.#options;
    const answer = await this.#report(nothingNoted);
    const here_ms = clock.now().unix_ms;
    this.#now_ms = Math.min(here_ms, answer.now_ms);
    const ahead_ms = here_ms - answer.now_ms;
    if (Math.abs(ahead_ms) > clock_off_max_ms)
      log.warn(
        `the clock of this machine is ${Math.round(Math.abs(ahead_ms) / 60_000)} minutes ${ahead_ms > 0 ? "ahead of" : "behind"} central's: readings are sent with the times they have; lintel doctor says whether the clock is synchronised`,
      );
    // Read again: the gateway beside this process may have numbered more, and central, if it reads gateways itself, may have them.
    const spans = await this.#spans();
    const held = new Map(answer.epochs.map((one) => [one.epoch, one]));
    this.#courses = spans.map((span) => {
      const held_seq = Math.max(held.get(span.epoch)?.held_seq ?? 0, span.first_seq - 1);
      return { span, held_seq };
    });
    const last = this.#courses.at(-1);
    this.#held_note = held.get(last?.span.epoch ?? "")?.held_note ?? 0;
    if (last !== undefined && last.held_seq > last.span.last_seq)
      throw new OperatorError(
        `central holds readings up to ${last.held_seq} of this box, which itself has them up to ${last.span.last_seq}: it runs on an older copy of its data`,
        "stop lintel, set the data directory aside and run lintel restore, which brings the readings back and goes on with numbers of its own",
      );
    this.#everyDay = this.#dueForEveryDay();
    const { confirmed_seq = 0 } = this.#state;
    if (this.#confirmed() < confirmed_seq)
      log.warn(
        `central had confirmed readings up to ${confirmed_seq} and now holds them up to ${this.#confirmed()} (was it restored from a backup?): sending them again`,
      );
  }

  /** Sends every reading that central does not hold; the days on which anything happened that was not compared yet. */
  async #send(): Promise<Map<Course, Set<number>>> {
    const { store, log, onProgress } = this.#options;
    const total = this.#courses.reduce(
      (sum, { span, held_seq }) => sum + Math.max(0, span.last_seq - held_seq),
      0,
    );
    const days = new Map<Course, Set<number>>();
    const tell = () => onProgress({ sent: this.#sent, total, now: "sending" });
    tell();
    for (const course of this.#courses) {
      const { span } = course;
      const touched = await this.#uncompared(course);
      days.set(course, touched);
      course.held_seq = await sendEpoch({
        store,
        central: this.#central,
        span,
        held_seq: course.held_seq,
        onBatch: (batch) => {
          addDays(touched, batch);
          this.#sent += readingsIn(batch);
          this.#lost += numbersMissing(batch);
          tell();
        },
      });
    }
    if (this.#lost > 0)
      log.warn(
        `${this.#lost} readings that central does not hold are not in this store any more: central counts them as lost`,
      );
    return days;
  }

  /** Days of what central held before, but was never compared: an upload may have ended between the two. */
  #uncompared({ span, held_seq }: Course): Promise<Set<number>> {
    const { store, stop } = this.#options;
    return daysAfter({
      after_seq: this.#everyDay ? held_seq : Math.max(span.first_seq - 1, this.#state.verified_seq ?? 0),
      until_seq: Math.min(held_seq, span.last_seq),
      batchAfter: (after_seq, readings_max) => {
        stop.throwIfAborted();
        return store.batchAfter({ epoch: span.epoch, after_seq, readings_max });
      },
    });
  }

  /** All of them, once a week; also where central has gone back, or this machine's clock has. */
  #dueForEveryDay(): boolean {
    const { verified_all_ms = 0, confirmed_seq = 0 } = this.#state;
    const age_ms = this.#options.clock.now().unix_ms - verified_all_ms;
    return (
      this.#options.everyDay || age_ms >= every_day_ms || age_ms < 0 || this.#confirmed() < confirmed_seq
    );
  }

  /** Compares days with central's, as far as it has confirmed; up to where all was found equal or put right. */
  async #compare(days: ReadonlyMap<Course, ReadonlySet<number>>, confirmed_seq: number): Promise<number> {
    const { store, clock, log, onProgress } = this.#options;
    const { pruned_before_ms = 0 } = this.#state;
    const first_day = Math.ceil(pruned_before_ms / day_ms);
    const everyDay = this.#everyDay;
    const comparison = new Comparison(sidesOf(store, this.#central));
    for (const [{ span, held_seq }, touched] of days) {
      const through_seq = Math.min(held_seq, span.last_seq);
      if (through_seq < span.first_seq) continue;
      const tell = (from_ms: number) =>
        onProgress({
          sent: this.#sent,
          total: this.#sent,
          now: `comparing ${new Date(from_ms).toISOString().slice(0, 10)}`,
        });
      const whole = everyDay
        ? allSpans(store, first_day * day_ms)
        : spansOf([...touched].filter((day) => day >= first_day));
      for await (const one of whole) {
        tell(one.from_ms);
        await comparison.compare(span.epoch, through_seq, one);
      }
      for (const one of spansOf([...touched].filter((day) => day < first_day))) {
        tell(one.from_ms);
        await comparison.putBeside(span.epoch, through_seq, one);
      }
    }
    this.#compared = comparison.result;
    const { differing, mended, kept, unmended } = this.#compared;
    if (differing.size > 0)
      log.warn(
        `${differing.size} days differed from central's: ${mended} readings were sent again${kept === 0 ? "" : `, and central keeps ${kept} that this store has not`}`,
      );
    if (unmended.size > 0) {
      log.warn(`${unmended.size} days still differ from central's: they are compared again the next time`);
      return this.#state.verified_seq ?? 0;
    }
    await store.noteUpload({
      verified_seq: confirmed_seq,
      ...(everyDay ? { verified_all_ms: clock.now().unix_ms } : {}),
    });
    return confirmed_seq;
  }

  /** Records come down; what is wrong with them is said at the end, because it holds up nothing else. */
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

  /** After the readings: what is in these files may rest on readings that central then has. */
  #putHomeFiles(): Promise<void> {
    return sendHomeFiles(this.#central, this.#options.homeFiles);
  }

  async #note(condition: Condition): Promise<number> {
    const { epochs } = await this.#report(condition);
    return epochs.at(-1)?.held_note ?? 0;
  }

  async #report(condition: Condition): Promise<ReportAnswer> {
    const { describe } = this.#options;
    const failure = this.#failure.slice(0, failure_length_max);
    const spans = await this.#spans();
    return this.#central.askJson({ method: "POST", path: "/report" }, ReportAnswer, {
      epochs: spans.map(({ epoch, first_seq, last_seq }) => ({ epoch, first_seq, last_seq })),
      condition,
      report: {
        ...(await describe()),
        differing_days: this.#compared.differing.size,
        ...(failure === "" ? {} : { failure }),
      },
    });
  }

  /** Numbers that this store has given itself; what came from central is not told back. */
  async #spans(): Promise<EpochSpan[]> {
    return (await this.#options.store.epochs()).filter(({ restored }) => !restored);
  }

  /** Up to which number central holds every reading of this store. */
  #confirmed(): number {
    let confirmed_seq = 0;
    for (const { span, held_seq } of this.#courses) {
      const held = Math.min(held_seq, span.last_seq);
      // Where a span has no number yet, that is all before it: what came from central needs no confirming.
      confirmed_seq = Math.max(confirmed_seq, held);
      if (held < span.last_seq) break;
    }
    return confirmed_seq;
  }
}

/** Characters of a failure that are kept, and told to central. */
const failure_length_max = 200;
const clock_off_max_ms = 300_000;
const every_day_ms = 7 * day_ms;
