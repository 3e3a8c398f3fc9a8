import type { ReadingNumber } from "../../reading.ts";
import type { EpochOfHome } from "../epoch-of-home.ts";
import { erasedIn } from "./erasures.ts";
import { type Homes, ownHome } from "./homes.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "./work.ts";

/*
 * A reading is the same one everywhere by its epoch and the number that its gateway gave it there. A gateway has one row of numbers, divided into epochs;
 * central numbers anew, and remembers which runs of its numbers stand for which of an epoch.
 */

/** See `Store.heldEpochs`. To be read at one moment. `seen`: only of these homes; absent: of all. */
export function* epochsOf(homes: Homes, seen: readonly number[] | undefined): Work<EpochOfHome[]> {
  const known = homes.one ? yield* ownEpochs(seen) : yield* sentEpochs(seen);
  const found: EpochOfHome[] = [];
  for (const { stored, ...epoch } of known) found.push({ ...epoch, erased: yield* erasedIn(stored) });
  return found;
}

/** Tells epoch and number of the readings of a home by their numbers here; undefined where nobody knows them. To be read at one moment. */
export function* numberingOf(homes: Homes, home: number): Work<Numbering> {
  const runs = homes.one ? yield* ownRuns() : yield* sentRuns(home);
  return (own) => {
    const run = runs[runs.findLastIndex(({ first_own }) => first_own <= own)];
    if (run === undefined || run.epoch === undefined || own - run.first_own > run.to_seq - run.from_seq)
      return undefined;
    return { epoch: run.epoch, number: run.from_seq + own - run.first_own };
  };
}

/** Tells the identity of a reading by its number here. */
export type Numbering = (own: number) => ReadingNumber | undefined;

/** Numbers here from `first_own` on, which are `from_seq` to `to_seq` of an epoch; of none where central gave them back. */
interface EpochNumbers {
  readonly epoch: string | undefined;
  readonly first_own: number;
  readonly from_seq: number;
  readonly to_seq: number;
}

function* ownRuns(): Work<EpochNumbers[]> {
  const rows = yield* rowsOf(
    objects<{ epoch: string; first_seq: number; restored: number }>(
      "SELECT epoch, first_seq, restored FROM epochs ORDER BY first_seq",
    ),
  );
  return rows.map(({ epoch, first_seq, restored }, place) => ({
    epoch: restored === 1 ? undefined : epoch,
    first_own: first_seq,
    from_seq: first_seq,
    to_seq: (rows[place + 1]?.first_seq ?? Number.MAX_SAFE_INTEGER) - 1,
  }));
}

function* sentRuns(home: number): Work<EpochNumbers[]> {
  return yield* rowsOf(
    objects<EpochNumbers>(
      "SELECT epoch, first_own, from_seq, to_seq FROM batches WHERE home = $1 ORDER BY first_own",
      home,
    ),
  );
}

/** `stored`: the home as tables of the store have it. */
type Known = Omit<EpochOfHome, "erased"> & { readonly stored: number };

function* ownEpochs(seen: readonly number[] | undefined): Work<Known[]> {
  if (seen !== undefined) return [];
  const last = yield* firstOf(arrays<[number | string]>("SELECT value FROM meta WHERE name = 'last_seq'"));
  const home = (yield* ownHome()) ?? null;
  return (yield* ownRuns()).flatMap(({ epoch, from_seq, to_seq }) => {
    const last_seq = Math.min(to_seq, Number(last?.[0] ?? 0));
    return epoch === undefined || last_seq < from_seq
      ? []
      : [{ epoch, home, first_seq: from_seq, last_seq, stored: 0 }];
  });
}

function* sentEpochs(seen: readonly number[] | undefined): Work<Known[]> {
  const rows = yield* rowsOf(
    objects<Omit<Known, "stored"> & { home: number }>(
      `SELECT epoch, home, first_seq, held_seq AS last_seq FROM sources
       WHERE first_seq IS NOT NULL AND held_seq >= first_seq ORDER BY home, epoch`,
    ),
  );
  return rows
    .filter(({ home }) => seen === undefined || seen.includes(home))
    .map((row) => ({ ...row, stored: row.home }));
}
