import type { SeriesName } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { Connection } from "./connection.ts";

/**
 * Removes the oldest readings by whole closed blocks of counts, so that the counts of the rest stay right. Works inside the
 * caller's transaction; a caller that keeps counts in memory has to drop them.
 */
export class Pruning {
  readonly #runs;
  readonly #oldest;
  readonly #removeRows;
  readonly #removeLate;
  readonly #removeBlocks;
  readonly #lowerBlock;
  readonly #lowerHead;

  constructor(database: Connection) {
    this.#runs = database.keep(
      "SELECT series, item, start_stamp, start_seq FROM heads ORDER BY series, item",
    );
    this.#oldest = database.keep(
      `SELECT start_stamp, start_seq, count, max_seq FROM blocks WHERE series = ? AND item = ?
       ORDER BY start_stamp, start_seq LIMIT ?`,
    );
    this.#removeRows = forEverySeries((series) =>
      database.keep(`DELETE FROM ${series} WHERE item = ? AND (stamp, seq) < (?, ?)`),
    );
    this.#removeLate = database.keep(
      "DELETE FROM late WHERE series = ? AND item = ? AND (stamp, seq) < (?, ?)",
    );
    this.#removeBlocks = database.keep(
      "DELETE FROM blocks WHERE series = ? AND item = ? AND (start_stamp, start_seq) < (?, ?)",
    );
    this.#lowerBlock = database.keep(
      `UPDATE blocks SET start_stamp = 0, start_seq = 0
       WHERE series = ? AND item = ? AND start_stamp = ? AND start_seq = ?`,
    );
    this.#lowerHead = database.keep(
      `UPDATE heads SET total = total - ?, generation = generation + 1,
         start_seq = iif(start_stamp = ?2 AND start_seq = ?3, 0, start_seq),
         start_stamp = iif(start_stamp = ?2 AND start_seq = ?3, 0, start_stamp)
       WHERE series = ?4 AND item = ?5`,
    );
  }

  prune({ before_ms, through_seq, readings_max }: PruneRequest): { pruned: number; more: boolean } {
    let pruned = 0;
    for (const run of this.#runs.all() as Run[]) {
      for (;;) {
        const found = this.#removable(run, before_ms, through_seq);
        if (found === undefined) break;
        // A call always gets on, however little it may remove.
        const most =
          pruned === 0 ? Math.max(readings_max, found.blocks[0]?.count ?? 0) : readings_max - pruned;
        const removed = this.#remove(run, found, most);
        if (removed === 0) return { pruned, more: true };
        pruned += removed;
      }
    }
    return { pruned, more: false };
  }

  /** The oldest blocks of a run that may go, and after each where the next begins; undefined where there is none. */
  #removable({ series, item, ...head }: Run, before_ms: number, through_seq: number): Removable | undefined {
    const oldest = this.#oldest.all(series, item, blocks_per_look) as Block[];
    const starts: Start[] = oldest.length < blocks_per_look ? [...oldest, head] : oldest;
    const blocks: Block[] = [];
    const ends: Start[] = [];
    for (const [index, block] of oldest.entries()) {
      const end = starts[index + 1];
      // Readings below the next block's start have at most its stamp.
      if (end === undefined || end.start_stamp >= before_ms || block.max_seq > through_seq) break;
      blocks.push(block);
      ends.push(end);
    }
    return blocks.length === 0 ? undefined : { blocks, ends };
  }

  /** Removes blocks from the oldest on, as many as have at most `most` readings together; answers how many those were. */
  #remove({ series, item }: Run, { blocks, ends }: Removable, most: number): number {
    let removed = 0;
    let count = 0;
    for (const block of blocks) {
      if (removed + block.count > most) break;
      removed += block.count;
      count += 1;
    }
    const end = ends[count - 1];
    if (end === undefined) return 0;
    const { start_stamp, start_seq } = end;
    this.#removeRows[series].run(item, start_stamp, start_seq);
    this.#removeLate.run(series, item, start_stamp, start_seq);
    this.#removeBlocks.run(series, item, start_stamp, start_seq);
    // The oldest block that remains starts below every key, as the first one always does.
    this.#lowerBlock.run(series, item, start_stamp, start_seq);
    this.#lowerHead.run(removed, start_stamp, start_seq, series, item);
    return removed;
  }
}

export interface PruneRequest {
  readonly before_ms: number;
  readonly through_seq: number;
  readonly readings_max: number;
}

interface Start {
  readonly start_stamp: number;
  readonly start_seq: number;
}

interface Block extends Start {
  readonly count: number;
  readonly max_seq: number;
}

interface Run extends Start {
  readonly series: SeriesName;
  readonly item: number;
}

interface Removable {
  readonly blocks: readonly Block[];
  readonly ends: readonly Start[];
}

const blocks_per_look = 64;
