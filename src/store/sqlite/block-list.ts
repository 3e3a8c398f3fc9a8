import type { SeriesName } from "../../series.ts";
import type { Connection } from "./connection.ts";

/** The closed blocks of a series of an item as one reader remembers them, oldest first. */
export interface BlockList {
  readonly generation: number;
  readonly start_stamp: Float64Array;
  readonly start_seq: Float64Array;
  /** Entry i: readings in the blocks before block i; one entry more than there are blocks. */
  readonly below: Float64Array;
}

/** Block lists that were read lately, the least used forgotten first. Exact: a list of another generation is read again. */
export class BlockLists {
  readonly #lists = new Map<string, BlockList>();
  readonly #read;
  #blocks = 0;

  constructor(database: Connection) {
    this.#read = database.keep(
      `SELECT start_stamp, start_seq, count FROM blocks WHERE series = ? AND item = ?
       ORDER BY start_stamp, start_seq`,
    );
  }

  /** The list as of `generation`, which the caller has read from the head in the same snapshot. */
  get(series: SeriesName, item: number, generation: number): BlockList {
    const name = `${series} ${item}`;
    let list = this.#lists.get(name);
    if (list !== undefined) this.#forget(name, list);
    if (list?.generation !== generation) list = this.#load(series, item, generation);
    this.#lists.set(name, list);
    this.#blocks += list.start_stamp.length;
    for (const [oldName, old] of this.#lists) {
      if (this.#blocks <= blocks_max || oldName === name) break;
      this.#forget(oldName, old);
    }
    return list;
  }

  #forget(name: string, list: BlockList): void {
    this.#lists.delete(name);
    this.#blocks -= list.start_stamp.length;
  }

  #load(series: SeriesName, item: number, generation: number): BlockList {
    const rows = this.#read.values(series, item) as [number, number, number][];
    const start_stamp = new Float64Array(rows.length);
    const start_seq = new Float64Array(rows.length);
    const below = new Float64Array(rows.length + 1);
    let sum = 0;
    for (const [index, [stamp, seq, count]] of rows.entries()) {
      start_stamp[index] = stamp;
      start_seq[index] = seq;
      sum += count;
      below[index + 1] = sum;
    }
    return { generation, start_stamp, start_seq, below };
  }
}

/** Index of the last entry that is at most `value`, or −1; `sorted` rises. */
export function lastAtMost(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Closed blocks remembered in all, 24 bytes each: of some 100 million readings. */
const blocks_max = 200_000;
