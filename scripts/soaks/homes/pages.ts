import type { Answer, Caller } from "./central.ts";
import { begin_ms } from "./gateway.ts";
import { homeOfSlot, homeOfValue, type Series, seriesOfKind } from "./marks.ts";
import { type Moment, type Reading, type Stay, staysOf } from "./model.ts";
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
function expected(
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
      `${foreign.length} readings, such as ${text(foreign[0])}, ${of_homes}`,
    );
  else if (missing.length > 0)
    trial.fault(
      "lost",
      answer,
      caller,
      `${missing.length} of ${last.length}, such as ${text(missing[0])}, ${of_homes}; ${added.length} others, such as ${text(added[0])}`,
    );
  else
    trial.fault(
      "wrong",
      answer,
      caller,
      `${answer.status}, ${shown.length} readings for ${last.length}, ${of_homes}; such as ${text(added[0])}`,
    );
}

/** In words: the homes of a page, and what the programme says of the item. */
function livedIn(seen: readonly Seen[]): string {
  const homes = new Set(seen.flatMap((one) => [...one.homes]));
  const records = seen.map(({ item }) => item && [item.currenthomeid, item.currenthomestart, item.rows]);
  return `of home ${[...homes].join(", ") || "nobody"} by ${[...new Set(records.map((of) => JSON.stringify(of)))].join(" or ")}`;
}

function text(reading: Reading | number | undefined): string {
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

/** A walk over an item's whole page by Link. */
export async function walkLinks(trial: Trial, random: Random): Promise<void> {
  const caller = random.pick(trial.tokens.readers);
  const subject = trial.subject(random);
  const { kind } = subject;
  const series = random.pick(seriesOfKind[kind]);
  const opened = trial.open();
  let path: string | undefined =
    `/v0.9/items/${kind}/${subject.itemname}/${series.path}?limit=${random.pick([7, 60, 400])}`;
  const shown: (Reading | number)[] = [];
  for (let pages = 0; path !== undefined; pages += 1) {
    const answer: Answer = await trial.central.call(path, caller);
    if (answer.status === 404 || pages === pages_max) return;
    if (!trial.expect(answer, caller, 200)) return;
    shown.push(...trial.readingsIn(answer.json(), series));
    path = answer.next;
  }
  checkWhole(
    trial,
    { path: `${kind}/${subject.itemname}/${series.path} by Link` },
    { subject, series, caller, shown },
    trial.close(opened),
  );
}

interface Gathered {
  readonly subject: Subject;
  readonly series: Series;
  readonly caller: Caller;
  readonly shown: readonly (Reading | number)[];
  /** Of each stay in the order in which its home sent them, where it is not newest first. */
  readonly inArrival?: boolean;
}

/** Readings out of several answers are right: all that was there at the start once, in order, and nothing that is not the item's. */
export function checkWhole(trial: Trial, path: { path: string }, gathered: Gathered, window: Window): void {
  const { subject, series, caller, shown, inArrival = false } = gathered;
  const asked = { subject, series, caller, before_ms: Infinity };
  const seen = window.inventories.map((inventory) => seenAs(subject, inventory, caller));
  const homes = new Set(seen.flatMap((one) => [...(one?.homes ?? [])]));
  const changed = seen.some(
    (one) => one?.item !== seen[0]?.item || (one === undefined) !== (seen[0] === undefined),
  );
  const may = new Set<Reading | number>(
    window.inventories.flatMap((inventory) => [...expected(trial, asked, { uploads: window.to, inventory })]),
  );
  const added = shown.filter((reading) => !may.has(reading));
  const of_homes = livedIn(seen.filter((one) => one !== undefined));
  if (added.length > 0) {
    const foreign = added.some((reading) => typeof reading === "number" || !homes.has(reading.home));
    trial.fault(
      foreign ? "foreign" : "wrong",
      path,
      caller,
      `${added.length} readings, such as ${text(added[0])}, ${of_homes}`,
    );
    return;
  }
  const repeated = shown.find((reading, place) => shown.indexOf(reading) < place);
  if (repeated !== undefined) trial.fault("wrong", path, caller, `${text(repeated)} is repeated`);
  // Where the item has moved meanwhile, each part may be of another moment.
  if (changed) return;
  const inventory = window.inventories[0] as Moment["inventory"];
  const held = new Set(shown);
  const must = [...expected(trial, asked, { uploads: window.from, inventory })];
  const missing = must.filter((reading) => !held.has(reading));
  const stays = seen[0]?.item === undefined ? [] : staysOf(seen[0].item);
  const misplaced = outOfOrder(shown as Reading[], inArrival ? stays : undefined);
  if (missing.length > 0)
    trial.fault(
      "lost",
      path,
      caller,
      `${missing.length} of ${must.length}, such as ${text(missing[0])}, ${of_homes}`,
    );
  else if (misplaced !== undefined) trial.fault("wrong", path, caller, `${text(misplaced)} is out of order`);
}

/** The first reading that should have come earlier: newest first, or of each stay, where they are given, in the order in which its home sent them. */
function outOfOrder(readings: readonly Reading[], stays: readonly Stay[] | undefined): Reading | undefined {
  const last = new Map<Stay | undefined, Reading>();
  return readings.find((reading) => {
    const stay = stays?.find(
      ({ from_ms, before_ms }) => from_ms <= reading.stamp_ms && reading.stamp_ms < before_ms,
    );
    const before = last.get(stay);
    last.set(stay, reading);
    if (before === undefined) return false;
    if (stays !== undefined) return before.order > reading.order;
    return (
      before.stamp_ms < reading.stamp_ms ||
      (before.stamp_ms === reading.stamp_ms && before.order < reading.order)
    );
  });
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

/** A second in which somebody may have been sending. */
export function timeNear(trial: Trial, random: Random, home = random.pick(trial.programme.homes)): number {
  const sent = trial.model.sentBy(home);
  const { stamp_ms = begin_ms } = sent[random.below(sent.length)] ?? {};
  return Math.floor(stamp_ms / 1000) + random.below(2);
}

const pages_max = 2_000;
