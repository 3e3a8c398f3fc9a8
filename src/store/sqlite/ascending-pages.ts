import type { Page, PageRequest, PageRow, PageStart } from "../store.ts";
import type { Connection } from "./connection.ts";
import { type Head, offset_max, type Ranks } from "./ranks.ts";
import { forEverySeries, pageRows, pageSql } from "./series-tables.ts";

/** Reads pages oldest first: the mirror image of what pages.ts reads. */
export class AscendingPages {
  readonly #ranks: Ranks;
  readonly #sql;

  constructor(database: Connection, ranks: Ranks) {
    this.#ranks = ranks;
    this.#sql = forEverySeries((series) => ({
      from: database.keep(pageSql(series, "stamp >= ? AND stamp < ?", "ASC")),
      fromThrough: database.keep(
        pageSql(series, "stamp >= ? AND stamp < ? AND (stamp >= ? OR seq <= ?)", "ASC"),
      ),
      fromKey: database.keep(pageSql(series, "(stamp, seq) >= (?, ?) AND stamp < ?", "ASC")),
    }));
  }

  /** @param last_seq the number of the newest reading on disk, in this snapshot */
  read(request: AscendingRequest, head: Head, last_seq: () => number): Page {
    const rows = this.#rows(request, head);
    if (rows.length <= request.limit) return { rows };
    rows.pop();
    return { rows, next: this.#next(request, head, rows, last_seq) };
  }

  /** The rows of the page and, where there are more, one that follows it. */
  #rows(request: AscendingRequest, head: Head): PageRow[] {
    const { series, item, from_ms, before_ms, skip, through } = request;
    const wanted = request.limit + 1;
    const sql = this.#sql[series];
    if (through === undefined) {
      if (skip <= offset_max) return pageRows(sql.from.values(item, from_ms, before_ms, wanted, skip));
      return this.#far(request, head, from_ms, skip);
    }
    const end = from_ms + 1000;
    const span = { from_ms, to_ms: Math.min(end, before_ms), first: 0, last: through };
    const counted = skip <= offset_max ? undefined : this.#ranks.numbered(request, span);
    if (counted !== undefined && skip >= counted) return this.#far(request, head, end, skip - counted);
    return pageRows(sql.fromThrough.values(item, from_ms, before_ms, end, through, wanted, skip));
  }

  /** Rows from `from_ms` on after passing over `skip`: the counts lead to the block, an offset to the row in it. */
  #far(request: AscendingRequest, head: Head, from_ms: number, skip: number): PageRow[] {
    const { series, item, before_ms, limit } = request;
    const run = { series, item, head };
    const rank = this.#ranks.below(run, from_ms) + skip;
    if (rank >= head.total) return [];
    const { start, first_rank } = this.#ranks.blockAt(run, rank);
    return pageRows(
      this.#sql[series].fromKey.values(item, start.stamp, start.seq, before_ms, limit + 1, rank - first_rank),
    );
  }

  /** Where the next page starts; what arrives in the last row's second from now on carries numbers above `through`. */
  #next(request: AscendingRequest, head: Head, rows: readonly PageRow[], last_seq: () => number): PageStart {
    const { series, item, from_ms, skip, through } = request;
    const second = Math.floor((rows.at(-1)?.[0] ?? 0) / 1000);
    const start = second * 1000;
    let first = rows.length;
    while (first > 0 && (rows[first - 1]?.[0] ?? 0) >= start) first -= 1;
    const within = rows.length - first;
    const continues = through !== undefined && from_ms === start;
    const position = { before_s: second + 1, through: continues ? through : last_seq() };
    if (first > 0) return { ...position, skip: within };
    if (from_ms === start) return { ...position, skip: skip + within };
    // The whole page lies in one second, which the window did not begin with: what was passed over before it doesn't count.
    const hidden =
      through === undefined
        ? 0
        : this.#ranks.numbered(request, {
            from_ms,
            to_ms: from_ms + 1000,
            first: through + 1,
            last: Number.MAX_SAFE_INTEGER,
          });
    const run = { series, item, head };
    const outside = this.#ranks.below(run, start) - this.#ranks.below(run, from_ms) - hidden;
    return { ...position, skip: skip - outside + within };
  }
}

type AscendingRequest = PageRequest & { readonly from_ms: number };
