import type { Answer, Caller } from "./central.ts";
import { type Series, seriesOfKind } from "./marks.ts";
import { type Moment, type Reading, type Stay, staysOf } from "./model.ts";
import { expected, livedIn, readingText } from "./pages.ts";
import type { Random } from "./random.ts";
import { type Subject, seenAs, type Trial, type Window } from "./trial.ts";

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
      `${added.length} readings, such as ${readingText(added[0])}, ${of_homes}`,
    );
    return;
  }
  const held = new Set(shown);
  if (held.size < shown.length) {
    const repeated = shown.find((reading, place) => shown.indexOf(reading) < place);
    trial.fault("wrong", path, caller, `${readingText(repeated)} is repeated`);
  }
  // Where the item has moved meanwhile, each part may be of another moment.
  if (changed) return;
  const inventory = window.inventories[0] as Moment["inventory"];
  const must = [...expected(trial, asked, { uploads: window.from, inventory })];
  const missing = must.filter((reading) => !held.has(reading));
  const stays = seen[0]?.item === undefined ? [] : staysOf(seen[0].item);
  const misplaced = outOfOrder(shown as Reading[], inArrival ? stays : undefined);
  if (missing.length > 0)
    trial.fault(
      "lost",
      path,
      caller,
      `${missing.length} of ${must.length}, such as ${readingText(missing[0])}, ${of_homes}`,
    );
  else if (misplaced !== undefined)
    trial.fault("wrong", path, caller, `${readingText(misplaced)} is out of order`);
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

const pages_max = 2_000;
