import type { Batch, BatchDevice } from "../batch.ts";
import { BatchColumns } from "../batch-columns.ts";
import type { CentralStore, HistoryPosition } from "../central-store.ts";
import type { StreamReading } from "../sealed-block.ts";
import { type HeldSeries, heldSeries } from "./heard-devices.ts";
import type { Homes } from "./homes.ts";
import { type ReadingKey, readingsAfter, rowsAfter } from "./readings.ts";
import type { StreamSeries } from "./run.ts";
import { reach, rowsOfAll, type Work } from "./work.ts";

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
  const start: ReadingKey = after === undefined ? [from_ms, 0] : positionOf(after.at);
  const full = Math.ceil(readings_max / Math.max(1, found.length)) + run_rows_least;
  const runs = found.map((run) => new HistoryStream(run, { full, homes, home: homes.of(home) }));
  // What is in rows alone is asked for at once.
  const unsealed = runs.filter(({ place }) => place.sealed_before <= start[0]);
  const rows = yield* rowsOfAll<StreamReading[]>(
    ...unsealed.map(({ place }) => rowsAfter(place, nextAfter(start, full))),
  );
  for (const [index, run] of unsealed.entries()) run.take(rows[index] ?? []);
  for (const run of runs) if (!unsealed.includes(run)) yield* run.read(start);
  return yield* mergedBatch(runs, { epoch, first_seq: (after?.seq ?? 0) + 1, readings_max });
}

/** The next readings of runs in order of stamp, then of number, numbered from `first_seq` on. */
function* mergedBatch(
  runs: readonly HistoryStream[],
  { epoch, first_seq, readings_max }: { epoch: string; first_seq: number; readings_max: number },
): Work<{ batch: Batch; position: HistoryPosition } | undefined> {
  const columns = new BatchColumns();
  let seq = first_seq;
  let last: ReadingKey | undefined;
  for (; seq < first_seq + readings_max; seq += 1) {
    const run = runs.reduce<HistoryStream | undefined>(
      (first, next) => (next.isBefore(first) ? next : first),
      undefined,
    );
    const row = run?.next;
    if (run === undefined || row === undefined) break;
    columns.add(run.place.series, run.device, seq, [run.place.stream, ...row]);
    last = [row[0], row[1]];
    if (run.pass()) yield* run.read(last);
  }
  if (last === undefined) return undefined;
  const to_seq = seq - 1;
  const numbers = { epoch, first_seq: 1, from_seq: first_seq, to_seq };
  const batch: Batch = { ...numbers, missing: [], ...columns.columns() };
  return { batch, position: { seq: to_seq, at: last.join(" ") } };
}

/** The readings of one series of one stream, in their order. */
class HistoryStream {
  readonly place: StreamSeries;
  readonly device: BatchDevice;
  readonly #full: number;
  #rows: readonly StreamReading[] = [];
  #at = 0;

  /** `full`: readings that are read at once. */
  constructor(
    { device, ...run }: HeldSeries,
    { full, homes, home }: { full: number; homes: Homes; home: number },
  ) {
    this.place = { ...run, homes, home };
    this.device = device;
    this.#full = full;
  }

  /** Reads the next readings after one. */
  *read(after: ReadingKey): Work<void> {
    this.take(yield* readingsAfter(this.place, nextAfter(after, this.#full)));
  }

  take(rows: readonly StreamReading[]): void {
    this.#rows = rows;
    this.#at = 0;
  }

  get next(): StreamReading | undefined {
    return this.#rows[this.#at];
  }

  isBefore(other: HistoryStream | undefined): boolean {
    const mine = this.next;
    if (mine === undefined) return false;
    const theirs = other?.next;
    return theirs === undefined || mine[0] < theirs[0] || (mine[0] === theirs[0] && mine[1] < theirs[1]);
  }

  /** Goes on to the next reading; whether it, and those after it, are still to be read. */
  pass(): boolean {
    this.#at += 1;
    return this.#at === this.#rows.length && this.#rows.length === this.#full;
  }
}

function nextAfter(after: ReadingKey, limit: number) {
  return { after, before_ms: Number.MAX_SAFE_INTEGER, limit };
}

function positionOf(at: string): ReadingKey {
  const [stamp_ms, own] = at.split(" ").map(Number);
  if (!Number.isSafeInteger(stamp_ms) || !Number.isSafeInteger(own)) {
    throw new RangeError(`${at} is no position in a history`);
  }
  return [stamp_ms as number, own as number];
}

/** Readings of a run that are read at once, besides its share of the batch. */
const run_rows_least = 256;
