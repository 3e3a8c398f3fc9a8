import type { SeriesName } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import { block_readings } from "./block-keeper.ts";
import { type BlockList, BlockLists, lastAtMost } from "./block-list.ts";
import type { Connection } from "./connection.ts";

/** Finds how many readings lie below a stamp, and where the reading of a rank is, by the counts of blocks. */
export class Ranks {
  readonly #lists: BlockLists;
  readonly #head;
  readonly #sql;

  constructor(database: Connection) {
    this.#lists = new BlockLists(database);
    this.#head = database.keep(
      "SELECT generation, start_stamp, start_seq, total, newest_stamp FROM heads WHERE series = ? AND item = ?",
    );
    this.#sql = forEverySeries((series) => ({
      countFrom: database.keep(
        `SELECT count(*) FROM ${series} WHERE item = ? AND (stamp, seq) >= (?, ?) AND stamp < ?`,
      ),
      countTied: database.keep(
        `SELECT count(*) FROM (SELECT 1 FROM ${series} WHERE item = ? AND stamp = ? AND seq >= ? LIMIT ?)`,
      ),
      countNumbered: database.keep(
        `SELECT count(*) FROM ${series} WHERE item = ? AND stamp >= ? AND stamp < ? AND seq BETWEEN ? AND ?`,
      ),
    }));
  }

  /** Totals of a series of an item, from the counts; undefined where it has no readings. */
  head(series: SeriesName, item: number): Head | undefined {
    return (this.#head.get(series, item) as Head | null) ?? undefined;
  }

  /** How many readings have a stamp below `before_ms`. */
  below({ series, item, head }: Run, before_ms: number): number {
    if (before_ms > head.newest_stamp) return head.total;
    const list = this.#lists.get(series, item, head.generation);
    const open = head.start_stamp < before_ms;
    const block = open ? list.start_stamp.length : lastAtMost(list.start_stamp, before_ms - 1);
    if (block < 0) return 0;
    const start = startOf(list, head, block);
    const within = this.#sql[series].countFrom.values(item, start.stamp, start.seq, before_ms)[0]?.[0];
    return (list.below[block] ?? 0) + Number(within);
  }

  /** The block that the reading of `rank` lies in: the oldest has rank 0. */
  blockAt({ series, item, head }: Run, rank: number): RankedBlock {
    const list = this.#lists.get(series, item, head.generation);
    const block = lastAtMost(list.below, rank);
    return {
      first_rank: list.below[block] ?? 0,
      end_rank: list.below[block + 1] ?? head.total,
      start: startOf(list, head, block),
      ...(block + 1 < list.below.length ? { newer: startOf(list, head, block + 1) } : {}),
    };
  }

  /** How many readings of a key's millisecond have its number or a higher one; counts no further than `most`. */
  tied({ series, item }: Run, { stamp, seq }: Key, most: number): number {
    return Number(this.#sql[series].countTied.values(item, stamp, seq, most)[0]?.[0]);
  }

  /** How many readings of a span carry a number from `first` to `last`; meant for spans of about a second. */
  numbered(
    { series, item }: { series: SeriesName; item: number },
    span: { from_ms: number; to_ms: number; first: number; last: number },
  ): number {
    const { from_ms, to_ms, first, last } = span;
    const count = this.#sql[series].countNumbered.values(item, from_ms, to_ms, first, last)[0]?.[0];
    return Number(count);
  }
}

/** The readings of a series of an item, as of one snapshot. */
export interface Run {
  readonly series: SeriesName;
  readonly item: number;
  readonly head: Head;
}

export interface Head {
  readonly generation: number;
  readonly start_stamp: number;
  readonly start_seq: number;
  readonly total: number;
  readonly newest_stamp: number;
}

export interface RankedBlock {
  /** Rank of its oldest reading, and the rank after its newest. */
  readonly first_rank: number;
  readonly end_rank: number;
  readonly start: Key;
  /** Where the next newer block starts; absent for the newest. */
  readonly newer?: Key;
}

interface Key {
  readonly stamp: number;
  readonly seq: number;
}

/** The key at which a block starts; the one after the closed ones is the open one. */
function startOf(list: BlockList, head: Head, block: number): Key {
  if (block >= list.start_stamp.length) return { stamp: head.start_stamp, seq: head.start_seq };
  return { stamp: list.start_stamp[block] ?? 0, seq: list.start_seq[block] ?? 0 };
}

/** Up to here SQLite passes over rows by itself: no dearer than counting within a block. */
export const offset_max = block_readings;
