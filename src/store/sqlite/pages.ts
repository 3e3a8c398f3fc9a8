import type { Page, PageRequest, PageRow, PageStart } from "../store.ts";
import { AscendingPages } from "./ascending-pages.ts";
import type { Connection } from "./connection.ts";
import { type Head, offset_max, Ranks } from "./ranks.ts";
import { forEverySeries, pageRows, pageSql } from "./series-tables.ts";

/** Reads pages of series: how `skip` is found by counts and why `through` is needed is told in ../README.md. */
export class Pages {
  readonly #database: Connection;
  readonly #ranks: Ranks;
  readonly #ascending: AscendingPages;
  readonly #lastSeq;
  readonly #sql;

  constructor(database: Connection) {
    this.#database = database;
    this.#ranks = new Ranks(database);
    this.#ascending = new AscendingPages(database, this.#ranks);
    this.#lastSeq = database.keep("SELECT value FROM meta WHERE name = 'last_seq'");
    this.#sql = forEverySeries((series) => ({
      before: database.keep(pageSql(series, "stamp < ?")),
      beforeThrough: database.keep(pageSql(series, "stamp < ? AND (stamp < ? OR seq <= ?)")),
      beforeKey: database.keep(pageSql(series, "(stamp, seq) < (?, ?)")),
    }));
  }

  page(request: PageRequest): Page {
    const start_ms = request.ascending_from_ms ?? request.before_ms;
    if (request.through !== undefined && start_ms % 1000 !== 0) {
      throw new RangeError(`a page through ${request.through} must start at a whole second`);
    }
    this.#database.run("BEGIN");
    try {
      const head = this.#ranks.head(request.series, request.item);
      if (head === undefined) return { rows: [] };
      const last_seq = () => Number(this.#lastSeq.values()[0]?.[0]);
      const { ascending_from_ms: from_ms } = request;
      if (from_ms !== undefined) return this.#ascending.read({ ...request, from_ms }, head, last_seq);
      return this.#read(request, head, last_seq);
    } finally {
      this.#database.run("COMMIT");
    }
  }

  #read(request: PageRequest, head: Head, last_seq: () => number): Page {
    const rows = this.#rows(request, head);
    if (rows.length <= request.limit) return { rows };
    rows.pop();
    return { rows, next: this.#next(request, head, rows, last_seq) };
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
    const run = { series, item, head };
    const rank = this.#ranks.below(run, before_ms) - skip - 1;
    if (rank < 0) return [];
    const { newer, end_rank } = this.#ranks.blockAt(run, rank);
    if (newer === undefined || newer.stamp >= before_ms) {
      return pageRows(this.#sql[series].before.values(item, before_ms, limit + 1, skip));
    }
    const { stamp, seq } = newer;
    return pageRows(this.#sql[series].beforeKey.values(item, stamp, seq, limit + 1, end_rank - 1 - rank));
  }

  /**
   * Where the next page starts. Readings that arrive from now on must not shift it: those of the last row's
   * second carry numbers above `through`, those of newer seconds are out of the window.
   */
  #next(request: PageRequest, head: Head, rows: readonly PageRow[], last_seq: () => number): PageStart {
    const { series, item, before_ms, skip, through } = request;
    const second = Math.floor((rows.at(-1)?.[0] ?? 0) / 1000);
    const from = second * 1000;
    const end = from + 1000;
    let first = rows.length;
    while (first > 0 && (rows[first - 1]?.[0] ?? 0) >= from) first -= 1;
    const within = rows.length - first;
    const continues = through !== undefined && before_ms === end;
    const position = { before_s: second + 1, through: continues ? through : last_seq() };
    if (first > 0) return { ...position, skip: within };
    if (before_ms === end) return { ...position, skip: skip + within };
    // The whole page lies in one second, which the window did not begin with: what was passed over outside of it doesn't count.
    const hidden =
      through === undefined
        ? 0
        : this.#numbered(request, before_ms - 1000, before_ms, through + 1, Number.MAX_SAFE_INTEGER);
    const run = { series, item, head };
    const outside = this.#ranks.below(run, before_ms) - this.#ranks.below(run, end) - hidden;
    return { ...position, skip: skip - outside + within };
  }

  #numbered(request: PageRequest, from_ms: number, to_ms: number, first: number, last: number): number {
    return this.#ranks.numbered(request, { from_ms, to_ms, first, last });
  }
}
