import { Type } from "@sinclair/typebox";
import { HttpError } from "../http/errors.ts";
import { isKind, type Kind, recordingKinds } from "../kinds.ts";
import { Item, ItemType } from "../records/items.ts";
import { TokenScope } from "../records/token-scope.ts";
import { seriesNames } from "../series.ts";
import { coverageEndpoint } from "./coverage-endpoint.ts";
import { deviceEndpoint } from "./device-endpoint.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoint } from "./endpoint.ts";
import { epochsEndpoint } from "./epochs-endpoint.ts";
import { homeEndpoints } from "./home-endpoints.ts";
import { itemname, limit, skip } from "./parameters.ts";
import { recordEndpoints, requireItem } from "./record-endpoints.ts";
import { seriesEndpoint } from "./series-endpoint.ts";

const typename = Type.String({ description: "one of the type names that /items returns" });

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
      // One more than asked for tells whether there is a following page.
      const items = await store.items(kind, { skip: query.skip, limit: query.limit + 1 });
      return items.length > query.limit
        ? { body: items.slice(0, query.limit), next: { skip: query.skip + query.limit, limit: query.limit } }
        : { body: items };
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
    handle: async ({ scope, store }) => ({ body: { scope, bound: store.homes !== undefined } }),
  }),
  ...seriesNames.map(seriesEndpoint),
  ...recordingKinds.map(coverageEndpoint),
  ...recordingKinds.map(deviceEndpoint),
  ...recordEndpoints,
  ...homeEndpoints,
];

function kindNamed(name: string): Kind {
  if (!isKind(name)) throw new HttpError("typename_unknown", { typename: name });
  return name;
}
