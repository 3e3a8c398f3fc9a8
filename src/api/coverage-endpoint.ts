import { Type } from "@sinclair/typebox";
import { type Kind, kinds } from "../kinds.ts";
import { Coverage } from "../records/coverage.ts";
import type { CoverageInterval } from "../store/store.ts";
import { type Endpoint, endpoint } from "./endpoint.ts";
import { after, before, itemname, limit, skip } from "./parameters.ts";
import { requireItem } from "./record-endpoints.ts";
import { windowOf } from "./series-endpoint.ts";

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
      // One more than asked for tells whether there is a following page.
      const found = await store.coverage({ ...window, limit: limit + 1 });
      const body = found.slice(0, limit).map(recordOf);
      if (found.length <= limit) return { body };
      return { body, next: { skip: skip + limit, limit, before, after } };
    },
  });
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
