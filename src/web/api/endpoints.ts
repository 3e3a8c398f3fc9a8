import { Type } from "@sinclair/typebox";
import { Coverage } from "../../domain/coverage-record.ts";
import { DeviceRecord, deviceRecord } from "../../domain/device-facts.ts";
import { isKind, type Kind, kinds, recordingKinds } from "../../domain/kinds.ts";
import { EpochRecord } from "../../domain/reading.ts";
import { Item, ItemType } from "../../domain/records/item.ts";
import { type OwnerType, recordPaths } from "../../domain/records/record-table.ts";
import { seriesNames, seriesOf } from "../../domain/series.ts";
import { TokenScope } from "../../domain/token.ts";
import type { HomeSetting } from "../../store/derived/home-readings.ts";
import type { OwnerMarks } from "../../store/inventory/record-store.ts";
import type { CoverageInterval, ItemMarks } from "../../store/store.ts";
import { HttpError } from "../server/http-errors.ts";
import { derivedEndpoints } from "./derived-endpoints.ts";
import { derivedMarks } from "./derived-marks.ts";
import {
  after,
  before,
  type Endpoint,
  type EndpointAnswer,
  endpoint,
  itemname,
  limit,
  skip,
} from "./endpoint.ts";
import { homeEndpoints } from "./home-endpoints.ts";
import { recordEndpoints, requireItem } from "./record-endpoints.ts";
import { hasSeries, seriesEndpoint, windowOf } from "./series-endpoint.ts";

/** Which readings are here, by what identifies them everywhere: an addition, for downloads that can be repeated. */
export const epochsEndpoint = endpoint({
  name: "epochs",
  template: "/epochs",
  summary: "Epochs: how far the readings of each store that numbered some are here",
  area: "Time series",
  since: "0.9",
  path: Type.Object({}),
  query: Type.Object({}),
  response: Type.Array(EpochRecord),
  refusals: [],
  handle: async ({ store }) => ({
    body: (await store.heldEpochs()).map(({ epoch, home, first_seq, last_seq, erased }) => ({
      epoch,
      homeid: home,
      first: first_seq,
      last: last_seq,
      erased: erased.map(({ kind, itemid, from_ms, before_ms, at_ms }) => ({
        typename: kind,
        itemid,
        since: Math.floor(from_ms / 1000),
        until: Math.floor(before_ms / 1000),
        erased: Math.floor(at_ms / 1000),
      })),
    })),
  }),
});

const typename = Type.String({ description: "one of the type names that /items returns" });

/** Marks of answers that a client may hold: an addition, so that a download asks for what is new alone. */
const marksEndpoint = endpoint({
  name: "marks",
  template: "/marks/{typename}",
  summary: "Marks of items, subjects or homes, in order of their numbers: of which something is new",
  area: "Inventory",
  since: "0.9",
  path: Type.Object({
    typename: Type.String({
      description: "one of the type names that /items returns, `subjects` or `homes`",
    }),
  }),
  query: Type.Object({ skip, limit }),
  response: Type.Array(
    Type.Object(
      {
        path: Type.String({
          description:
            "of an item, subject or home, below the version: `/items/wirelesssensors/kitchen-wall`",
        }),
        marks: Type.Record(Type.String(), Type.String(), {
          description:
            "a mark for each answer below that path, by the rest of its path: `events`, `coverage`, `device`, `contacts/`. While it is the same text, the " +
            "answer is the same; but a series may have lost its oldest records. A series without a mark has no records. `derived/all` has a mark for each part, with " +
            "the query of the part: it changes with what is new and with the day, not within a day by time alone. The mark of `derived` is of rooms, names, " +
            "lines of curtain sensors and notes alone",
        }),
        readings: Type.Optional(
          Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
            description:
              "how many records each series of an item has at most, by the rest of its path: what a download of it will be",
          }),
        ),
      },
      { title: "Marks" },
    ),
  ),
  refusals: ["typename_unknown"],
  handle: async ({ store, path: { typename }, query, settingOf, now_ms }) => {
    const window = { ...query, limit: query.limit + 1 };
    if (typename === "subjects" || typename === "homes") {
      const found = await store.ownerMarks(typename, window);
      const listed = found.map(async (one) => {
        const setting = one.names && (await settingOf?.(one.number));
        return marksOfOwner(typename, one, setting, now_ms);
      });
      return pageOf(await Promise.all(listed), query);
    }
    const kind = kindNamed(typename);
    return pageOf(
      (await store.itemMarks(kind, window)).map((one) => marksOfItem(kind, one)),
      query,
    );
  },
});

function marksOfItem(kind: Kind, { record, series, coverage, device }: ItemMarks) {
  const path = `/items/${kind}/${encodeURIComponent(record.itemname)}`;
  if (!(recordingKinds as readonly Kind[]).includes(kind)) return { path, marks: {} };
  const own = series.filter((one) => hasSeries(seriesOf(one.series), record.subtypename));
  const byPath = <Value>(value: (one: (typeof own)[number]) => Value) =>
    Object.fromEntries(own.map((one) => [seriesOf(one.series).path, value(one)]));
  return {
    path,
    marks: { ...byPath(({ mark }) => mark), coverage, device },
    readings: byPath(({ readings }) => readings),
  };
}

function marksOfOwner(
  owners: OwnerType,
  owner: OwnerMarks,
  setting: HomeSetting | undefined,
  now_ms: number,
) {
  const lists = [...owner.marks].map(([type, mark]) => [recordPaths[type].split("{id}/")[1] ?? "", mark]);
  const derived = owners === "homes" ? derivedMarks(owner, setting, now_ms) : [];
  return { path: recordPaths[owners] + owner.number, marks: Object.fromEntries([...lists, ...derived]) };
}

/** When an item of a kind was listened to and alive: an addition, so that no event can be told from no data. */
export function coverageEndpoint(kind: Kind): Endpoint {
  return endpoint({
    name: `${kinds[kind].singular}_coverage`,
    template: `/items/${kind}/{itemname}/coverage`,
    summary: `When an item was listened to and alive, newest first: ${kinds[kind].title.toLowerCase()}`,
    area: "Time series",
    since: "0.9",
    path: Type.Object({ itemname }),
    query: Type.Object({ skip, limit, before, after }),
    response: Type.Array(Coverage),
    refusals: ["item_unknown"],
    handle: async ({ store, path, query, now_ms }) => {
      const item = await requireItem(store, kind, path.itemname);
      const { skip, limit, before, after } = query;
      const window = { item: item.key, ...windowOf(query, now_ms), skip };
      const found = await store.coverage({ ...window, limit: limit + 1 });
      return pageOf(found.map(recordOf), { skip, limit, before, after });
    },
  });
}

/** A page of records. One more than its limit was asked for, which tells whether another page follows. */
function pageOf(
  found: readonly unknown[],
  { skip, limit, ...others }: { skip: number; limit: number; before?: number; after?: number },
): EndpointAnswer {
  const body = found.slice(0, limit);
  return found.length > limit ? { body, next: { skip: skip + limit, limit, ...others } } : { body };
}

function recordOf({ start_ms, stop_ms, state, reason, lost }: CoverageInterval): Coverage {
  const seconds = (ms: number) => Math.floor(ms / 1000);
  return {
    start: seconds(start_ms),
    stop: seconds(stop_ms),
    state,
    reason: reason ?? null,
    lost: lost ?? null,
  };
}

/** The device of an item of a kind: an addition, so that it can be told how readings were made. */
export function deviceEndpoint(kind: Kind): Endpoint {
  return endpoint({
    name: `${kinds[kind].singular}_device`,
    template: `/items/${kind}/{itemname}/device`,
    summary: `The device of an item, and how its readings are made: ${kinds[kind].title.toLowerCase()}`,
    area: "Inventory",
    since: "0.9",
    path: Type.Object({ itemname }),
    query: Type.Object({}),
    response: DeviceRecord,
    refusals: ["item_unknown"],
    handle: async ({ store, path }) => {
      const { key } = await requireItem(store, kind, path.itemname);
      const state = await store.itemState(key);
      // Only where an import took the item away a moment ago.
      if (state === undefined)
        throw new HttpError("item_unknown", { typename: kind, itemname: path.itemname });
      return { body: deviceRecord(state) };
    },
  });
}

/** Every endpoint of the newest version; the time series come from the series table. */
export const endpoints: readonly Endpoint[] = [
  endpoint({
    name: "item_types",
    template: "/items",
    summary: "Item types of the inventory",
    area: "Inventory",
    since: "0.1",
    path: Type.Object({}),
    query: Type.Object({}),
    response: Type.Array(ItemType),
    refusals: [],
    handle: async ({ store }) => ({ body: await store.itemTypes() }),
  }),
  endpoint({
    name: "items",
    template: "/inventory/{typename}",
    summary: "Items of a type, in order of itemid",
    area: "Inventory",
    since: "0.1",
    path: Type.Object({ typename }),
    query: Type.Object({ skip, limit }),
    response: Type.Array(Item),
    refusals: ["typename_unknown"],
    handle: async ({ store, path, query }) => {
      const kind = kindNamed(path.typename);
      return pageOf(await store.items(kind, { ...query, limit: query.limit + 1 }), query);
    },
  }),
  endpoint({
    name: "item",
    template: "/inventory/{typename}/{itemname}",
    summary: "One item",
    area: "Inventory",
    since: "0.1",
    path: Type.Object({ typename, itemname }),
    query: Type.Object({}),
    response: Item,
    refusals: ["typename_unknown", "item_unknown"],
    handle: async ({ store, path }) => ({
      body: (await requireItem(store, kindNamed(path.typename), path.itemname)).record,
    }),
  }),
  marksEndpoint,
  epochsEndpoint,
  endpoint({
    name: "token",
    template: "/token",
    summary: "The token that asks",
    area: "Programme",
    since: "0.9",
    path: Type.Object({}),
    query: Type.Object({}),
    response: TokenScope,
    refusals: [],
    handle: async ({ scope, store }) => ({
      body: { scope, bound: store.homes !== undefined, leftout: store.leftOut ?? [] },
    }),
  }),
  ...seriesNames.map(seriesEndpoint),
  ...recordingKinds.map(coverageEndpoint),
  ...recordingKinds.map(deviceEndpoint),
  ...recordEndpoints,
  ...homeEndpoints,
  ...derivedEndpoints,
];

function kindNamed(name: string): Kind {
  if (!isKind(name)) throw new HttpError("typename_unknown", { typename: name });
  return name;
}
