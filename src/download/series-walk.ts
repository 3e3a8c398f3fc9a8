import { type TSchema, Type } from "@sinclair/typebox";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../series.ts";
import type { Gateway } from "./gateway.ts";
import type { HeldPage, HeldReadings, HeldRow, Run } from "./held-readings.ts";

/** Whole unix seconds: from `since_s`, and below `until_s`. */
export interface Span {
  readonly since_s?: number;
  readonly until_s?: number;
}

/**
 * Brings what is held of a series of an item up to the server: afterwards every reading of the span that was on
 * the server's disk when this was called is held exactly once, whatever was held before.
 *
 * A walk that was interrupted is finished first. Then one request tells whether anything has arrived late below
 * the newest reading held, and if so a search by halves finds below which page nothing has: see `sureBelow`. What
 * is newer than that is let go of, and walked again.
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
  if (sure.cut !== undefined) held.cut(run, sure.cut.place);
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
 * Finds the newest second below which what is held is all that the server has. Readings are only ever added, so
 * that is so where both count the same. The server passes over any number of readings at no cost: asked for what
 * stands before a second after passing over all but one of the readings held below it, it answers with the oldest
 * reading held, and with nothing of the span after it.
 */
async function sureBelow(options: Context): Promise<Sure | undefined> {
  const { held, run } = options;
  const pages = held.pages(run);
  const [newest] = pages;
  if (newest === undefined) return {};
  const total = pages.reduce((sum, { count }) => sum + count, 0);
  const top_s = Math.floor(newest.newest_ms / 1000) + 1;
  const whole = await holdsAllBelow(options, top_s, total);
  if (whole === undefined) return undefined;
  if (whole) return { floor_s: top_s };
  // Page `low` and those newer are not sure, page `high` and those older are.
  let [low, high] = [-1, pages.length];
  let found: Place | undefined;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    const place = placeBelow(held, run, pages, middle);
    const sure = place === undefined ? true : await holdsAllBelow(options, place.before_s, place.count);
    if (sure === undefined) return undefined;
    if (sure) [high, found] = [middle, place];
    else low = middle;
  }
  if (found === undefined) return { cut: {} };
  return { floor_s: found.before_s, cut: { place: found } };
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
function placeBelow(
  held: HeldReadings,
  run: Run,
  pages: readonly HeldPage[],
  start: number,
): Place | undefined {
  const before_s = Math.floor((pages[start]?.newest_ms ?? 0) / 1000);
  for (let at = start; at < pages.length; at += 1) {
    const page = pages[at] as HeldPage;
    const from = held.rows(run, page).findIndex(([stamp_ms]) => stamp_ms < before_s * 1000);
    if (from === -1) continue;
    const count = pages.slice(at).reduce((sum, older) => sum + older.count, -from);
    return { page, from, before_s, count };
  }
  return undefined;
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
  /** What has to be let go of: all that is newer than the place, or everything. */
  readonly cut?: { readonly place?: Place };
}

interface Place {
  readonly page: HeldPage;
  readonly from: number;
  readonly before_s: number;
  /** Readings held below `before_s`. */
  readonly count: number;
}

const page_max = 1000;
