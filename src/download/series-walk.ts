import { type TSchema, Type } from "@sinclair/typebox";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../series.ts";
import type { Gateway } from "./gateway.ts";
import type { HeldPage, HeldReadings, HeldRow, Place, Run } from "./held-readings.ts";

/** Whole unix seconds: from `since_s`, and below `until_s`. */
export interface Span {
  readonly since_s?: number;
  readonly until_s?: number;
}

/**
 * Brings what is held of a series of an item up to the server: afterwards every reading of the span that was on
 * the server's disk when this was called is held exactly once, whatever was held before, and what the server no
 * longer has is held still.
 *
 * A walk that was interrupted is finished first. Then one request tells whether the server has just what is held
 * below the newest reading, and if not a search by halves finds below which page it has: see `sureBelow`. What is
 * newer than that is walked again.
 *
 * @returns false where the server has no such series or item
 */
export async function bringUpToDate(options: {
  gateway: Gateway;
  held: HeldReadings;
  run: Run;
  itemname: string;
  span: Span;
  /** Told of every page, with the readings it added. */
  onPage: (count: number) => void;
}): Promise<boolean> {
  const { held, run, span } = options;
  const found = held.walk(run)?.next != null ? await walkOn(options) : true;
  if (!found) return false;
  const sure = await sureBelow(options);
  if (sure === undefined) return false;
  if (sure.cut !== undefined) held.cut(run, sure.cut.boundary?.place);
  const before = span.until_s === undefined ? "" : `&before=${span.until_s}`;
  held.begin(run, {
    floor_s: sure.floor_s ?? span.since_s ?? null,
    next: `?limit=${page_max}&precision=ms${before}`,
  });
  return walkOn(options);
}

/** Follows the walk that has begun to its end. */
async function walkOn({ gateway, held, run, itemname, onPage }: Context): Promise<boolean> {
  const path = pathOf(run.series, itemname);
  for (let walk = held.walk(run); walk?.next != null; walk = held.walk(run)) {
    const answer = await gateway.get<readonly ServedRecord[]>(path, walk.next, pageSchemas[run.series]);
    if (answer === undefined) return false;
    const floor_ms = (walk.floor_s ?? Number.NEGATIVE_INFINITY) * 1000;
    const received = answer.body.map((record) => rowOf(run.series, record));
    const rows = received.filter(([stamp_ms]) => stamp_ms >= floor_ms);
    held.add(run, rows, rows.length < received.length ? null : (answer.next ?? null));
    onPage(rows.length);
  }
  return true;
}

/**
 * Finds the newest second below which what is held is just what the server has: where both count the same, because
 * readings are added, and taken away only from the oldest on. The server passes over any number of readings at no
 * cost: asked for what stands before a second after passing over all but one of the readings held below it, it
 * answers with the oldest reading held, and with nothing of the span after it.
 */
async function sureBelow(options: Context): Promise<Sure | undefined> {
  const { held, run } = options;
  const [newest] = held.pages(run);
  if (newest === undefined) return {};
  const top_s = secondOf(newest.newest_ms) + 1;
  let whole = await holdsAllBelow(options, top_s, countOf(held.pages(run)));
  if (whole === false && (await followCleared(options))) {
    if (held.pages(run).length === 0) return {};
    whole = await holdsAllBelow(options, top_s, countOf(held.pages(run)));
  }
  if (whole === undefined) return undefined;
  if (whole) return { floor_s: top_s };
  const pages = held.pages(run);
  // Page `low` and those newer are not sure, page `high` and those older are.
  let [low, high] = [-1, pages.length];
  let found: Boundary | undefined;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const boundary = boundaryBelow(held, run, pages, middle);
    const sure =
      boundary === undefined ? true : await holdsAllBelow(options, boundary.before_s, boundary.count);
    if (sure === undefined) return undefined;
    if (sure) [high, found] = [middle, boundary];
    else low = middle;
  }
  if (found === undefined) return { cut: {} };
  return { floor_s: found.before_s, cut: { boundary: found } };
}

/**
 * Where the server has cleared away the oldest of what is held: finds the second up to which it has, by halves, and
 * puts what it has of that second, and any that arrived late below, in the place of all that is held there.
 *
 * @returns whether anything of what is held was found to be gone
 */
async function followCleared(options: Context): Promise<boolean> {
  const { held, run } = options;
  const pages = held.pages(run);
  // Of both pages and rows the first is the newest: those before `low` the server has not cleared away whole.
  const firstCleared = async (stamps_ms: readonly number[]): Promise<number> => {
    let [low, high] = [0, stamps_ms.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const { body } = await rowsBelow(options, secondOf(stamps_ms[middle] ?? 0) + 1, 1);
      if (body.length > 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const stampsOf = (page: HeldPage) => held.rows(run, page).map(([stamp_ms]) => stamp_ms);
  const oldest = pages.at(-1);
  if (oldest === undefined) return false;
  const oldest_ms = stampsOf(oldest).at(-1) ?? 0;
  if ((await firstCleared([oldest_ms])) > 0) return false;
  const after = await firstCleared(pages.map(({ newest_ms }) => newest_ms));
  const partly = pages[after - 1];
  if (partly === undefined) {
    held.cut(run);
    return true;
  }
  const stamps_ms = stampsOf(partly);
  const last_ms = stamps_ms[(await firstCleared(stamps_ms)) - 1] ?? 0;
  const before_s = secondOf(last_ms) + 1;
  const there = await rowsBelow(options, before_s, page_max);
  const place = placeBelow(held, run, pages, before_s);
  // Never as many in a second: where they are, the search from the newest on finds what differs.
  if (there.more || place === undefined) return false;
  held.replaceBelow(run, place, there.body);
  return true;
}

/** The newest readings of the span that the server has before a second, at most `limit`, and whether it has more. */
async function rowsBelow(
  { gateway, run, itemname, span }: Context,
  before_s: number,
  limit: number,
): Promise<{ body: HeldRow[]; more: boolean }> {
  const query = `?before=${before_s}&limit=${limit}&precision=ms`;
  const answer = await gateway.get<readonly ServedRecord[]>(
    pathOf(run.series, itemname),
    query,
    pageSchemas[run.series],
  );
  const since_ms = (span.since_s ?? Number.NEGATIVE_INFINITY) * 1000;
  const rows = (answer?.body ?? []).map((record) => rowOf(run.series, record));
  return { body: rows.filter(([stamp_ms]) => stamp_ms >= since_ms), more: rows.length >= limit };
}

/** Whether the server has exactly `count` readings of the span before a second; undefined where it has no such item. */
async function holdsAllBelow(
  { gateway, held, run, itemname, span }: Context,
  before_s: number,
  count: number,
): Promise<boolean | undefined> {
  const query = `?before=${before_s}&skip=${count - 1}&limit=2&precision=ms`;
  const answer = await gateway.get<readonly ServedRecord[]>(
    pathOf(run.series, itemname),
    query,
    pageSchemas[run.series],
  );
  if (answer === undefined) return undefined;
  const [last, beyond] = answer.body.map((record) => rowOf(run.series, record));
  const oldest = held.pages(run).at(-1);
  const expected = oldest === undefined ? undefined : held.rows(run, oldest).at(-1);
  const outside = beyond === undefined || beyond[0] < (span.since_s ?? Number.NEGATIVE_INFINITY) * 1000;
  return outside && JSON.stringify(last) === JSON.stringify(expected);
}

/** The first row from a page on that lies in an older second than the page's newest: a boundary between seconds. */
function boundaryBelow(
  held: HeldReadings,
  run: Run,
  pages: readonly HeldPage[],
  start: number,
): Boundary | undefined {
  const before_s = secondOf(pages[start]?.newest_ms ?? 0);
  const place = placeBelow(held, run, pages.slice(start), before_s);
  if (place === undefined) return undefined;
  return { place, before_s, count: countOf(pages.slice(pages.indexOf(place.page))) - place.from };
}

/** The newest row held before a second. */
function placeBelow(
  held: HeldReadings,
  run: Run,
  pages: readonly HeldPage[],
  before_s: number,
): Place | undefined {
  for (const [at, page] of pages.entries()) {
    // Rows of a page are at least as new as the newest of the page after it.
    const after = pages[at + 1];
    if (after !== undefined && after.newest_ms >= before_s * 1000) continue;
    const from = held.rows(run, page).findIndex(([stamp_ms]) => stamp_ms < before_s * 1000);
    if (from !== -1) return { page, from };
  }
  return undefined;
}

function countOf(pages: readonly HeldPage[]): number {
  return pages.reduce((sum, { count }) => sum + count, 0);
}

function secondOf(stamp_ms: number): number {
  return Math.floor(stamp_ms / 1000);
}

/** The records of a page as they are served, a schema for each series. */
const pageSchemas = Object.fromEntries(
  seriesNames.map((series) => {
    const fields = Object.entries(seriesOf(series).fields).map(([name, { schema }]) => [name, schema]);
    return [series, Type.Array(Type.Object({ stamp: Type.Integer(), ...Object.fromEntries(fields) }))];
  }),
) as unknown as Readonly<Record<SeriesName, TSchema>>;

function pathOf(series: SeriesName, itemname: string): string {
  const { kind, path } = seriesOf(series);
  return `/items/${kind}/${encodeURIComponent(itemname)}/${path}`;
}

function rowOf(series: SeriesName, record: ServedRecord): HeldRow {
  const values = Object.keys(seriesOf(series).fields).map((name) => record[name] ?? null);
  return [record.stamp, ...values];
}

type Context = Parameters<typeof bringUpToDate>[0];

type ServedRecord = Readonly<Record<string, Value>> & { readonly stamp: number };

interface Sure {
  /** Below this second nothing is missing; undefined where nothing is held that is sure. */
  readonly floor_s?: number;
  /** What has to be walked again: all that is newer than the boundary, or everything. */
  readonly cut?: { readonly boundary?: Boundary };
}

interface Boundary {
  readonly place: Place;
  readonly before_s: number;
  /** Readings held below `before_s`. */
  readonly count: number;
}

const page_max = 1000;
