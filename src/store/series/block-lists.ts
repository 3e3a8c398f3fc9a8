import { RecentlyUsed } from "../../base/recently-used.ts";
import { firstIndexFrom } from "../batch.ts";
import { arrays, rowsOf, type Work } from "../database.ts";
import { type BlockKey, blockAt } from "./blocks.ts";
import { countRows } from "./readings.ts";
import { changesOf, ofStreamSeries, type PlacedSeries } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/** The blocks of a series of a stream, oldest first, as columns of equal length: what `skip` is found by. */
interface BlockList {
  /** Stamp and number of the first reading of each, and the stamp of its last one. */
  readonly stamps: readonly number[];
  readonly seqs: readonly number[];
  readonly last_stamps: readonly number[];
  /** How many readings the blocks before it have. */
  readonly before: readonly number[];
  /** Readings of all of them. */
  readonly total: number;
}

/** Lists of blocks that were read lately. Exact: a list of another moment is read again, as far as it has changed. */
export class BlockLists {
  readonly #lists = new RecentlyUsed<{ changes: string; list: BlockList }>({ weight_max: blocks_max });

  /** The list at the moment of the run. */
  *of(run: PlacedSeries): Work<BlockList> {
    const name = `${run.series} ${run.stream}`;
    const changes = changesOf(run);
    const held = this.#lists.get(name);
    const same = held?.changes === changes ? held.list : empty;
    if (same.total === run.in_blocks) return same;
    // What only follows makes the last block longer, and others after it.
    const list = yield* listFrom(run, same.total < run.in_blocks ? same : empty);
    this.#lists.set(name, { changes, list }, 1 + list.stamps.length);
    return list;
  }
}

/** In memory, of all lists: 3 MB. A sensor with a message a second makes 31,000 a year. */
const blocks_max = 100_000;

const empty: BlockList = { stamps: [], seqs: [], last_stamps: [], before: [], total: 0 };

/** A list that goes on after the blocks of another one, but for its last. */
function* listFrom({ stream, series, home }: PlacedSeries, known: BlockList): Work<BlockList> {
  const kept = Math.max(0, known.stamps.length - 1);
  const text = `SELECT stamp, seq, last_stamp, count FROM blocks
    WHERE ${ofStreamSeries} AND stamp >= $4 AND (stamp, seq) >= ($4, $5) ORDER BY stamp, seq`;
  const from = [known.stamps[kept] ?? 0, known.seqs[kept] ?? 0];
  const rows = yield* rowsOf(
    arrays<[stamp: number, seq: number, last_stamp: number, count: number]>(
      text,
      ...[stream, series, home, ...from],
    ),
  );
  let total = known.before[kept] ?? 0;
  const before = known.before.slice(0, kept);
  for (const [, , , count] of rows) {
    before.push(total);
    total += count;
  }
  return {
    stamps: [...known.stamps.slice(0, kept), ...rows.map(([stamp]) => stamp)],
    seqs: [...known.seqs.slice(0, kept), ...rows.map(([, seq]) => seq)],
    last_stamps: [...known.last_stamps.slice(0, kept), ...rows.map(([, , last_stamp]) => last_stamp)],
    before,
    total,
  };
}

/** How many readings of a stretch of time are in the placement of a run. */
export function* between(
  run: PlacedSeries,
  lists: BlockLists,
  from_ms: number,
  before_ms: number,
): Work<number> {
  const [from, before] = [Math.max(from_ms, run.from_ms), Math.min(before_ms, run.before_ms)];
  if (from >= before) return 0;
  const upper = yield* below(run, lists, before);
  return from === 0 || upper === 0 ? upper : upper - (yield* below(run, lists, from));
}

/** How many readings of the stream have a stamp below `before_ms`, in whatever placement. */
function* below(run: PlacedSeries, lists: BlockLists, before_ms: number): Work<number> {
  if (before_ms > run.newest_stamp) return run.total;
  if (before_ms < run.rows_from) return yield* belowInBlocks(run, lists, before_ms);
  return run.in_blocks + (yield* countRows(run, { from_ms: run.rows_from, before_ms }));
}

function* belowInBlocks(run: PlacedSeries, lists: BlockLists, before_ms: number): Work<number> {
  if (before_ms >= run.rows_from) return run.in_blocks;
  if (before_ms <= 0) return 0;
  const list = yield* lists.of(run);
  const next = firstIndexFrom(list.stamps, before_ms);
  const last = next - 1;
  if (last < 0) return 0;
  if ((list.last_stamps[last] as number) < before_ms) return list.before[next] ?? list.total;
  const { stamp_ms } = (yield* blockAt(run, keyAt(list, last))).readings();
  return (list.before[last] as number) + firstIndexFrom(stamp_ms, before_ms);
}

function keyAt({ stamps, seqs }: BlockList, place: number): BlockKey {
  return { stamp: stamps[place] as number, seq: seqs[place] as number };
}

/** The block with the reading that comes after `skip` others of a stretch of time, and that reading's index in it; or how many readings the stretch has, where they are no more. */
export function* pastInBlocks(
  run: PlacedSeries,
  lists: BlockLists,
  { from_ms, before_ms, skip }: Between & { readonly skip: number },
  step: 1 | -1,
): Work<{ first: BlockKey; index: number } | { passed: number }> {
  const lower = yield* belowInBlocks(run, lists, from_ms);
  const upper = yield* belowInBlocks(run, lists, before_ms);
  if (skip >= upper - lower) return { passed: Math.max(0, upper - lower) };
  const list = yield* lists.of(run);
  const rank = step > 0 ? lower + skip : upper - 1 - skip;
  const place = firstIndexFrom(list.before, rank + 1) - 1;
  return { first: keyAt(list, place), index: rank - (list.before[place] as number) };
}
