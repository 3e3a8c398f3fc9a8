import { type DatedFacts, historyAfter } from "../../domain/device-facts.ts";
import { coin_cell_low_mv, type Kind, low_percent } from "../../domain/kinds.ts";
import { type Item, itemStatus } from "../../domain/records/item.ts";
import { nowhere } from "../../domain/records/visible-records.ts";
import type { SeriesName } from "../../domain/series.ts";
import type { FirmwareOfModel, ItemHealth, UnplacedReadings } from "../central/central-store.ts";
import { objects, reach, rowsOf, rowsOfAll, type Statement, type Work, withoutNulls } from "../database.ts";
import { BlockLists, between } from "../series/block-lists.ts";
import { cadenceOf, silence_least_ms } from "../series/coverage-intervals.ts";
import { type LatestPlacement, overdueItems } from "../series/coverage-reads.ts";
import { newestBetween } from "../series/readings.ts";
import {
  type ItemSeriesRequest,
  placedSeriesOf,
  placedStreams,
  type StreamPlacement,
} from "../series/streams.ts";
import type { ItemOverview, ItemState } from "../store.ts";
import { replacedIn } from "./given-names.ts";
import type { Homes } from "./homes.ts";
import { namesOfHomes } from "./naming.ts";
import { always, type Placement } from "./placements.ts";
import { stayedIn } from "./records.ts";

/**
 * Overviews of items, in order of type and itemid; `of`: only of those that live in one of these homes now, with what these homes have sent. To be read in
 * one snapshot. Tables that a cluster spreads are read by themselves.
 */
export function* itemOverviews(homes: Homes, of?: readonly number[]): Work<ItemOverview[]> {
  const living = yield* itemsWithStays(of);
  yield* reach(of ?? []);
  const series = yield* totalsOf(homes, living.stays, of);
  const missed = yield* missedOf(living.stays, of);
  const states = yield* statesOf(homes, living, of);
  return living.rows.map(({ key }, place) => ({
    ...(states[place] as ItemState),
    ...(missed.get(key) ?? nothingMissed),
    series: series.get(key) ?? [],
  }));
}

/** Items, their records by key, and their stays, the earliest of each first. */
interface ItemsWithStays {
  readonly rows: readonly OverviewRow[];
  readonly items: ReadonlyMap<number, Item>;
  readonly stays: readonly ItemPlacement[];
}

function* itemsWithStays(of: readonly number[] | undefined): Work<ItemsWithStays> {
  // Whoever sees what lives nowhere sees what has left a home, too.
  const living = of?.includes(nowhere)
    ? `true${stayedIn(of, "$1")}`
    : `key IN (SELECT item FROM stays WHERE home = ANY ($1::bigint[]) AND before_ms = ${always.before_ms})`;
  const [rows, stays] = yield* rowsOfAll(
    of === undefined ? itemRows() : itemRows(living, of),
    of === undefined ? itemPlacements() : itemPlacements("stays.home = ANY ($1::bigint[])", of),
  );
  return withRecords(rows, stays);
}

/** Some items, with their stays in some homes; absent: in all. */
function* itemsOf(keys: readonly number[], of: readonly number[] | undefined): Work<ItemsWithStays> {
  const [rows, stays] = yield* rowsOfAll(itemRows("key = ANY ($1::bigint[])", keys), placementsOf(keys));
  return withRecords(rows, inHomes(stays, of));
}

function withRecords(rows: readonly OverviewRow[], all: readonly ItemPlacement[]): ItemsWithStays {
  const items = new Map(rows.map(({ key, record }) => [key, JSON.parse(record) as Item]));
  return { rows, items, stays: all.filter(({ item }) => items.has(item)) };
}

/** Items that a condition leaves. */
function itemRows(condition = "true", ...given: (readonly number[])[]): Statement<OverviewRow> {
  return objects(
    `SELECT key, record, provisional FROM items WHERE ${condition} ORDER BY typename, itemid`,
    ...given,
  );
}

/** The stays of some items. Both tables are told the items: PostgreSQL would read all streams otherwise. */
export function placementsOf(keys: readonly number[]): Statement<ItemPlacement> {
  return itemPlacements("stays.item = ANY ($1::bigint[]) AND streams.item = ANY ($1::bigint[])", keys);
}

/** Those of them in some homes; absent: in all. Asked of PostgreSQL, both lists would be looked up beside each other. */
export function inHomes(
  stays: readonly ItemPlacement[],
  of: readonly number[] | undefined,
): readonly ItemPlacement[] {
  if (of === undefined) return stays;
  const homes = new Set(of);
  return stays.filter(({ home }) => homes.has(home));
}

/** The stays that a condition leaves, the earliest of each item first, with what was last learned of their devices in each. */
function itemPlacements(condition = "true", ...given: (readonly number[])[]): Statement<ItemPlacement> {
  return objects(
    `SELECT stays.item, streams.key AS stream, stays.home, streams.address, from_ms, before_ms, states.first_ms, heard_ms, listener, last_ms,
      battery_percent, battery_mv, linkquality, facts
    FROM ${placedStreams} LEFT JOIN stream_states AS states ON states.stream = streams.key
      LEFT JOIN listeners ON listeners.home = states.home AND name = listener
    WHERE ${condition} ORDER BY stays.item, from_ms`,
    ...given,
  );
}

/** States of items; `of`: the homes that are asked for. Of all homes it is looked up what was replaced in those where something is silent. */
export function* statesOf(
  homes: Homes,
  { rows, items, stays }: ItemsWithStays,
  of: readonly number[] | undefined,
): Work<ItemState[]> {
  const overdue = yield* overdueItems(stays.flatMap((stay) => latestStay(stay, items)));
  const inDoubt = stays.filter(({ item }) => overdue.has(item)).map(({ home }) => home);
  const names = yield* namesOfHomes(homes, of ?? [...new Set(inDoubt)], "replaced");
  const homeOf = new Map(stays.map(({ item, home }) => [item, homes.one ? 0 : home]));
  const heard = Map.groupBy(stays.filter(isHeard), ({ item }) => item);
  return rows.map(({ key, provisional }) => {
    const item = items.get(key) as Item;
    const ofItem = heard.get(key) ?? [];
    const latest = ofItem.at(-1);
    const replaced = replacedIn(names.get(homeOf.get(key) ?? 0) ?? [], item);
    return {
      record: item,
      provisional: Boolean(provisional),
      ...(latest === undefined ? {} : stateOf(latest, ofItem)),
      expected_ms: cadenceOf(item.typename as Kind, item.subtypename).expected_ms,
      overdue: overdue.has(key) && replaced === undefined,
      ...(replaced && { replaced }),
    };
  });
}

/** The stay is all the time that there is. */
function isWhole({ from_ms, before_ms }: Pick<Placement, "from_ms" | "before_ms">): boolean {
  return from_ms === always.from_ms && before_ms === always.before_ms;
}

const isHeard = (stay: ItemPlacement): stay is HeardItemPlacement => stay.heard_ms !== null;

/** Of an item that is decommissioned none: nobody misses it. */
function latestStay(stay: ItemPlacement, items: ReadonlyMap<number, Item>): LatestPlacement[] {
  if (!isHeard(stay) || stay.before_ms !== always.before_ms) return [];
  const { typename, subtypename, statusname, itemid } = items.get(stay.item) as Item;
  if (statusname === itemStatus.decommissioned.statusname) return [];
  return [{ ...stay, kind: typename as Kind, subtype: subtypename, itemid }];
}

/** Of the latest stay in which it was heard; what the device was, of all. */
function stateOf(latest: HeardItemPlacement, stays: readonly HeardItemPlacement[]): DeviceStateKnown {
  const { heard_ms, listener, battery_percent, battery_mv, linkquality } = latest;
  const history = stays.reduce<readonly DatedFacts[]>(withStay, []);
  const known = history.length === 0 ? {} : { history };
  return { ...withoutNulls({ heard_ms, battery_percent, battery_mv, linkquality, listener }), ...known };
}

/** A history that goes on with what was told in a later stay. Nothing is older than what is kept of the device. */
function withStay(
  history: readonly DatedFacts[],
  { facts: text, first_ms, from_ms, before_ms }: HeardItemPlacement,
): readonly DatedFacts[] {
  const told: readonly DatedFacts[] = JSON.parse(text ?? "[]");
  return told
    .filter((one) => one.from_ms < before_ms)
    .toReversed()
    .reduce((kept, one) => historyAfter(kept, one.facts, Math.max(one.from_ms, first_ms, from_ms)), history);
}

/** A condition on a spread table and its parameters: rows are of these stays; of all where all homes are asked for. */
function ofStays(
  stays: readonly ItemPlacement[],
  homes: readonly number[] | undefined,
): [condition: string, ...given: (readonly number[])[]] {
  if (homes === undefined) return [""];
  return [
    "WHERE stream = ANY ($1::bigint[]) AND home = ANY ($2::bigint[])",
    stays.map(({ stream }) => stream),
    [...new Set(homes)],
  ];
}

/** Readings of items by series, by the totals of their streams: of items that have lived in several homes counted stay by stay. */
function* totalsOf(
  homes: Homes,
  stays: readonly ItemPlacement[],
  of: readonly number[] | undefined,
): Work<Map<number, SeriesTotal[]>> {
  const [condition, ...given] = ofStays(stays, of?.map(homes.of));
  const rows = yield* rowsOf(
    objects<StreamTotal>(
      `SELECT stream, series, total, newest_stamp AS newest_ms FROM totals ${condition} ORDER BY stream, series`,
      ...given,
    ),
  );
  const byStream = Map.groupBy(rows, ({ stream }) => stream);
  const found = new Map<number, SeriesTotal[]>();
  for (const [item, own] of Map.groupBy(stays, ({ item }) => item)) {
    const totals = own.flatMap(({ stream }) => byStream.get(stream) ?? []);
    if (own.every(isWhole))
      found.set(
        item,
        totals.map(({ series, total, newest_ms }) => ({ series, count: total, newest_ms })),
      );
    else {
      const names = [...new Set(totals.map(({ series }) => series))].sort();
      const parts: SeriesTotal[] = [];
      for (const series of names) parts.push(yield* partTotal(homes, { series, item, homes: of }));
      found.set(item, parts);
    }
  }
  return found;
}

function* partTotal(homes: Homes, of: ItemSeriesRequest): Work<SeriesTotal> {
  const lists = new BlockLists();
  let count = 0;
  let newest_ms = 0;
  for (const run of yield* placedSeriesOf(homes, of)) {
    count += yield* between(run, lists, run.from_ms, run.before_ms);
    newest_ms = Math.max(newest_ms, yield* newestBetween(run, run));
  }
  return { series: of.series, count, newest_ms };
}

/** Gaps and lost events of items, by their keys: as far as they lie in their stays. */
function* missedOf(
  stays: readonly ItemPlacement[],
  of: readonly number[] | undefined,
): Work<Map<number, Missed>> {
  const [condition, ...given] = ofStays(stays, of);
  const parts = stays.filter((stay) => !isWhole(stay));
  const whole = yield* rowsOf(
    objects<StreamMissed>(`SELECT stream, ${missedColumns} FROM gaps ${condition} GROUP BY stream`, ...given),
  );
  const partly = yield* rowsOfAll<Missed[]>(
    ...parts.map(({ stream, home, from_ms, before_ms }) =>
      objects<Missed>(
        `SELECT ${missedColumns} FROM gaps WHERE stream = $1 AND home = $2 AND to_ms >= $3 AND from_ms < $4`,
        ...[stream, home, from_ms, before_ms],
      ),
    ),
  );
  const byStream = new Map(whole.map((row) => [row.stream, row]));
  const byPart = new Map(parts.map((stay, place) => [stay, partly[place]?.[0]]));
  const found = new Map<number, Missed>();
  for (const stay of stays) {
    const before = found.get(stay.item) ?? nothingMissed;
    const { gaps, lost } = (isWhole(stay) ? byStream.get(stay.stream) : byPart.get(stay)) ?? nothingMissed;
    found.set(stay.item, { gaps: before.gaps + gaps, lost: before.lost + lost });
  }
  return found;
}

const missedColumns = "count(*) AS gaps, coalesce(sum(lost), 0) AS lost";
const nothingMissed: Missed = { gaps: 0, lost: 0 };

/** See `CentralStore.strays`. */
export function* unplacedReadings(homes: Homes): Work<UnplacedReadings[]> {
  const rows = yield* rowsOf(
    objects<StrayRow>(
      `SELECT streams.key AS stream, streams.home, streams.item, record,
         EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home) AS lived
       FROM streams JOIN items ON items.key = streams.item
       WHERE NOT EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item AND stays.home = streams.home
         AND from_ms = ${always.from_ms} AND before_ms = ${always.before_ms})
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
  const lists = new BlockLists();
  const found = new Map<string, UnplacedReadings>();
  for (const { home, item, record, series, total, newest_ms, lived } of strays) {
    let readings = total;
    // Most have never lived there.
    if (lived)
      for (const run of yield* placedSeriesOf(homes, { series, item, homes: [home] }))
        readings -= yield* between(run, lists, run.from_ms, run.before_ms);
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

interface OverviewRow {
  readonly key: number;
  readonly record: string;
  /** On SQLite 0 or 1. */
  readonly provisional: boolean | number;
}

/** A stay of an item in a home that has sent something of it; null is what its device has not told there. */
export interface ItemPlacement extends StreamPlacement {
  readonly item: number;
  readonly address: string;
  readonly first_ms: number | null;
  readonly heard_ms: number | null;
  readonly listener: string | null;
  readonly last_ms: number | null;
  readonly battery_percent: number | null;
  readonly battery_mv: number | null;
  readonly linkquality: number | null;
  readonly facts: string | null;
}

interface HeardItemPlacement extends ItemPlacement {
  readonly first_ms: number;
  readonly heard_ms: number;
}

type Missed = Pick<ItemOverview, "gaps" | "lost">;
type StreamMissed = Missed & { readonly stream: number };
type SeriesTotal = ItemOverview["series"][number];
type DeviceStateKnown = Pick<
  ItemOverview,
  "heard_ms" | "listener" | "battery_percent" | "battery_mv" | "linkquality" | "history"
>;

/** See `CentralStore.itemHealth`. Of the many items that are well nothing is read but their number. */
export function* itemHealth(homes: Homes, of?: readonly number[]): Work<ItemHealth> {
  const [counts, doubtful] = yield* rowsOfAll(itemsCounted(of), itemsInDoubt(of));
  const found = yield* itemsOf(
    doubtful.map(({ item }) => item),
    of,
  );
  return {
    items: new Map(counts.map(({ home, items }) => [home, items])),
    doubtful: yield* statesOf(homes, found, of),
  };
}

/** See `Store.itemState`. To be read at one moment. */
export function* itemState(homes: Homes, key: number, of?: readonly number[]): Work<ItemState | undefined> {
  return (yield* statesOf(homes, yield* itemsOf([key], of), of))[0];
}

/** See `CentralStore.firmware`. To be read at one moment. */
export function* firmwareIn(of?: readonly number[]): Work<FirmwareOfModel[]> {
  const text = (condition: string) => `SELECT stays.home, facts FROM ${placedStreams}
    JOIN stream_states AS states ON states.stream = streams.key
    WHERE before_ms = ${always.before_ms} AND facts IS NOT NULL ${condition}`;
  const rows = yield* rowsOf(
    of === undefined
      ? objects<FactsInHome>(text(""))
      : objects<FactsInHome>(text("AND stays.home = ANY ($1::bigint[])"), of),
  );
  const told = rows.flatMap(({ home, facts: history }) => {
    const [latest]: readonly DatedFacts[] = JSON.parse(history);
    const { firmware, datecode = null, model, description } = latest?.facts ?? {};
    return firmware === undefined ? [] : [{ home, model: model ?? description ?? "", firmware, datecode }];
  });
  const models = [...Map.groupBy(told, ({ model }) => model)].map(([model, devices]) => ({
    model,
    versions: [...Map.groupBy(devices, ({ firmware, datecode }) => `${firmware} ${datecode}`).values()]
      .map(versionOf)
      .sort((one, other) => other.devices - one.devices),
  }));
  const order = new Intl.Collator("en").compare;
  return models.sort(
    (one, other) => other.versions.length - one.versions.length || order(one.model, other.model),
  );
}

function versionOf(
  same: readonly { readonly home: number; readonly firmware: string; readonly datecode: string | null }[],
): FirmwareOfModel["versions"][number] {
  const { firmware = "", datecode = null } = same[0] ?? {};
  const homes = [...new Set(same.map(({ home }) => home))].sort((one, other) => one - other);
  return { firmware, datecode, devices: same.length, homes };
}

interface FactsInHome {
  readonly home: number;
  readonly facts: string;
}

function itemsCounted(of: readonly number[] | undefined): Statement<{ home: number; items: number }> {
  const text = (condition: string) =>
    `SELECT currenthomeid AS home, count(*) AS items FROM items WHERE ${condition} GROUP BY currenthomeid`;
  if (of === undefined) return objects(text("currenthomeid IS NOT NULL"));
  return objects(text("currenthomeid = ANY ($1::bigint[])"), of);
}

/** Keys of all items that are silent or have a low battery, and of some that are not: only their records tell. */
function itemsInDoubt(of: readonly number[] | undefined): Statement<{ item: number }> {
  const text = (streams: string, items: string) => `
    SELECT DISTINCT stays.item FROM ${placedStreams} JOIN items ON items.key = stays.item
    WHERE streams.key IN (
      SELECT stream FROM stream_states AS states LEFT JOIN listeners ON listeners.home = states.home AND name = listener
      WHERE ${streams} (heard_ms < last_ms - ${silence_least_ms}
        OR battery_percent <= ${low_percent} OR battery_mv <= ${coin_cell_low_mv}))
      AND ${items}`;
  if (of === undefined) return objects(text("", "currenthomeid IS NOT NULL"));
  const theirs = "IN (SELECT key FROM streams WHERE home = ANY ($1::bigint[]))";
  return objects(
    text(`stream ${theirs} AND`, `streams.key ${theirs} AND currenthomeid = ANY ($1::bigint[])`),
    of,
  );
}
