import { lastSecond } from "../last-second.ts";
import type { Page, PageRequest, PageStart, SeriesRecord } from "../store.ts";
import type { AmongHomes } from "./citus.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { widths_ms } from "./count-spans.ts";
import { type PageReader, pageReader } from "./page-records.ts";
import { below, countedBelow, type Head, headOf, numbered, type Run, spanOf } from "./ranks.ts";

/** Reads pages of series: how `skip` is found by counts and why `through` is needed is told in ../README.md. */
export class Pages {
  readonly #connections: Connections;
  readonly #amongHomes: AmongHomes;

  constructor(connections: Connections, amongHomes: AmongHomes) {
    this.#connections = connections;
    this.#amongHomes = amongHomes;
  }

  async page(request: PageRequest): Promise<Page> {
    const end = ends[request.ascending_from_ms === undefined ? "newest" : "oldest"];
    const bound_ms = request.ascending_from_ms ?? request.before_ms;
    if (request.through !== undefined && bound_ms % 1000 !== 0) {
      throw new RangeError(`a page through ${request.through} must start at a whole second`);
    }
    return this.#connections.snapshotPage(async (sql) => {
      const run = await this.#run(sql, request);
      const head = await headOf(run);
      return head === undefined ? { records: [] } : new PageRead(run, request, end, bound_ms, head).read();
    });
  }

  /**
   * The identity of a page: the request and two counts. One is of the readings in the spans that the window touches;
   * the other is of the times that a stored reading changed or was removed. Otherwise readings are only added.
   */
  mark(request: PageRequest): Promise<string> {
    const { series, item, before_ms, skip, limit, through = "", ascending_from_ms = "", precision } = request;
    return this.#connections.snapshotPage(async (sql) => {
      const span_end_ms = Math.ceil(before_ms / finest_ms) * finest_ms;
      const run = await this.#run(sql, request);
      const [head, count] = await Promise.all([headOf(run), countedBelow(run, span_end_ms)]);
      // However far above the newest reading a window ends, it is the same window.
      const everything = through === "" && before_ms > (head?.newest_stamp ?? 0);
      const window = `${ascending_from_ms} ${everything ? "all" : before_ms} ${through}`;
      return `${series} ${item} ${precision} ${window} ${skip} ${limit} ${count} ${head?.revision ?? 0}`;
    });
  }

  async #run(sql: SqlRunner, { series, item }: PageRequest): Promise<Run> {
    return { sql, series, item, among: await this.#amongHomes(sql, item) };
  }
}

/**
 * One page, from whichever end it is counted. `bound_ms` is where the window begins at that end: `before_ms` for the newest readings, and
 * `ascending_from_ms` for the oldest, where the window is bounded at the other end too.
 */
class PageRead {
  readonly #request: PageRequest;
  readonly #end: End;
  readonly #bound_ms: number;
  readonly #run: Run;
  readonly #head: Head;

  constructor(run: Run, request: PageRequest, end: End, bound_ms: number, head: Head) {
    this.#request = request;
    this.#end = end;
    this.#bound_ms = bound_ms;
    this.#run = run;
    this.#head = head;
  }

  async read(): Promise<Page> {
    const records = await this.#records();
    if (records.length <= this.#request.limit) return { records };
    records.pop();
    return { records, next: await this.#next(records) };
  }

  /** The records of the page and, where there are more, one that follows it. */
  async #records(): Promise<SeriesRecord[]> {
    const { skip, through } = this.#request;
    const bound_ms = this.#bound_ms;
    if (through === undefined)
      return skip <= offset_max ? this.#plain(bound_ms, skip) : this.#far(bound_ms, skip);
    const second_end = bound_ms + this.#end.step * 1000;
    if (skip > offset_max) {
      const counted = await this.#numbered(bound_ms, second_end, 0, through);
      if (skip >= counted) return this.#far(second_end, skip - counted);
    }
    const bounds = [...this.#bounds(bound_ms), second_end, through];
    return this.#end.through(this.#run, this.#request.precision, [...bounds, ...this.#window(skip)]);
  }

  /** Records from a bound on, after passing over `skip`: the counts lead to the span, an offset to the record in it. */
  async #far(bound_ms: number, skip: number): Promise<SeriesRecord[]> {
    const rankAtBound = await below(this.#run, this.#head, bound_ms);
    const rank = this.#end.rankAfter(rankAtBound, skip);
    if (rank < 0 || rank >= this.#head.total) return [];
    const span = await spanOf(this.#run, rank);
    const { from_ms, before_ms, first_rank, count } = span;
    // In the span of the bound itself the readings on its other side must not be passed over.
    if (bound_ms > from_ms && bound_ms < before_ms) return this.#plain(bound_ms, skip);
    return this.#end.step < 0
      ? this.#plain(before_ms, first_rank + count - 1 - rank)
      : this.#plain(from_ms, rank - first_rank);
  }

  #plain(bound_ms: number, skip: number): Promise<SeriesRecord[]> {
    const values = [...this.#bounds(bound_ms), ...this.#window(skip)];
    return this.#end.plain(this.#run, this.#request.precision, values);
  }

  #bounds(bound_ms: number): number[] {
    return this.#end.step < 0 ? [bound_ms] : [bound_ms, this.#request.before_ms];
  }

  #window(skip: number): [limit: number, offset: number] {
    return [this.#request.limit + 1, skip];
  }

  /**
   * Where the next page starts. Readings that arrive from now on must not shift it: those of the last record's
   * second carry numbers above `through`, those of seconds that the walk has passed are out of the window.
   */
  async #next(records: readonly SeriesRecord[]): Promise<PageStart> {
    const { skip, through, precision } = this.#request;
    const bound_ms = this.#bound_ms;
    const { second, within } = lastSecond(records, precision);
    const start_ms = this.#end.step < 0 ? (second + 1) * 1000 : second * 1000;
    const continues = through !== undefined && bound_ms === start_ms;
    const position = { before_s: second + 1, through: continues ? through : this.#head.newest_number };
    if (within < records.length) return { ...position, skip: within };
    if (bound_ms === start_ms) return { ...position, skip: skip + within };
    // The whole page lies in one second, which the window did not begin with: what was passed over outside of it doesn't count.
    const hidden =
      through === undefined
        ? 0
        : await this.#numbered(
            bound_ms,
            bound_ms + this.#end.step * 1000,
            through + 1,
            Number.MAX_SAFE_INTEGER,
          );
    const [atBound, atStart] = [
      await below(this.#run, this.#head, bound_ms),
      await below(this.#run, this.#head, start_ms),
    ];
    const outside = (atStart - atBound) * this.#end.step - hidden;
    return { ...position, skip: skip - outside + within };
  }

  #numbered(one_ms: number, other_ms: number, first: number, last: number): Promise<number> {
    const from_ms = Math.min(one_ms, other_ms);
    // From the oldest on, the window may end within the second.
    const to_ms = Math.min(Math.max(one_ms, other_ms), this.#request.before_ms);
    return numbered(this.#run, { from_ms, to_ms, first, last });
  }
}

interface End {
  /** The direction of a walk in time. */
  readonly step: 1 | -1;
  readonly plain: PageReader;
  readonly through: PageReader;
  /** The rank of the reading that comes after `skip`, where so many lie below the bound. */
  rankAfter(belowBound: number, skip: number): number;
}

const ends: Record<"newest" | "oldest", End> = {
  newest: {
    step: -1,
    plain: pageReader("stamp < $2", 1),
    through: pageReader("stamp < $2 AND (stamp < $3 OR seq <= $4)", 3),
    rankAfter: (belowBound, skip) => belowBound - skip - 1,
  },
  oldest: {
    step: 1,
    plain: pageReader("stamp >= $2 AND stamp < $3", 2, "ASC"),
    through: pageReader("stamp >= $2 AND stamp < $3 AND (stamp >= $4 OR seq <= $5)", 4, "ASC"),
    rankAfter: (belowBound, skip) => belowBound + skip,
  },
};

/** Up to here PostgreSQL passes over readings by itself: no dearer than a span of them. */
const offset_max = 1_000;
const finest_ms = widths_ms[2];
