import type { SeriesName } from "../../domain/series.ts";
import { objects, put, rowsOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { putWhereKept } from "./compressed-blocks.ts";
import {
  type AddedReadings,
  addTo,
  bounds,
  countedIn,
  countSpans,
  lateColumns,
  nameOf,
  noneOf,
  type SeriesKey,
} from "./counts.ts";
import { keysFrom, type ReadingKey } from "./readings.ts";
import type { SeriesRows } from "./series-rows.ts";
import type { StreamSeries } from "./streams.ts";
import { widths_ms } from "./time-spans.ts";

/**
 * Readings of a home that a transaction adds, for the counts that make `skip` cheap and the list of late readings: see ../README.md. Call `add` for each
 * reading that is put into a table, those of a stream in order of number, and `settle` once before the commit. The home is held. Where
 * readings may be sealed, `begin` comes first.
 */
export class Additions {
  readonly #homes: Homes;
  readonly #home: number;
  readonly #runs = new Map<string, AddedReadings>();
  #held: ReadonlyMap<string, Totals> | undefined;

  /** `home`: as the tables of readings have it. */
  constructor(homes: Homes, home: number) {
    this.#homes = homes;
    this.#home = home;
  }

  /** Reads what is known of the streams that readings are to be put of. */
  *begin(streams: readonly number[]): Work<void> {
    this.#held = yield* totalsOf(streams, this.#home);
  }

  add(series: SeriesName, stream: number, stamp_ms: number, number: number): void {
    const { stamps_ms, numbers } = this.#run(series, stream);
    stamps_ms.push(stamp_ms);
    numbers.push(number);
  }

  addAll({ series, order, stream, own, columns }: SeriesRows): void {
    let run: AddedReadings | undefined;
    for (const index of order) {
      const of = stream[index] as number;
      if (run?.stream !== of) run = this.#run(series, of);
      run.stamps_ms.push(columns.stamp_ms[index] as number);
      run.numbers.push(own[index] as number);
    }
  }

  /** Puts readings where their runs have them, and adds them. */
  *put(rows: SeriesRows): Work<void> {
    const { series } = rows;
    const placeOf = (stream: number) => {
      const totals = this.#held?.get(nameOf({ series, stream }));
      return totals === undefined ? undefined : this.#placeOf(totals);
    };
    yield* putWhereKept(rows, placeOf, () => this.addAll(rows));
  }

  /** Forgets what was added since the last `settle`. */
  forget(): void {
    this.#runs.clear();
    this.#held = undefined;
  }

  /** Writes the totals and counts that have changed, and the late readings. Rows are in their tables. */
  *settle(): Work<void> {
    if (this.#runs.size === 0) return;
    const runs = [...this.#runs.values()];
    const home = this.#home;
    const held = this.#held ?? (yield* totalsOf([...new Set(runs.map(({ stream }) => stream))], home));
    this.forget();
    const late = runs.flatMap((run) => lateOf(run, held.get(nameOf(run))?.newest_stamp ?? 0, home));
    const taken = runs.map((run) => take(run, held.get(nameOf(run)) ?? totalsOfNone(run, home)));
    yield* this.#emptyTails(taken);
    const grown = yield* countedIn(
      taken.map(({ counted }) => counted),
      home,
    );
    yield* put({
      put: "totals",
      columns: totalsColumns,
      rows: taken.map(({ totals }) => totalsNames.map((name) => totals[name])),
      conflict: `ON CONFLICT (stream, series, home) DO UPDATE SET ${totalsChanges}`,
    });
    yield* put({ put: "late", columns: lateColumns, rows: late, conflict: "ON CONFLICT DO NOTHING" });
    const totals = new Map(taken.map((one) => [nameOf(one.totals), one.totals]));
    for (const span of grown) {
      const { start_ms, level } = span;
      const of = totals.get(nameOf(span)) as Totals;
      const before_ms = Math.min(start_ms + (widths_ms[level] as number), of.tail_from);
      yield* countSpans(this.#placeOf(of), { from_ms: start_ms, before_ms }, level + 1);
    }
  }

  /** Has tails that have grown too long counted in spans, but for the newest readings: one that comes a little late is still one of the tail. */
  *#emptyTails(taken: readonly Taken[]): Work<void> {
    const long = taken.filter(({ totals }) => totals.tail > tail_max);
    const held = yield* keysFrom(
      long.map(({ totals, before_number }) => {
        return { run: this.#placeOf(totals), from_ms: totals.tail_from, last: before_number };
      }),
    );
    for (const [place, { totals, counted, tail }] of long.entries()) {
      const added = tail.stamps_ms.map((stamp_ms, index): ReadingKey => {
        return [stamp_ms, tail.numbers[index] as number];
      });
      const all = [...(held[place] ?? []), ...added];
      const newest = all.map(([stamp_ms]) => stamp_ms).sort((one, other) => other - one);
      const cut = newest[tail_least - 1] as number;
      // Where more than a tail may have are of one millisecond, none of them stays.
      const tail_from = newest[tail_max] === cut ? totals.newest_stamp + 1 : cut;
      const kept = noneOf(totals);
      for (const [stamp_ms, number] of all) addTo(stamp_ms < tail_from ? counted : kept, stamp_ms, number);
      const [tail_min = 0] = bounds(kept.numbers);
      Object.assign(totals, { tail: kept.numbers.length, tail_from, tail_min });
    }
  }

  #placeOf({ series, stream, home, sealed_before }: Totals): StreamSeries {
    return { homes: this.#homes, series, stream, home, sealed_before };
  }

  #run(series: SeriesName, stream: number): AddedReadings {
    const name = nameOf({ series, stream });
    let run = this.#runs.get(name);
    if (run === undefined) {
      run = noneOf({ series, stream });
      this.#runs.set(name, run);
    }
    return run;
  }
}

interface Totals extends SeriesKey {
  readonly home: number;
  total: number;
  newest_number: number;
  newest_stamp: number;
  /** Readings from the stamp `tail_from` on, which no span counts, and the lowest of their numbers. */
  tail: number;
  tail_from: number;
  tail_min: number;
  /** Written by who seals, and never here. */
  readonly sealed_before: number;
}

/** Totals with what came, of which some lies below the tail. */
interface Taken {
  readonly totals: Totals;
  readonly tail: AddedReadings;
  readonly counted: AddedReadings;
  /** The newest number before. */
  readonly before_number: number;
}

function* totalsOf(streams: readonly number[], home: number): Work<Map<string, Totals>> {
  const text = `SELECT ${totalsNames.join(", ")}, sealed_before FROM totals
    WHERE stream = ANY ($1::bigint[]) AND home = $2`;
  const rows = yield* rowsOf(objects<Totals>(text, streams, home));
  return new Map(rows.map((row) => [nameOf(row), row]));
}

/** Those that came after one with a higher stamp; `newest_ms`: of those before. */
function lateOf(
  { stream, series, stamps_ms, numbers }: AddedReadings,
  newest_ms: number,
  home: number,
): LateRow[] {
  const late: LateRow[] = [];
  let newest = newest_ms;
  for (const [index, stamp_ms] of stamps_ms.entries()) {
    if (stamp_ms >= newest) newest = stamp_ms;
    else late.push([stream, series, numbers[index] as number, home, stamp_ms]);
  }
  return late;
}

function take(run: AddedReadings, totals: Totals): Taken {
  const [tail, counted] = [noneOf(run), noneOf(run)];
  const before_number = totals.newest_number;
  for (const [index, stamp_ms] of run.stamps_ms.entries()) {
    const number = run.numbers[index] as number;
    addTo(stamp_ms < totals.tail_from ? counted : tail, stamp_ms, number);
    if (stamp_ms > totals.newest_stamp) totals.newest_stamp = stamp_ms;
    if (number > totals.newest_number) totals.newest_number = number;
  }
  totals.total += run.numbers.length;
  if (tail.numbers.length > 0) {
    totals.tail_min = totals.tail === 0 ? (tail.numbers[0] as number) : totals.tail_min;
    totals.tail += tail.numbers.length;
  }
  return { totals, tail, counted, before_number };
}

function totalsOfNone({ series, stream }: SeriesKey, home: number): Totals {
  const nothing = { total: 0, newest_number: 0, newest_stamp: 0, tail: 0, tail_from: 0, tail_min: 0 };
  return { stream, series, home, ...nothing, sealed_before: 0 };
}

const totalsColumns = {
  stream: "bigint",
  series: "text",
  home: "bigint",
  total: "bigint",
  newest_number: "bigint",
  newest_stamp: "bigint",
  tail: "bigint",
  tail_from: "bigint",
  tail_min: "bigint",
} as const;
const totalsNames = Object.keys(totalsColumns) as (keyof typeof totalsColumns)[];
const totalsChanges = totalsNames
  .slice(3)
  .map((name) => `${name} = excluded.${name}`)
  .join(", ");
type LateRow = [stream: number, series: string, seq: number, home: number, stamp_ms: number];

/** Readings in a tail: a commit of a reading is one row of totals, until there are more. */
const tail_max = 1_000;
/** Readings that a tail is cut to. */
const tail_least = 100;
