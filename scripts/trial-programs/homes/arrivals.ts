import type { Caller } from "./central.ts";
import { type Series, seriesOfKind } from "./marks.ts";
import type { Item, Reading } from "./model.ts";
import type { Random } from "./random.ts";
import { type Opened, type SeriesRecord, type Subject, seenAs, type Trial } from "./trial.ts";
import { checkWhole } from "./walks.ts";

/** A reader that follows a series in order of arrival, keeps what it got, and comes back with its cursor. */
export interface Follower {
  readonly caller: Caller;
  readonly subject: Subject;
  readonly series: Series;
  readonly first: string;
  /** Where it goes on, and what it has. */
  path: string;
  shown: (Reading | number)[];
  /** How everything stood when it began. */
  began: { readonly item: Item | undefined; readonly imports: number };
  busy: boolean;
}

/** Has a follower of this trial, or a new one, fetch what is new to it. */
export async function follow(trial: Trial, followers: Follower[], random: Random): Promise<void> {
  let follower = random.chance(0.7) ? followers[random.below(followers_max)] : undefined;
  if (follower === undefined) {
    follower = newFollower(trial, random);
    if (followers.length < followers_max) followers.push(follower);
    else followers[random.below(followers_max)] = follower;
  }
  if (follower.busy) return;
  follower.busy = true;
  await fetchNew(trial, follower).finally(() => {
    (follower as Follower).busy = false;
  });
}

/** Fetches until nothing is new, and compares all that the follower has. @returns the status that ended it */
export async function fetchNew(trial: Trial, follower: Follower): Promise<void> {
  const { caller, series } = follower;
  let opened: Opened = trial.open();
  for (let pages = 0; pages < pages_max; pages += 1) {
    const answer = await trial.central.call(follower.path, caller);
    if (answer.status === 404) return;
    if (answer.status === 410 && trial.programme.begun > follower.began.imports) {
      // The programme has said something meanwhile: it begins again.
      begin(trial, follower);
      opened = trial.open();
      continue;
    }
    if (!trial.expect(answer, caller, 200)) return;
    const records = answer.json<SeriesRecord[]>();
    follower.shown.push(...trial.readingsIn(records, series));
    if (answer.next !== undefined) follower.path = answer.next;
    if (records.length > 0) continue;
    const window = trial.close(opened);
    // A cursor that went on though the item has moved since is a fault where it shows.
    const moved = window.inventories.some(
      (inventory) => seenAs(follower.subject, inventory, caller)?.item !== follower.began.item,
    );
    const path = `${follower.first}, followed${moved ? " on over a move" : ""}`;
    checkWhole(trial, { path }, { ...follower, inArrival: true }, window);
    return;
  }
}

export function followerOf(
  trial: Trial,
  of: Pick<Follower, "caller" | "subject" | "series">,
  limit: number,
): Follower {
  const { kind, itemname } = of.subject;
  const first = `/v0.9/items/${kind}/${itemname}/${of.series.path}?since=&limit=${limit}`;
  const follower = {
    ...of,
    first,
    path: first,
    shown: [],
    began: { item: undefined, imports: 0 },
    busy: false,
  };
  begin(trial, follower);
  return follower;
}

function newFollower(trial: Trial, random: Random): Follower {
  const caller = random.pick(trial.tokens.readers);
  const subject = trial.subject(random);
  const series = random.pick(seriesOfKind[subject.kind]);
  return followerOf(trial, { caller, subject, series }, random.pick([5, 50, 1000]));
}

function begin(trial: Trial, follower: Follower): void {
  follower.path = follower.first;
  follower.shown = [];
  follower.began = {
    item: seenAs(follower.subject, trial.programme.newest, follower.caller)?.item,
    imports: trial.programme.ended,
  };
}

const followers_max = 100;
const pages_max = 2_000;
