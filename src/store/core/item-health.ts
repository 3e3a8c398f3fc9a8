import { coin_cell_low_mv, low_percent } from "../../battery.ts";
import { silence_least_ms } from "../cadence.ts";
import type { ItemHealth } from "../central-store.ts";
import type { ItemState } from "../store.ts";
import type { Homes } from "./homes.ts";
import {
  type ItemPlacement,
  type OverviewRow,
  placementsText,
  statesOf,
  withRecords,
} from "./item-overviews.ts";
import { placedStreams } from "./run.ts";
import { objects, rowsOfAll, type Statement, type Work } from "./work.ts";

/** See `CentralStore.itemHealth`. Of the many items that are well nothing is read but their number. */
export function* itemHealth(homes: Homes, of?: readonly number[]): Work<ItemHealth> {
  const [counts, doubtful] = yield* rowsOfAll(itemsCounted(of), itemsInDoubt(of));
  const keys = doubtful.map(({ item }) => item);
  const [rows, stays] = yield* rowsOfAll(itemsOf(keys), staysOfKeys(keys, of));
  return {
    items: new Map(counts.map(({ home, items }) => [home, items])),
    doubtful: yield* statesOf(homes, withRecords(rows, stays), of),
  };
}

/** See `Store.itemState`. To be read at one moment. */
export function* itemState(homes: Homes, key: number, of?: readonly number[]): Work<ItemState | undefined> {
  const [rows, stays] = yield* rowsOfAll(itemsOf([key]), staysOfKeys([key], of));
  return (yield* statesOf(homes, withRecords(rows, stays), of))[0];
}

function itemsOf(keys: readonly number[]): Statement<OverviewRow> {
  return objects(
    "SELECT key, record, provisional FROM items WHERE key = ANY ($1::bigint[]) ORDER BY typename, itemid",
    keys,
  );
}

function staysOfKeys(keys: readonly number[], of: readonly number[] | undefined): Statement<ItemPlacement> {
  if (of === undefined) return objects(placementsText("WHERE stays.item = ANY ($1::bigint[])"), keys);
  return objects(
    placementsText("WHERE stays.item = ANY ($1::bigint[]) AND stays.home = ANY ($2::bigint[])"),
    keys,
    of,
  );
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
