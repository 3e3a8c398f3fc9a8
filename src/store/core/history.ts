import type { SeriesName } from "../../series.ts";
import type { Batch, BatchDevice } from "../batch.ts";
import { BatchColumns, type ReadingRow } from "../batch-columns.ts";
import type { CentralStore, HistoryPosition } from "../central-store.ts";
import { type HeldSeries, heldSeries } from "./heard-devices.ts";
import type { Homes } from "./homes.ts";
import { quoted, readingColumns } from "./series-tables.ts";
import { arrays, reach, rowsOf, rowsOfAll, type Statement, type Work } from "./work.ts";

/**
 * All readings that a home has sent, old to new, for a box that is restored: see `CentralStore.history`. To be read at one moment. `epoch` is
 * the name that the readings are numbered under.
 */
export function* history(
  homes: Homes,
  epoch: string,
  { home, from_ms, after, readings_max }: Parameters<CentralStore["history"]>[0],
): Work<{ batch: Batch; position: HistoryPosition } | undefined> {
  yield* reach([home]);
  const found = yield* heldSeries(homes, home);
  const start: Key = after === undefined ? [from_ms, 0] : positionOf(after.at);
  const full = Math.ceil(readings_max / Math.max(1, found.length)) + run_rows_least;
  const runs = found.map((run) => new Run(run, { full, homes, home: homes.of(home) }));
  const rows = yield* rowsOfAll<ReadingRow[]>(...runs.map((run) => run.after(start)));
  for (const [place, run] of runs.entries()) run.take(rows[place] ?? []);
  return yield* mergedBatch(runs, { epoch, first_seq: (after?.seq ?? 0) + 1, readings_max });
}

/** The next readings of runs in order of stamp, then of number, numbered from `first_seq` on. */
function* mergedBatch(
  runs: readonly Run[],
  { epoch, first_seq, readings_max }: { epoch: string; first_seq: number; readings_max: number },
): Work<{ batch: Batch; position: HistoryPosition } | undefined> {
  const columns = new BatchColumns();
  let seq = first_seq;
  let last: Key | undefined;
  for (; seq < first_seq + readings_max; seq += 1) {
    const run = runs.reduce<Run | undefined>(
      (first, next) => (next.isBefore(first) ? next : first),
      undefined,
    );
    const row = run?.next;
    if (run === undefined || row === undefined) break;
    columns.add(run.series, run.device, seq, row);
    last = [row[1], row[2]];
    if (run.pass()) run.take(yield* rowsOf(run.after(last)));
  }
  if (last === undefined) return undefined;
  const to_seq = seq - 1;
  const numbers = { epoch, first_seq: 1, from_seq: first_seq, to_seq };
  const batch: Batch = { ...numbers, missing: [], ...columns.columns() };
  return { batch, position: { seq: to_seq, at: last.join(" ") } };
}

/** The readings of one series of one stream, in their order. */
class Run {
  readonly series: SeriesName;
  readonly device: BatchDevice;
  readonly #stream: number;
  readonly #full: number;
  readonly #homes: Homes;
  readonly #home: number;
  #rows: readonly ReadingRow[] = [];
  #at = 0;

  /** `full`: readings that are read at once. */
  constructor(
    { series, stream, device }: HeldSeries,
    { full, homes, home }: { full: number; homes: Homes; home: number },
  ) {
    this.series = series;
    this.device = device;
    this.#stream = stream;
    this.#full = full;
    this.#homes = homes;
    this.#home = home;
  }

  /** The next readings after one. */
  after([stamp_ms, own]: Key): Statement<ReadingRow> {
    return arrays(
      `SELECT ${quoted(readingColumns(this.series))} FROM ${this.series}
       WHERE stream = $1${this.#homes.is("$2")} AND stamp >= $3 AND (stamp, seq) > ($3, $4) ORDER BY stamp, seq LIMIT $5`,
      ...[this.#stream, this.#home, stamp_ms, own, this.#full],
    );
  }

  take(rows: readonly ReadingRow[]): void {
    this.#rows = rows;
    this.#at = 0;
  }

  get next(): ReadingRow | undefined {
    return this.#rows[this.#at];
  }

  isBefore(other: Run | undefined): boolean {
    const mine = this.next;
    if (mine === undefined) return false;
    const theirs = other?.next;
    return theirs === undefined || mine[1] < theirs[1] || (mine[1] === theirs[1] && mine[2] < theirs[2]);
  }

  /** Goes on to the next reading; whether it, and those after it, are still to be read. */
  pass(): boolean {
    this.#at += 1;
    return this.#at === this.#rows.length && this.#rows.length === this.#full;
  }
}

type Key = readonly [stamp_ms: number, own: number];

function positionOf(at: string): Key {
  const [stamp_ms, own] = at.split(" ").map(Number);
  if (!Number.isSafeInteger(stamp_ms) || !Number.isSafeInteger(own)) {
    throw new RangeError(`${at} is no position in a history`);
  }
  return [stamp_ms as number, own as number];
}

/** Readings of a run that are read at once, besides its share of the batch. */
const run_rows_least = 256;
