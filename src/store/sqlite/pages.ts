import { lastSecond } from "../last-second.ts";
import type { Page, PageRequest, PageStart, SeriesRecord } from "../store.ts";
import { AscendingPages } from "./ascending-pages.ts";
import type { Connection } from "./connection.ts";
import { keepPage } from "./page-records.ts";
import { type Head, offset_max, Ranks } from "./ranks.ts";

/** Reads pages of series: how `skip` is found by counts and why `through` is needed is told in ../README.md. */
export class Pages {
  readonly #database: Connection;
  readonly #ranks: Ranks;
  readonly #ascending: AscendingPages;
  readonly #lastSeq;
  readonly #changes;
  readonly #readers;

  constructor(database: Connection) {
    this.#database = database;
    this.#ranks = new Ranks(database);
    this.#ascending = new AscendingPages(database, this.#ranks);
    this.#lastSeq = database.keep("SELECT value FROM meta WHERE name = 'last_seq'");
    this.#changes = database.keep("PRAGMA data_version");
    this.#readers = {
      before: keepPage(database, "stamp < ?"),
      beforeThrough: keepPage(database, "stamp < ? AND (stamp < ? OR seq <= ?)"),
      beforeKey: keepPage(database, "(stamp, seq) < (?, ?)"),
    };
  }

  page(request: PageRequest): Page {
    const start_ms = request.ascending_from_ms ?? request.before_ms;
    if (request.through !== undefined && start_ms % 1000 !== 0) {
      throw new RangeError(`a page through ${request.through} must start at a whole second`);
    }
    this.#database.run("BEGIN");
    try {
      const head = this.#ranks.head(request.series, request.item);
      if (head === undefined) return { records: [] };
      const last_seq = () => Number(this.#lastSeq.values()[0]?.[0]);
      const { ascending_from_ms: from_ms } = request;
      if (from_ms !== undefined) return this.#ascending.read({ ...request, from_ms }, head, last_seq);
      return this.#read(request, head, last_seq);
    } finally {
      this.#database.run("COMMIT");
    }
  }

  /**
   * The identity of a page: the request, and counts that rise when the page changes. A change of a closed block, and
   * any change that is not only an addition, raises the generation. So a window that ends before the open block changes
   * only with the generation; a reading added there raises at least the total.
   */
  mark(request: PageRequest): string {
    const { series, item, before_ms, skip, limit, through = "", ascending_from_ms = "", precision } = request;
    const head = this.#ranks.head(series, item);
    const generation = `generation ${head?.generation ?? 0}`;
    const closed = head !== undefined && before_ms <= head.start_stamp;
    const state = closed ? generation : `${generation} total ${head?.total ?? 0}`;
    // However far above the newest reading a window ends, it is the same window.
    const everything = through === "" && before_ms > (head?.newest_stamp ?? 0);
    const window = `${ascending_from_ms} ${everything ? "all" : before_ms} ${through}`;
    return `${series} ${item} ${precision} ${window} ${skip} ${limit} ${state}`;
  }

  /** See `Store.changes`: SQLite counts what other connections commit, and this one never writes. */
  changes(): number {
    return Number(this.#changes.values()[0]?.[0]);
  }

  #read(request: PageRequest, head: Head, last_seq: () => number): Page {
    const records = this.#records(request, head);
    if (records.length <= request.limit) return { records };
    records.pop();
    return { records, next: this.#next(request, head, records, last_seq) };
  }

  /** The records of the page and, where there are more, one that follows it. */
  #records(request: PageRequest, head: Head): SeriesRecord[] {
    const { item, before_ms, skip, through } = request;
    const wanted = request.limit + 1;
    if (through === undefined) {
      if (skip <= offset_max) return this.#readers.before(request, item, before_ms, wanted, skip);
      return this.#far(request, head, before_ms, skip);
    }
    const second = before_ms - 1000;
    const counted = skip <= offset_max ? undefined : this.#numbered(request, second, before_ms, 0, through);
    if (counted !== undefined && skip >= counted) return this.#far(request, head, second, skip - counted);
    return this.#readers.beforeThrough(request, item, before_ms, second, through, wanted, skip);
  }

  /** Records below `before_ms` after passing over `skip`: the counts lead to the block, an offset to the record in it. */
  #far(request: PageRequest, head: Head, before_ms: number, skip: number): SeriesRecord[] {
    const { series, item, limit } = request;
    const run = { series, item, head };
    const rank = this.#ranks.below(run, before_ms) - skip - 1;
    if (rank < 0) return [];
    const { newer, end_rank } = this.#ranks.blockAt(run, rank);
    if (newer === undefined || newer.stamp >= before_ms) {
      return this.#readers.before(request, item, before_ms, limit + 1, skip);
    }
    const offset = end_rank - 1 - rank;
    // SQLite compares every row with a bound of two columns again, but not with one of one: a sixth of the time.
    const tied = this.#ranks.tied(run, newer, tied_max + 1);
    if (tied <= tied_max)
      return this.#readers.before(request, item, newer.stamp + 1, limit + 1, offset + tied);
    return this.#readers.beforeKey(request, item, newer.stamp, newer.seq, limit + 1, offset);
  }

  /**
   * Where the next page starts. Readings that arrive from now on must not shift it: those of the last record's
   * second carry numbers above `through`, those of newer seconds are out of the window.
   */
  #next(
    request: PageRequest,
    head: Head,
    records: readonly SeriesRecord[],
    last_seq: () => number,
  ): PageStart {
    const { series, item, before_ms, skip, through } = request;
    const { second, within } = lastSecond(records, request.precision);
    const from = second * 1000;
    const end = from + 1000;
    const continues = through !== undefined && before_ms === end;
    const position = { before_s: second + 1, through: continues ? through : last_seq() };
    if (within < records.length) return { ...position, skip: within };
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

/** Readings of one millisecond that are passed over rather than excluded. */
const tied_max = 64;
