import type { Item } from "../../domain/records/item.ts";
import { arrays, change, put, rowsOf, type Work } from "../database.ts";
import type { Homes } from "./homes.ts";
import { numberIn, recordsWith } from "./records.ts";

/** A time in which an item lived in a home, unix milliseconds, the end not included. */
export interface Placement {
  readonly home: number;
  readonly from_ms: number;
  readonly before_ms: number;
}

/** Since ever and for ever. */
export const always = { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER } as const;

export function putPlacements(stays: readonly (Placement & { readonly item: number })[]): Work<void> {
  return put({
    put: "stays",
    columns: { item: "bigint", from_ms: "bigint", before_ms: "bigint", home: "bigint" },
    rows: stays.map(({ item, from_ms, before_ms, home }) => [item, from_ms, before_ms, home]),
    conflict: "",
  });
}

/** The table of the items whose stays an import may change. */
export const movedItems = "CREATE TEMP TABLE moved_items (key BIGINT PRIMARY KEY)";

/** Makes the stays of the items that an import changes or names anew, from the records as they are now; at a gateway every item lives in its home. */
export function* renewPlacements(homes: Homes): Work<void> {
  yield* change(findMoved);
  yield* change("ANALYZE moved_items");
  let after = 0;
  for (;;) {
    const items = yield* rowsOf(arrays<[key: number, record: string]>(nextMoved, after));
    if (items.length === 0) return;
    const keys = items.map(([key]) => key);
    const read = items.map(([key, text]) => ({ key, item: JSON.parse(text) as Item }));
    const recorded = homes.one ? new Map() : yield* recordedStays(read.map(({ item }) => item.itemid));
    yield* change("DELETE FROM stays WHERE item = ANY ($1::bigint[])", keys);
    yield* putPlacements(
      read.flatMap(({ key, item }) => {
        const stays = homes.one
          ? [{ home: 0, ...always }]
          : placementsIn(item, recorded.get(item.itemid) ?? []);
        return stays.map((stay) => ({ item: key, ...stay }));
      }),
    );
    yield* settleUnplaced(keys);
    after = keys.at(-1) as number;
  }
}

/** Has items that the inventory puts nowhere live in the home that heard them first. */
export function* settleUnplaced(items: readonly number[]): Work<void> {
  yield* change(
    `INSERT INTO stays (item, from_ms, before_ms, home)
     SELECT item, ${always.from_ms}, ${always.before_ms}, home FROM streams
     WHERE key IN (SELECT min(key) FROM streams WHERE item = ANY ($1::bigint[]) GROUP BY item)
       AND NOT EXISTS (SELECT 1 FROM stays WHERE stays.item = streams.item)`,
    items,
  );
}

/** A record of the inventory of a home, times in unix seconds. */
export interface RecordedPlacement {
  readonly homeid: number;
  readonly item: number;
  readonly start: number | null;
  readonly stop: number | null;
}

/**
 * The stays of an item, by the records of the homes' inventories and by its own: the home that it is in now counts from `currenthomestart` on, or since it
 * was last taken out of any, unless a record says that it is there. A stay ends where the next one begins. The first reaches back to ever, because a
 * device is often heard before it is written down.
 */
export function placementsIn(item: Item, recorded: readonly RecordedPlacement[]): Placement[] {
  const { currenthomeid, currenthomestart } = item;
  const said = recorded.map(({ homeid, start, stop }) => ({ home: homeid, start: start ?? 0, stop }));
  const isThere = said.some(({ home, stop }) => home === currenthomeid && stop === null);
  said.sort((one, other) => one.home - other.home);
  if (currenthomeid !== null && !isThere) {
    const stops = said.flatMap(({ stop }) => stop ?? []);
    said.push({ home: currenthomeid, start: currenthomestart ?? Math.max(0, ...stops), stop: null });
  }
  // The sort keeps the order of what begins at once, so that the home of the item's own record comes last.
  said.sort((one, other) => one.start - other.start);
  const stays = said.map(({ home, start, stop }, place) => {
    const next_ms = (said[place + 1]?.start ?? Number.POSITIVE_INFINITY) * 1000;
    const stop_ms = stop === null ? always.before_ms : stop * 1000;
    return {
      home,
      from_ms: place === 0 ? 0 : Math.max(0, start * 1000),
      before_ms: Math.min(stop_ms, next_ms),
    };
  });
  return stays.filter(({ from_ms, before_ms }) => from_ms < before_ms);
}

function* recordedStays(itemids: readonly number[]): Work<Map<number, RecordedPlacement[]>> {
  const stays = yield* recordsWith("home_inventory", "item", itemids);
  return Map.groupBy(stays as readonly unknown[] as readonly RecordedPlacement[], ({ item }) => item);
}

const findMoved = `
  INSERT INTO moved_items (key)
  SELECT key FROM items WHERE NOT provisional AND itemid IN (
    SELECT itemid FROM matched_items WHERE change <> 'unchanged'
    UNION ALL SELECT ${numberIn("item")} FROM staged_records WHERE type = 'home_inventory')`;
const nextMoved = `
  SELECT items.key, record FROM moved_items AS moved JOIN items ON items.key = moved.key
  WHERE moved.key > $1 ORDER BY moved.key LIMIT 1000`;
