import { type Clock, clockQuality, repeat } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { day_ms, hour_ms } from "../base/time.ts";
import type { RetentionSettings } from "../config/retention-settings.ts";
import type { CentralStore } from "../store/central/central-store.ts";
import { restrictedHomesIn } from "../store/pause.ts";
import { newJournalId } from "../store/restriction.ts";
import type { EnrollmentEnd, PlannedRetention, RetentionNotice } from "../store/retention.ts";

type RetentionStore = Pick<
  CentralStore,
  | ("enrollmentEnds" | "retentionNotices" | "setRetentionNotices" | "pauses")
  | ("restrict" | "erase" | "noteInJournal")
>;

/**
 * The data that will be restricted or erased, the first first. Homes are restricted; people are erased too, each with what was recorded in his own time alone, so that nothing waits for
 * who lives in the home after him.
 */
export async function plannedRetention(
  store: Pick<RetentionStore, "enrollmentEnds" | "pauses">,
  settings: RetentionSettings,
): Promise<PlannedRetention[]> {
  const { act } = settings;
  const ends = await store.enrollmentEnds();
  const done = await restrictedHomesIn(store);
  const wanted = ends.filter(({ home, subject }) => act === "erase" || (subject === -1 && !done.has(home)));
  return wanted
    .flatMap((end) => {
      const due_ms = dueOf(end, settings);
      return due_ms === undefined ? [] : [{ home: end.home, subject: end.subject, due_ms, act }];
    })
    .sort((one, other) => one.due_ms - other.due_ms || other.subject - one.subject);
}

/** When the data of a home or participant have been kept for long enough; undefined: nobody knows yet. */
function dueOf({ ended_ms }: EnrollmentEnd, { years, until_ms }: RetentionSettings): number | undefined {
  if (until_ms !== undefined) return until_ms;
  if (ended_ms === null || years === undefined) return undefined;
  const ended = Temporal.Instant.fromEpochMilliseconds(ended_ms).toZonedDateTimeISO("UTC");
  return ended.add({ years }).epochMilliseconds;
}

/**
 * Restricts or erases what has been kept for long enough, after it was told for some days. A day counts once central has been at work for it: so a clock that leaps to
 * another year, once or again, destroys nothing, and neither does a clock in doubt, or a file of settings that was just written.
 */
export class RetentionKeeper {
  readonly #options: {
    readonly store: RetentionStore;
    readonly settings: RetentionSettings;
    readonly clock: Clock;
    readonly log: Log;
  };
  #cancel = () => {};
  #looking: Promise<void> | undefined;
  /** When this process last counted a day of each notice, monotonic. */
  #counted_ms: ReadonlyMap<string, number> = new Map();

  constructor(options: {
    store: RetentionStore;
    settings: RetentionSettings;
    clock: Clock;
    log: Log;
  }) {
    this.#options = options;
  }

  /** Looks at once, and again every hour until it is stopped. */
  start(): void {
    const { clock, log } = this.#options;
    const look = () => {
      this.#looking = this.look().catch((thrown) =>
        log.warn(`what was kept for long enough could not be looked for: ${messageOf(thrown)}`),
      );
      return this.#looking;
    };
    this.#cancel = repeat(clock, hour_ms, look, 0);
  }

  async stop(): Promise<void> {
    this.#cancel();
    await this.#looking;
  }

  async look(): Promise<void> {
    const { store, settings, clock } = this.#options;
    const { unix_ms, quality } = clock.now();
    if (quality !== clockQuality.synchronised) return;
    const notices = await this.#tell(await plannedRetention(store, settings));
    const ripe = notices.filter(({ due_ms, days }) => due_ms <= unix_ms && days > settings.notice_days);
    for (const one of ripe.slice(0, atOnce_max)) await this.#do(one);
  }

  /** Keeps that it is told, and counts the days; answers the notices as they are then. */
  async #tell(planned: readonly PlannedRetention[]): Promise<RetentionNotice[]> {
    const { store, settings, clock } = this.#options;
    const { unix_ms, monotonic_ms } = clock.now();
    const before = await store.retentionNotices();
    const noticeOf = noticesByPlan(before);
    const counted_ms = new Map<string, number>();
    const notices = planned
      .filter(({ due_ms }) => unix_ms >= due_ms - settings.notice_days * day_ms)
      .map((one): RetentionNotice => {
        const name = nameOf(one);
        const last_ms = this.#counted_ms.get(name);
        const known = noticeOf(one);
        // A clock that was ahead, and was corrected, does not stop the count.
        const counts =
          known === undefined ||
          (Math.abs(unix_ms - known.counted_ms) >= day_ms &&
            (last_ms === undefined || monotonic_ms - last_ms >= day_ms));
        if (counts) counted_ms.set(name, monotonic_ms);
        else if (last_ms !== undefined) counted_ms.set(name, last_ms);
        return counts ? { ...one, days: (known?.days ?? 0) + 1, counted_ms: unix_ms } : known;
      });
    this.#counted_ms = counted_ms;
    if (!Bun.deepEquals(before, notices.toSorted(inKeyOrder))) await store.setRetentionNotices(notices);
    return notices;
  }

  async #do({ home, subject, due_ms, act }: RetentionNotice): Promise<void> {
    const { store, clock, log, settings } = this.#options;
    const at_ms = clock.now().unix_ms;
    const who = "retention";
    const words = `kept until ${dayText(due_ms)}${settings.years === undefined ? "" : `, ${settings.years} years after the last enrollment`}`;
    const whose = subject === -1 ? `home ${home}` : `subject ${subject}`;
    if (act === "restrict") await store.restrict({ target: { home }, at_ms, who, reason: words });
    else {
      const of = subject === -1 ? { home } : { subject };
      await store.noteInJournal({ id: newJournalId(), at_ms, act: "retention", who, ...of, words });
      await store.erase({ target: of, id: newJournalId(), at_ms });
    }
    log.info(`${whose}: ${act === "restrict" ? "restricted" : "erased"}, ${words}`);
  }
}

/** Finds the notice of what is planned: a row is of one date and one act. */
export function noticesByPlan(
  notices: readonly RetentionNotice[],
): (one: PlannedRetention) => RetentionNotice | undefined {
  const known = new Map(notices.map((notice) => [nameOf(notice), notice]));
  return (one) => known.get(nameOf(one));
}

function nameOf({ home, subject, due_ms, act }: PlannedRetention): string {
  return `${home} ${subject} ${due_ms} ${act}`;
}

function inKeyOrder(one: PlannedRetention, other: PlannedRetention): number {
  return one.home - other.home || one.subject - other.subject;
}

function dayText(at_ms: number): string {
  return new Date(at_ms).toISOString().slice(0, 10);
}

/** Homes and people in an hour: each is a transaction that uploads wait for. */
const atOnce_max = 20;
