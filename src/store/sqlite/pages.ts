import type { SeriesName } from "../../series.ts";
import type { Page, PageRequest, PageRow, PageStart } from "../store.ts";
import { block_readings } from "./block-keeper.ts";
import { type BlockList, BlockLists, lastAtMost } from "./block-list.ts";
import type { Connection } from "./connection.ts";
import { forEverySeries, pageSql } from "./series-tables.ts";

/** Reads pages of series: how `skip` is found by counts and why `through` is needed is told in ../README.md. */
export class Pages {
  readonly #database: Connection;
  readonly #lists: BlockLists;
  readonly #head;
  readonly #lastSeq;
  readonly #sql;

  constructor(database: Connection) {
    this.#database = database;
    this.#lists = new BlockLists(database);
    this.#head = database.keep(
      "SELECT generation, start_stamp, start_seq, total, newest_stamp FROM heads WHERE series = ? AND item = ?",
    );
    this.#lastSeq = database.keep("SELECT value FROM meta WHERE name = 'last_seq'");
    this.#sql = forEverySeries((series) => ({
      before: database.keep(pageSql(series, "stamp < ?")),
      beforeThrough: database.keep(pageSql(series, "stamp < ? AND (stamp < ? OR seq <= ?)")),
      beforeKey: database.keep(pageSql(series, "(stamp, seq) < (?, ?)")),
      countFrom: database.keep(
        `SELECT count(*) FROM ${series} WHERE item = ? AND (stamp, seq) >= (?, ?) AND stamp < ?`,
      ),
      countNumbered: database.keep(
        `SELECT count(*) FROM ${series} WHERE item = ? AND stamp >= ? AND stamp < ? AND seq BETWEEN ? AND ?`,
      ),
    }));
  }

  page(request: PageRequest): Page {
    if (request.through !== undefined && request.before_ms % 1000 !== 0) {
      throw new RangeError(`a page through ${request.through} must be before a whole second`);
    }
    this.#database.run("BEGIN");
    try {
      const head = this.#head.get(request.series, request.item) as Head | null;
      return head === null ? { rows: [] } : this.#read(request, head);
    } finally {
      this.#database.run("COMMIT");
    }
  }

  #read(request: PageRequest, head: Head): Page {
    const rows = this.#rows(request, head);
    if (rows.length <= request.limit) return { rows };
    rows.pop();
    return { rows, next: this.#next(request, head, rows) };
  }

  /** The rows of the page and, where there are more, one that follows it. */
  #rows(request: PageRequest, head: Head): PageRow[] {
    const { series, item, before_ms, skip, through } = request;
    const wanted = request.limit + 1;
    const sql = this.#sql[series];
    if (through === undefined) {
      if (skip <= offset_max) return pageRows(sql.before.values(item, before_ms, wanted, skip));
      return this.#far(request, head, before_ms, skip);
    }
    const second = before_ms - 1000;
    const counted = skip <= offset_max ? undefined : this.#numbered(request, second, before_ms, 0, through);
    if (counted !== undefined && skip >= counted) return this.#far(request, head, second, skip - counted);
    return pageRows(sql.beforeThrough.values(item, before_ms, second, through, wanted, skip));
  }

  /** Rows below `before_ms` after passing over `skip`: the counts lead to the block, an offset to the row in it. */
  #far({ series, item, limit }: PageRequest, head: Head, before_ms: number, skip: number): PageRow[] {
    const list = this.#lists.get(series, item, head.generation);
    const rank = this.#rank(series, item, head, before_ms) - skip - 1;
    if (rank < 0) return [];
    const block = lastAtMost(list.below, rank);
    const newerStart = block + 1 < list.below.length ? startOf(list, head, block + 1) : undefined;
    const end = list.below[block + 1] ?? head.total;
    if (newerStart === undefined || newerStart.stamp >= before_ms) {
      return pageRows(this.#sql[series].before.values(item, before_ms, limit + 1, skip));
    }
    const { stamp, seq } = newerStart;
    return pageRows(this.#sql[series].beforeKey.values(item, stamp, seq, limit + 1, end - 1 - rank));
  }

  /** How many readings have a stamp below `before_ms`. */
  #rank(series: SeriesName, item: number, head: Head, before_ms: number): number {
    if (before_ms > head.newest_stamp) return head.total;
    const list = this.#lists.get(series, item, head.generation);
    const open = head.start_stamp < before_ms;
    const block = open ? list.start_stamp.length : lastAtMost(list.start_stamp, before_ms - 1);
    if (block < 0) return 0;
    const start = startOf(list, head, block);
    const within = this.#sql[series].countFrom.values(item, start.stamp, start.seq, before_ms)[0]?.[0];
    return (list.below[block] ?? 0) + Number(within);
  }

  /**
   * Where the next page starts. Readings that arrive from now on must not shift it: those of the last row's
   * second carry numbers above `through`, those of newer seconds are out of the window.
   */
  #next(request: PageRequest, head: Head, rows: readonly PageRow[]): PageStart {
    const { series, item, before_ms, skip, through } = request;
    const second = Math.floor((rows.at(-1)?.[0] ?? 0) / 1000);
    const from = second * 1000;
    const end = from + 1000;
    let first = rows.length;
    while (first > 0 && (rows[first - 1]?.[0] ?? 0) >= from) first -= 1;
    const within = rows.length - first;
    const continues = through !== undefined && before_ms === end;
    const position = {
      before_s: second + 1,
      through: continues ? through : Number(this.#lastSeq.values()[0]?.[0]),
    };
    if (first > 0) return { ...position, skip: within };
    if (before_ms === end) return { ...position, skip: skip + within };
    // The whole page lies in one second, which the window did not begin with: what was passed over outside of it doesn't count.
    const hidden =
      through === undefined
        ? 0
        : this.#numbered(request, before_ms - 1000, before_ms, through + 1, Number.MAX_SAFE_INTEGER);
    const outside = this.#rank(series, item, head, before_ms) - this.#rank(series, item, head, end) - hidden;
    return { ...position, skip: skip - outside + within };
  }

  #numbered({ series, item }: PageRequest, from_ms: number, to_ms: number, first: number, last: number) {
    const count = this.#sql[series].countNumbered.values(item, from_ms, to_ms, first, last)[0]?.[0];
    return Number(count);
  }
}

interface Head {
  readonly generation: number;
  readonly start_stamp: number;
  readonly start_seq: number;
  readonly total: number;
  readonly newest_stamp: number;
}

/** The key at which a block starts; the one after the closed ones is the open one. */
function startOf(list: BlockList, head: Head, block: number): { stamp: number; seq: number } {
  if (block >= list.start_stamp.length) return { stamp: head.start_stamp, seq: head.start_seq };
  return { stamp: list.start_stamp[block] ?? 0, seq: list.start_seq[block] ?? 0 };
}

/** Rows of `pageSql`, of which no column holds bytes or big integers. */
function pageRows(values: unknown[][]): PageRow[] {
  return values as unknown[] as PageRow[];
}

/** Up to here SQLite passes over rows by itself: no dearer than counting within a block. */
const offset_max = block_readings;
