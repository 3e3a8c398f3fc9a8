import { lastSecond } from "../last-second.ts";
import type { Page, PageRequest, PageStart, SeriesRecord } from "../store.ts";
import type { Connection } from "./connection.ts";
import { keepPage } from "./page-records.ts";
import { type Head, offset_max, type Ranks } from "./ranks.ts";

/** Reads pages oldest first: the mirror image of what pages.ts reads. */
export class AscendingPages {
  readonly #ranks: Ranks;
  readonly #readers;

  constructor(database: Connection, ranks: Ranks) {
    this.#ranks = ranks;
    this.#readers = {
      from: keepPage(database, "stamp >= ? AND stamp < ?", "ASC"),
      fromThrough: keepPage(database, "stamp >= ? AND stamp < ? AND (stamp >= ? OR seq <= ?)", "ASC"),
      fromKey: keepPage(database, "(stamp, seq) >= (?, ?) AND stamp < ?", "ASC"),
    };
  }

  /** @param last_seq the number of the newest reading on disk, in this snapshot */
  read(request: AscendingRequest, head: Head, last_seq: () => number): Page {
    const records = this.#records(request, head);
    if (records.length <= request.limit) return { records };
    records.pop();
    return { records, next: this.#next(request, head, records, last_seq) };
  }

  /** The records of the page and, where there are more, one that follows it. */
  #records(request: AscendingRequest, head: Head): SeriesRecord[] {
    const { item, from_ms, before_ms, skip, through } = request;
    const wanted = request.limit + 1;
    if (through === undefined) {
      if (skip <= offset_max) return this.#readers.from(request, item, from_ms, before_ms, wanted, skip);
      return this.#far(request, head, from_ms, skip);
    }
    const end = from_ms + 1000;
    const span = { from_ms, to_ms: Math.min(end, before_ms), first: 0, last: through };
    const counted = skip <= offset_max ? undefined : this.#ranks.numbered(request, span);
    if (counted !== undefined && skip >= counted) return this.#far(request, head, end, skip - counted);
    return this.#readers.fromThrough(request, item, from_ms, before_ms, end, through, wanted, skip);
  }

  /** Records from `from_ms` on after passing over `skip`: the counts lead to the block, an offset to the record in it. */
  #far(request: AscendingRequest, head: Head, from_ms: number, skip: number): SeriesRecord[] {
    const { series, item, before_ms, limit } = request;
    const run = { series, item, head };
    const rank = this.#ranks.below(run, from_ms) + skip;
    if (rank >= head.total) return [];
    const { start, first_rank } = this.#ranks.blockAt(run, rank);
    return this.#readers.fromKey(
      request,
      item,
      start.stamp,
      start.seq,
      before_ms,
      limit + 1,
      rank - first_rank,
    );
  }

  /** Where the next page starts; what arrives in the last record's second from now on carries numbers above `through`. */
  #next(
    request: AscendingRequest,
    head: Head,
    records: readonly SeriesRecord[],
    last_seq: () => number,
  ): PageStart {
    const { series, item, from_ms, skip, through } = request;
    const { second, within } = lastSecond(records, request.precision);
    const start = second * 1000;
    const continues = through !== undefined && from_ms === start;
    const position = { before_s: second + 1, through: continues ? through : last_seq() };
    if (within < records.length) return { ...position, skip: within };
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
