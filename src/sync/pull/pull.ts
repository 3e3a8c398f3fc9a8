import { type Batch, numbersMissing } from "../../batch.ts";
import type { Clock } from "../../clock.ts";
import { type Condition, condition_notes_max } from "../../condition.ts";
import type { ListedGateway } from "../../config/gateway-list.ts";
import { OperatorError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { CentralStore, GatewayRecord, HeldEpoch } from "../../store/central-store.ts";
import { Comparison } from "../compare/compare.ts";
import { addDays, day_ms, daysAfter } from "../compare/days.ts";
import { FilesFault, filesInBody, type HomeFiles, keepFiles } from "../kept-files.ts";
import { TryAgainLater } from "../line/outcome.ts";
import type { Peer } from "../line/peer.ts";
import { nothingNoted } from "../nothing-noted.ts";
import { BackupsBody, SourceReport } from "../protocol.ts";
import type { Receptions } from "../receiver/receptions.ts";
import { type Course, type Intake, readBatch, senderOf, takeBatches } from "./batches.ts";
import { failureReport, type PullState, stateIn } from "./pull-state.ts";
import { PulledSides } from "./sides.ts";

export interface PullOptions {
  readonly gateway: ListedGateway;
  readonly store: CentralStore;
  /** Makes ready to ask the gateway; what it throws ends the turn. */
  readonly connect: (gateway: ListedGateway, stop: AbortSignal) => Peer;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Receptions;
  /** What central knew of the gateway of this home when it started. */
  readonly known?: GatewayRecord;
}

/**
 * Brings central up to what one gateway has, turn by turn: takes its readings from where central stands, then what is known besides, compares the
 * days that this touched, once a week all of them, and keeps its files. What an upload would do, asked from the other end; both may be at it
 * at once, because central's watermark decides what is new.
 */
export class Pull {
  readonly gateway: ListedGateway;
  readonly #options: PullOptions;
  #state: PullState;
  #held_note = 0;
  /** Up to which number the days are verified, or in `#days`. */
  #seen_seq: number;
  /** By epoch: days that were touched and not compared yet. */
  readonly #days = new Map<string, Set<number>>();
  #everyDay = false;

  constructor(options: PullOptions) {
    this.gateway = options.gateway;
    this.#options = options;
    this.#state = stateIn(options.known);
    this.#seen_seq = this.#state.verified_seq;
  }

  /**
   * Takes as much as goes into a turn. Resolves with whether more is waiting.
   *
   * @throws TryAgainLater where the next turn may go better by itself; OperatorError where somebody has to do something
   */
  async turn(stop: AbortSignal): Promise<{ readonly more: boolean }> {
    const { store, clock, counts, connect } = this.#options;
    const { home } = this.gateway;
    const intake: Intake = { peer: connect(this.gateway, stop), store, home, clock, counts };
    const filesDue = clock.now().unix_ms - this.#state.filed_ms >= day_ms;
    // As they are before anything is read: then central has what the cursors among them have passed.
    const files = filesDue ? await readFiles(intake) : undefined;
    const { source, courses } = await this.#begin(intake);
    if (!(await this.#takeReadings(intake, courses))) {
      await this.#note(intake, source, nothingNoted);
      return { more: true };
    }
    await this.#takeNotes(intake, source);
    await this.#compare(intake, { source, courses });
    if (files !== undefined) await this.#keepFiles(intake, files);
    await this.#note(intake, source, nothingNoted);
    return { more: false };
  }

  /** Has `lintel fleet` say why the gateway of this home cannot be read; of a home that was never heard there is nothing to say it of. */
  async noteFailure(failure: string): Promise<void> {
    const { store } = this.#options;
    const known = (await store.gateways()).find(({ home }) => home === this.gateway.home);
    if (known !== undefined) await store.noteReport(...failureReport(known, failure));
  }

  /** Hears the gateway, and holds what it says against what central holds. */
  async #begin(intake: Intake): Promise<{ source: SourceReport; courses: Course[] }> {
    const { peer, store, home } = intake;
    const source = await readReport(intake, this.#held_note);
    if (source.home !== undefined && source.home !== home)
      throw new OperatorError(
        `${peer.title} is in home ${source.home}, and is listed for home ${home}`,
        `correct home or url (${this.gateway.place}), or [home] id at the gateway`,
      );
    const held = await store.held(source.epochs.map(({ epoch }) => epoch));
    const foreign = held.find((one) => one.home !== undefined && one.home !== home);
    if (foreign !== undefined)
      throw new OperatorError(
        `${peer.title} has readings that central holds as home ${foreign.home}'s`,
        `correct home or url (${this.gateway.place}); a box that comes from another home starts with a data directory of its own`,
      );
    const courses = source.epochs.map((span, index) => ({
      ...span,
      held_seq: Math.max(held[index]?.held_seq ?? 0, span.first_seq - 1),
    }));
    await this.#requireNewest(intake, source, held);
    const last = held.at(-1);
    this.#held_note = last?.held_note ?? 0;
    this.#meet(last?.epoch ?? "", courses);
    return { source, courses };
  }

  /** A box on an older copy of its card has less than central holds; one that also uploads may have numbered more meanwhile. */
  async #requireNewest(intake: Intake, source: SourceReport, held: readonly HeldEpoch[]): Promise<void> {
    const last = source.epochs.at(-1);
    const held_seq = held.at(-1)?.held_seq ?? 0;
    if (last === undefined || held_seq <= last.last_seq) return;
    const again = await readReport(intake, this.#held_note);
    const now = again.epochs.find(({ epoch }) => epoch === last.epoch);
    if (now !== undefined && held_seq <= now.last_seq) return;
    throw new OperatorError(
      `central holds readings up to ${held_seq} of ${intake.peer.title}, which itself has them up to ${last.last_seq}: it runs on an older copy of its data`,
      "at the gateway stop lintel, set the data directory aside and run lintel restore, which brings the readings back and goes on with numbers of its own",
    );
  }

  /** Whether what is remembered of earlier turns is of this gateway, and what is to be compared at the end. */
  #meet(epoch: string, courses: readonly Course[]): void {
    if (this.#state.epoch !== epoch) {
      this.#state = { ...stateIn(undefined), epoch };
      this.#seen_seq = 0;
      this.#days.clear();
    }
    const { verified_all_ms, verified_seq } = this.#state;
    const age_ms = this.#options.clock.now().unix_ms - verified_all_ms;
    this.#everyDay ||= age_ms >= every_day_ms || age_ms < 0 || confirmedBy(courses) < verified_seq;
  }

  /** Takes what central does not hold. Answers whether that is all of it. */
  async #takeReadings(intake: Intake, courses: readonly Course[]): Promise<boolean> {
    let batches = 0;
    let lost = 0;
    try {
      for (const course of courses) {
        await this.#addUncompared(intake, course);
        batches += await takeBatches(course, intake, {
          batches_max: turn_batches_max - batches,
          onBatch: (batch) => {
            lost += numbersMissing(batch);
            this.#touch(course, batch);
          },
        });
        if (batches >= turn_batches_max) return false;
      }
      return true;
    } finally {
      if (lost > 0)
        this.#options.log.warn(
          `${intake.peer.title} has lost ${lost} readings that central does not hold: they are counted as lost`,
        );
    }
  }

  /** Days of what central holds, by an upload or an earlier run of its own, that was never compared. */
  async #addUncompared({ peer }: Intake, { epoch, first_seq, last_seq, held_seq }: Course): Promise<void> {
    const until_seq = Math.min(held_seq, last_seq);
    if (this.#everyDay || this.#seen_seq >= until_seq) return;
    const days = await daysAfter({
      after_seq: Math.max(first_seq - 1, this.#seen_seq),
      until_seq,
      batchAfter: async (after_seq) => {
        peer.checkTime();
        return (await readBatch(peer, epoch, after_seq))?.batch;
      },
    });
    this.#days.set(epoch, (this.#days.get(epoch) ?? new Set()).union(days));
    this.#seen_seq = until_seq;
  }

  #touch({ epoch, held_seq }: Course, batch: Batch): void {
    this.#seen_seq = Math.max(this.#seen_seq, held_seq);
    const days = this.#days.get(epoch) ?? new Set();
    addDays(days, batch);
    this.#days.set(epoch, days);
    if (days.size <= days_max) return;
    days.clear();
    this.#everyDay = true;
  }

  /** Listeners, states and interruptions, from the note on that central holds. */
  async #takeNotes(intake: Intake, first: SourceReport): Promise<void> {
    const epoch = first.epochs.at(-1)?.epoch ?? "";
    let source = first;
    for (let reports = 1; ; reports += 1) {
      const { condition } = source;
      await this.#note(intake, source, condition);
      const held_note = (await intake.store.held([epoch])).at(0)?.held_note ?? 0;
      const { outages, silences, gaps, to_note } = condition;
      const all = outages.length + silences.length + gaps.length < condition_notes_max;
      const moved = held_note > this.#held_note;
      this.#held_note = held_note;
      if (all && held_note >= to_note) return;
      if (reports >= reports_max || (!moved && reports > 1))
        throw new TryAgainLater(
          `central stays at note ${held_note} of the interruptions of ${intake.peer.title}`,
          "nothing is lost, and the next pull tries again; look at the log of the gateway",
        );
      source = await readReport(intake, held_note);
    }
  }

  /** Compares the days that were touched, or all, and mends what differs. */
  async #compare(
    intake: Intake,
    { source, courses }: { readonly source: SourceReport; readonly courses: readonly Course[] },
  ): Promise<void> {
    const { clock, log } = this.#options;
    const everyDay = this.#everyDay;
    const first_day = Math.ceil((source.pruned_before_ms ?? 0) / day_ms);
    const sides = new PulledSides(intake);
    const comparison = new Comparison(sides);
    for (const { epoch, first_seq, last_seq, held_seq } of courses) {
      const through_seq = Math.min(held_seq, last_seq);
      if (through_seq < first_seq) continue;
      const days = [...(this.#days.get(epoch) ?? [])].toSorted((one, other) => one - other);
      for (const day of days.filter((one) => one < first_day))
        await comparison.putBeside(epoch, through_seq, daySpan(day));
      if (!everyDay)
        for (const day of days.filter((one) => one >= first_day))
          await comparison.compare(epoch, through_seq, daySpan(day));
      else
        for (let day: number | undefined = first_day; day !== undefined; ) {
          await comparison.compare(epoch, through_seq, daySpan(day));
          day = sides.next_ms === undefined ? undefined : sides.next_ms / day_ms;
        }
    }
    const { differing, mended, kept, unmended } = comparison.result;
    if (differing.size > 0)
      log.warn(
        `${differing.size} days of ${intake.peer.title} differed: ${mended} readings were taken again${kept === 0 ? "" : `, and central keeps ${kept} that the gateway has not`}`,
      );
    const differing_days = everyDay ? differing.size : Math.max(this.#state.differing_days, differing.size);
    this.#state = { ...this.#state, differing_days };
    if (unmended.size > 0) {
      log.warn(
        `${unmended.size} days of ${intake.peer.title} still differ: they are compared again next time`,
      );
      return;
    }
    this.#state = {
      ...this.#state,
      verified_seq: confirmedBy(courses),
      ...(everyDay ? { verified_all_ms: clock.now().unix_ms } : {}),
    };
    this.#seen_seq = Math.max(this.#seen_seq, this.#state.verified_seq);
    this.#days.clear();
    this.#everyDay = false;
  }

  async #keepFiles({ peer, store, home, clock }: Intake, files: HomeFiles): Promise<void> {
    try {
      await keepFiles(store, home, files);
    } catch (thrown) {
      throw thrown instanceof FilesFault ? peer.strange(thrown.message) : thrown;
    }
    this.#state = { ...this.#state, filed_ms: clock.now().unix_ms };
  }

  async #note(intake: Intake, { epochs, report }: SourceReport, condition: Condition): Promise<void> {
    const { differing_days } = this.#state;
    await intake.store.noteReport(
      {
        epoch: epochs.at(-1)?.epoch ?? "",
        condition,
        report: { ...report, differing_days, pulled: this.#state },
      },
      senderOf(intake),
    );
  }
}

function readReport({ peer }: Intake, after_note: number): Promise<SourceReport> {
  const query = { after_note };
  return peer.askJson(
    { method: "GET", path: "/report", query, answer_bytes_max: report_bytes_max },
    SourceReport,
  );
}

async function readFiles({ peer }: Intake): Promise<HomeFiles> {
  const request = { method: "GET", path: "/backups", answer_bytes_max: files_bytes_max } as const;
  const body = await peer.askJson(request, BackupsBody);
  try {
    return filesInBody(body);
  } catch (thrown) {
    throw thrown instanceof FilesFault ? peer.strange(thrown.message) : thrown;
  }
}

/** Up to which number central holds every reading of the gateway. */
function confirmedBy(courses: readonly Course[]): number {
  let confirmed_seq = 0;
  for (const { held_seq, last_seq } of courses) {
    const held = Math.min(held_seq, last_seq);
    confirmed_seq = Math.max(confirmed_seq, held);
    if (held < last_seq) break;
  }
  return confirmed_seq;
}

function daySpan(day: number): { readonly from_ms: number; readonly before_ms: number } {
  return { from_ms: day * day_ms, before_ms: (day + 1) * day_ms };
}

/** Of thousands of readings each: then others have their turn. */
const turn_batches_max = 32;
/** That are remembered; more than these are all. */
const days_max = 4_000;
/** Ten million interruptions. */
const reports_max = 1_000;
const every_day_ms = 7 * day_ms;
const report_bytes_max = 16 * 1024 * 1024;
const files_bytes_max = 32 * 1024 * 1024;
