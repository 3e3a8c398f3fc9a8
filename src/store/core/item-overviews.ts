import type { Kind } from "../../kinds.ts";
import type { Item } from "../../records/items.ts";
import type { SeriesName } from "../../series.ts";
import { cadenceOf } from "../cadence.ts";
import type { Stray } from "../central-store.ts";
import type { ItemOverview } from "../store.ts";
import { overdueItems } from "./coverage-reads.ts";
import type { Homes } from "./homes.ts";
import { between } from "./ranks.ts";
import { newestBetween } from "./readings.ts";
import { runsOf, stayed } from "./run.ts";
import { always } from "./stays.ts";
import { arrays, objects, rowsOf, rowsOfAll, type Work } from "./work.ts";

/** Overviews of all items, in order of type and itemid. To be read in one snapshot. */
export function* itemOverviews(homes: Homes): Work<ItemOverview[]> {
  const overdue = yield* overdueItems();
  const [rows, whole] = yield* rowsOfAll(
    objects<ItemRow>(
      `SELECT key, record, provisional, heard_ms, battery_percent, battery_mv, linkquality,
         coalesce(gaps, 0) AS gaps, coalesce(lost, 0) AS lost
       FROM items
         LEFT JOIN (
           SELECT stays.item, heard_ms, battery_percent, battery_mv, linkquality,
             row_number() OVER (PARTITION BY stays.item ORDER BY from_ms DESC) AS place
           FROM ${stayed} JOIN stream_states ON stream_states.stream = streams.key
         ) AS states ON states.item = key AND place = 1
         LEFT JOIN (
           SELECT stays.item, count(*) AS gaps, sum(lost) AS lost
           FROM ${stayed} JOIN gaps ON gaps.stream = streams.key AND to_ms >= stays.from_ms AND gaps.from_ms < before_ms
           GROUP BY stays.item
         ) AS missed ON missed.item = key
       ORDER BY typename, itemid`,
    ),
    objects<SeriesTotal>(
      `SELECT stays.item, series, total AS count, newest_stamp AS newest_ms
       FROM ${stayed} JOIN totals ON totals.stream = streams.key
       WHERE ${isWhole} ORDER BY stays.item, series`,
    ),
  );
  const totals = [...whole, ...(yield* partTotals(homes))];
  const series = Map.groupBy(totals, ({ item }) => item);
  return rows.map(({ key, record, provisional, gaps, lost, ...states }) => {
    const item = JSON.parse(record) as Item;
    const known = Object.entries(states).filter(([, value]) => value !== null);
    return {
      record: item,
      provisional: Boolean(provisional),
      ...Object.fromEntries(known),
      expected_ms: cadenceOf(item.typename as Kind, item.subtypename).expected_ms,
      overdue: overdue.has(key),
      gaps,
      lost,
      series: (series.get(key) ?? []).map(({ item: _, ...total }) => total),
    };
  });
}

/** The item has lived in one home only, by all that is known. */
const isWhole = `from_ms = ${always.from_ms} AND before_ms = ${always.before_ms}`;

/** The totals of items that have lived in several homes, or live nowhere any more: counted stay by stay. */
function* partTotals(homes: Homes): Work<SeriesTotal[]> {
  const parted = yield* rowsOf(
    arrays<[item: number, series: SeriesName]>(
      `SELECT DISTINCT stays.item, series FROM ${stayed} JOIN totals ON totals.stream = streams.key
       WHERE NOT (${isWhole}) ORDER BY stays.item, series`,
    ),
  );
  const totals: SeriesTotal[] = [];
  for (const [item, series] of parted) {
    let count = 0;
    let newest_ms = 0;
    for (const run of yield* runsOf(homes, { series, item })) {
      count += yield* between(run, run.from_ms, run.before_ms);
      newest_ms = Math.max(newest_ms, yield* newestBetween(run, run));
    }
    totals.push({ item, series, count, newest_ms });
  }
  return totals;
}

/** See `CentralStore.strays`. */
export function* strays(homes: Homes): Work<Stray[]> {
  const rows = yield* rowsOf(
    objects<StrayRow>(
      `SELECT streams.key AS stream, streams.home, streams.item, record,
         EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home) AS lived
       FROM streams JOIN items ON items.key = streams.item
       WHERE NOT EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home AND ${isWhole})
       ORDER BY streams.home, items.itemid`,
    ),
  );
  const held = yield* rowsOf(
    objects<StreamTotal>(
      "SELECT stream, series, total, newest_stamp AS newest_ms FROM totals WHERE stream = ANY ($1::bigint[]) ORDER BY stream, series",
      rows.map(({ stream }) => stream),
    ),
  );
  const totals = Map.groupBy(held, ({ stream }) => stream);
  const strays = rows.flatMap((row) => (totals.get(row.stream) ?? []).map((total) => ({ ...row, ...total })));
  const found = new Map<string, Stray>();
  for (const { home, item, record, series, total, newest_ms, lived } of strays) {
    let readings = total;
    // Most have never lived there.
    if (lived)
      for (const run of yield* runsOf(homes, { series, item, homes: [home] }))
        readings -= yield* between(run, run.from_ms, run.before_ms);
    if (readings === 0) continue;
    const name = `${home} ${item}`;
    const before = found.get(name) ?? { home, record: JSON.parse(record) as Item, readings: 0, newest_ms: 0 };
    found.set(name, {
      ...before,
      readings: before.readings + readings,
      newest_ms: Math.max(before.newest_ms, newest_ms),
    });
  }
  return [...found.values()];
}

interface StrayRow {
  readonly stream: number;
  readonly home: number;
  readonly item: number;
  readonly record: string;
  /** On SQLite 0 or 1. */
  readonly lived: boolean | number;
}

interface StreamTotal {
  readonly stream: number;
  readonly series: SeriesName;
  readonly total: number;
  readonly newest_ms: number;
}

interface ItemRow {
  readonly key: number;
  readonly record: string;
  /** On SQLite 0 or 1. */
  readonly provisional: boolean | number;
  readonly heard_ms: number | null;
  readonly battery_percent: number | null;
  readonly battery_mv: number | null;
  readonly linkquality: number | null;
  readonly gaps: number;
  readonly lost: number;
}

interface SeriesTotal {
  readonly item: number;
  readonly series: SeriesName;
  readonly count: number;
  readonly newest_ms: number;
}
