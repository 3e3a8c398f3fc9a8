import { Type } from "@sinclair/typebox";
import { HttpError } from "../http/errors.ts";
import { type Kind, kinds } from "../kinds.ts";
import { DeviceRecord, deviceRecord } from "../records/device.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { itemname } from "./parameters.ts";
import { requireItem } from "./record-endpoints.ts";

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
