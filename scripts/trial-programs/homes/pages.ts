import type { Answer, Caller } from "./central.ts";
import { begin_ms } from "./gateway.ts";
import { homeOfSlot, homeOfValue, type Series, seriesOfKind } from "./marks.ts";
import { type Device, type Moment, type Reading, staysOf } from "./model.ts";
import type { Random } from "./random.ts";
import {
  momentsOf,
  type Seen,
  type SeriesRecord,
  type Subject,
  seenAs,
  type Trial,
  type Window,
} from "./trial.ts";

/** Calls of readers to the pages of items: each answer has to be what the model says, of one moment in which it may have been given. */

/** A page of a series, asked by any of its parameters, perhaps again and only if it has changed. */
export async function readPage(trial: Trial, random: Random): Promise<void> {
  const caller = random.pick(trial.tokens.readers);
  const subject = trial.subject(random);
  const { kind } = subject;
  const series = random.pick(seriesOfKind[kind]);
  const limit = random.chance(0.1) ? 1000 : 1 + random.below(40);
  const skip = random.chance(0.5) ? 0 : random.below(random.chance(0.9) ? 60 : 2000);
  const before = random.chance(0.3) ? timeNear(trial, random) : undefined;
  const precision = random.pick(["s", "ms"] as const);
  const window = { skip, limit, before_ms: before === undefined ? Infinity : before * 1000 };
  const query = `limit=${limit}&skip=${skip}&precision=${precision}${before === undefined ? "" : `&before=${before}`}`;
  const path = `/v0.9/items/${kind}/${subject.itemname}/${series.path}?${query}`;
  const asked = { subject, series, caller, precision, ...window };
  const answer = await ask(trial, path, asked);
  const etag = answer.headers.get("etag");
  if (etag === null || !random.chance(0.2)) return;
  const opened = trial.open();
  const again = await trial.central.call(path, caller, { headers: { "if-none-match": etag } });
  // Nothing has changed: so the answer before has to be right still.
  checkPage(trial, again.status === 304 ? answer : again, asked, trial.close(opened));
}

interface Asked {
  readonly subject: Subject;
  readonly series: Series;
  readonly caller: Caller;
  readonly precision: "s" | "ms";
  readonly skip: number;
  readonly limit: number;
  readonly before_ms: number;
}

async function ask(trial: Trial, path: string, asked: Asked): Promise<Answer> {
  const opened = trial.open();
  const answer = await trial.central.call(path, asked.caller);
  checkPage(trial, answer, asked, trial.close(opened));
  return answer;
}

function checkPage(trial: Trial, answer: Answer, asked: Asked, window: Window): void {
  const { subject, caller, series, skip, limit } = asked;
  if (!trial.expect(answer, caller, 200, 404)) return;
  const records = answer.status === 404 ? [] : answer.json<SeriesRecord[]>();
  const shown = trial.readingsIn(records, series);
  const allowed: Seen[] = [];
  let last: readonly Reading[] = [];
  for (const inventory of window.inventories) {
    const seen = seenAs(subject, inventory, caller);
    if (seen === undefined || (answer.status === 404 && seen.homes.size === 0)) {
      if (answer.status === 404) return;
      continue;
    }
    allowed.push(seen);
    const moments = momentsOf(window, inventory, seen.homes);
    if (moments === undefined) {
      trial.uncertain += 1;
      return;
    }
    for (const moment of moments) {
      last = [...expected(trial, asked, moment).drop(skip).take(limit)];
      if (answer.status === 200 && same(shown, last) && stampsMatch(records, last, asked)) return;
    }
  }
  tell(trial, answer, asked, { shown, last, allowed });
}

/** The whole page of an item at a moment, newest first. */
export function expected(
  trial: Trial,
  { subject, series, caller, before_ms }: Pick<Asked, "subject" | "series" | "caller" | "before_ms">,
  moment: Moment,
): Generator<Reading, void> {
  const seen = seenAs(subject, moment.inventory, caller);
  if (seen === undefined) return nobodys();
  return seen.item === undefined
    ? trial.model.provisional(seen.device, subject.provisional?.home ?? 0, series.name, moment, { before_ms })
    : trial.model.page(seen.item, series.name, moment, { homes: caller.homes, before_ms });
}

function* nobodys(): Generator<Reading, void> {}

/** Counts the fault, by what is wrong: readings of homes that the item did not live in, or readings that are not there. */
function tell(
  trial: Trial,
  answer: Answer,
  { caller }: Pick<Asked, "caller">,
  {
    shown,
    last,
    allowed,
  }: { shown: readonly (Reading | number)[]; last: readonly Reading[]; allowed: readonly Seen[] },
): void {
  const homes = new Set(allowed.flatMap((seen) => [...seen.homes]));
  const foreign = shown.filter((reading) => typeof reading === "number" || !homes.has(reading.home));
  const held = new Set(shown);
  const missing = last.filter((reading) => !held.has(reading));
  const wanted = new Set<Reading | number>(last);
  const added = shown.filter((reading) => !wanted.has(reading));
  const of_homes = livedIn(allowed);
  if (foreign.length > 0)
    trial.fault(
      "foreign",
      answer,
      caller,
      `${foreign.length} readings, such as ${readingText(foreign[0])}, ${of_homes}`,
    );
  else if (missing.length > 0)
    trial.fault(
      "lost",
      answer,
      caller,
      `${missing.length} of ${last.length}, such as ${readingText(missing[0])}, ${of_homes}; ${added.length} others, such as ${readingText(added[0])}`,
    );
  else
    trial.fault(
      "wrong",
      answer,
      caller,
      `${answer.status}, ${shown.length} readings for ${last.length}, ${of_homes}; such as ${readingText(added[0])}`,
    );
}

/** In words: the homes of a page, and what the programme says of the item. */
export function livedIn(seen: readonly Seen[]): string {
  const homes = new Set(seen.flatMap((one) => [...one.homes]));
  const records = seen.map(({ item }) => item && [item.currenthomeid, item.currenthomestart, item.rows]);
  return `of home ${[...homes].join(", ") || "nobody"} by ${[...new Set(records.map((of) => JSON.stringify(of)))].join(" or ")}`;
}

export function readingText(reading: Reading | number | undefined): string {
  if (reading === undefined) return "none";
  if (typeof reading === "number") return `${reading} of home ${homeOfValue(reading)}, never sent`;
  return `${reading.value} of home ${reading.home} at ${reading.stamp_ms}`;
}

function same(shown: readonly unknown[], wanted: readonly unknown[]): boolean {
  return shown.length === wanted.length && shown.every((reading, place) => reading === wanted[place]);
}

function stampsMatch(
  records: readonly SeriesRecord[],
  readings: readonly Reading[],
  { precision }: Pick<Asked, "precision">,
): boolean {
  const stampOf = ({ stamp_ms }: Reading) => (precision === "ms" ? stamp_ms : Math.floor(stamp_ms / 1000));
  return readings.every((reading, place) => stampOf(reading) === records[place]?.stamp);
}

/** Coverage of an item: what its intervals tell is what a home said of it that it lived in then. */
export async function readCoverage(trial: Trial, random: Random): Promise<void> {
  const caller = random.pick(trial.tokens.readers);
  const subject = trial.subject(random);
  const path = `/v0.9/items/${subject.kind}/${subject.itemname}/coverage?limit=200`;
  const opened = trial.open();
  const answer = await trial.central.call(path, caller);
  if (answer.status === 404 || !trial.expect(answer, caller, 200)) return;
  const { inventories } = trial.close(opened);
  for (const { start, lost } of answer.json<{ start: number; lost: number | null }[]>()) {
    const home = lost === null ? homeOfSlot(start * 1000) : homeOfValue(lost);
    const lived = inventories.some((inventory) => {
      const seen = seenAs(subject, inventory, caller);
      if (seen?.item === undefined) return seen?.homes.has(home ?? 0);
      const stays = staysOf(seen.item).filter(
        (stay) => stay.from_ms <= start * 1000 && stay.before_ms > start * 1000,
      );
      return stays.some((stay) => stay.home === home && seen.homes.has(stay.home));
    });
    if (home === undefined || lived) continue;
    trial.fault(
      "foreign",
      answer,
      caller,
      `an interval from ${start} on, which home ${home} has told, ${lost} lost`,
    );
    return;
  }
}

/** The second of a reading of somebody, or the next one. */
export function timeNear(trial: Trial, random: Random): number {
  return secondOf(random, trial.model.sentBy(random.pick(trial.programme.homes)));
}

/** The same of a device in a home, or of the home where it has not been heard there. */
export function timeHeard(trial: Trial, random: Random, home: number, { address }: Device): number {
  const sent = trial.model.sentBy(home);
  const heard = sent.filter((reading) => reading.address === address);
  return secondOf(random, heard.length === 0 ? sent : heard);
}

function secondOf(random: Random, readings: readonly Reading[]): number {
  const { stamp_ms = begin_ms } = readings[random.below(readings.length)] ?? {};
  return Math.floor(stamp_ms / 1000) + random.below(2);
}
