import { Type } from "@sinclair/typebox";
import { KeptAcceptance } from "../../domain/acceptance.ts";
import type { Item } from "../../domain/records/item.ts";
import type { HomeInventory } from "../../domain/records/programme-records.ts";
import { recordTable } from "../../domain/records/record-table.ts";
import { type SeriesName, seriesOf } from "../../domain/series.ts";
import type { PageRequest, SeriesRecord } from "../../store/store.ts";
import type { VisibleStore } from "../../store/visible-store.ts";
import { HttpError } from "../server/http-errors.ts";
import { after, before, type Endpoint, endpoint, limit, precision, skip } from "./endpoint.ts";
import { idOf, isElsewhere, requireHome, requireRecord } from "./record-endpoints.ts";
import { seriesRecord, windowOf } from "./series-endpoint.ts";

/** Endpoints of one home: its inventory and the series sensed in it. */
export const homeEndpoints: readonly Endpoint[] = [
  endpoint({
    name: "home_inventory",
    template: "/homes/{id}/inventory/",
    summary: "Items of a home, with the time for which each is or was there",
    area: "Homes",
    since: recordTable.home_inventory.since,
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({}),
    response: Type.Array(recordTable.home_inventory.schema),
    refusals: ["record_unknown"],
    handle: async ({ store, path }) => {
      await requireRecord(store, "homes", path.id);
      return { body: await placementsIn(store, path.id) };
    },
  }),
  endpoint({
    name: "notes",
    template: "/homes/{id}/notes/",
    summary: "Notes on time of a home, such as visitors and stays in hospital, newest first",
    area: "Homes",
    since: recordTable.notes.since,
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({ skip, limit, before, after }),
    response: Type.Array(recordTable.notes.schema),
    refusals: ["record_unknown"],
    handle: async (call) => {
      const { store, path, query } = call;
      await requireHome(call);
      const { before = Number.POSITIVE_INFINITY, after = Number.NEGATIVE_INFINITY, skip, limit } = query;
      const notes = await store.recordsOf("notes", path.id);
      const asked = notes.filter(({ start }) => start < before && start > after).reverse();
      const body = asked.slice(skip, skip + limit);
      if (asked.length <= skip + limit) return { body };
      return { body, next: { before: query.before, after: query.after, skip: skip + limit, limit } };
    },
  }),
  homeEvents("wirelesssensor_events"),
  endpoint({
    name: "home_acceptances",
    template: "/homes/{id}/acceptances/",
    summary: "Signed records of the installation of a home, newest first",
    area: "Homes",
    since: "0.9",
    cost: "heavy",
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({}),
    response: Type.Array(KeptAcceptance),
    refusals: ["record_unknown"],
    handle: async (call) => {
      const { store, path, acceptancesOf, settingOf } = call;
      const isSeen = store.homes === undefined || store.homes.includes(path.id);
      const isHere = isSeen && !isElsewhere(await settingOf?.(path.id), path.id);
      const body = isHere ? ((await acceptancesOf?.(path.id)) ?? []) : [];
      // A home that was accepted is known, whether the programme has a record of it or not.
      if (body.length === 0) await requireHome(call);
      return { body };
    },
  }),
];

/** A series of all items of a home: for each stay of an item in it, what the item recorded meanwhile. */
function homeEvents(series: SeriesName): Endpoint {
  const { kind, path: word, title } = seriesOf(series);
  return endpoint({
    name: `home_${series}`,
    template: `/homes/{id}/${kind}/${word}`,
    summary: `${title} of a home, for each item newest first`,
    area: "Homes",
    since: "0.9",
    cost: "heavy",
    path: Type.Object({ id: idOf("homes") }),
    query: Type.Object({ skip, limit, before, after, precision }),
    response: Type.Array(
      Type.Object(
        {
          itemname: Type.String({ description: "an item of the home; twice where it left and came back" }),
          events: Type.Array(seriesRecord(seriesOf(series)), {
            description: "what it recorded there: skip, limit, before and after hold for each item",
          }),
        },
        { title: "Home events" },
      ),
    ),
    refusals: ["record_unknown"],
    handle: async ({ store, path, query, now_ms }) => {
      await requireRecord(store, "homes", path.id);
      const stays = (await placementsIn(store, path.id)).filter(({ item }) => item.typename === kind);
      const bound = Math.floor(records_max / Math.max(1, stays.length));
      if (query.limit > bound)
        throw new HttpError("parameter_malformed", {
          parameter: "limit",
          expected: `an integer from 1 to ${bound}, because ${stays.length} items are asked at once`,
        });
      const window = windowOf(query, now_ms);
      const body = [];
      for (const stay of stays) {
        const events = await eventsDuring(store, stay, { ...query, ...window, series });
        body.push({ itemname: stay.item.itemname, events });
      }
      return { body };
    },
  });
}

/** A page of what an item recorded during a stay. */
async function eventsDuring(
  store: VisibleStore,
  { homeid, item, start, stop }: HomeInventory,
  page: Omit<PageRequest, "item">,
): Promise<readonly SeriesRecord[]> {
  const { series, from_ms, before_ms } = page;
  const stored = await store.item(seriesOf(series).kind, item.itemname);
  // Only where an import gave it another name a moment ago.
  if (stored === undefined) return [];
  const { records } = await store.page({
    ...page,
    item: stored.key,
    homes: [homeid],
    from_ms: Math.max(from_ms ?? 0, (start ?? 0) * 1000),
    before_ms: stop === null ? before_ms : Math.min(before_ms, stop * 1000),
  });
  return records;
}

/**
 * The stays of items in a home: those that the programme has records of, then those of items that are there now
 * without one.
 */
async function placementsIn(store: VisibleStore, homeid: number): Promise<HomeInventory[]> {
  const recorded = await store.recordsOf("home_inventory", homeid);
  const present = new Set(recorded.filter(({ stop }) => stop === null).map(({ item }) => item.itemid));
  const unrecorded = (await store.itemsIn(homeid)).filter(({ itemid }) => !present.has(itemid));
  const startOf = (item: Item) => item.currenthomestart ?? lastStop(recorded, item);
  return [...recorded, ...unrecorded.map((item) => ({ homeid, item, start: startOf(item), stop: null }))];
}

/** When an item was last taken out of the home; null where it never was. What it recorded until then is of that stay. */
function lastStop(stays: readonly HomeInventory[], { itemid }: Item): number | null {
  const stops = stays.flatMap(({ item, stop }) => (item.itemid === itemid && stop !== null ? [stop] : []));
  return stops.length === 0 ? null : Math.max(...stops);
}

/** Records in one answer, all items together. */
const records_max = 250_000;
