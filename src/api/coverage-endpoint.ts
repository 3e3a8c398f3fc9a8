import { type TSchema, Type } from "@sinclair/typebox";
import { type Kind, kinds } from "../kinds.ts";
import { gapReasons } from "../reading.ts";
import type { CoverageInterval } from "../store/store.ts";
import { unixTime } from "../unix-time.ts";
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

/** Kinds of item that record something. */
export const coveredKinds = ["pillboxes", "wirelesssensors", "scales", "watches"] as const satisfies Kind[];

const states = {
  covered: "its driver was listening and the device alive: no event means that nothing happened",
  silent: "the device was not heard for too long: it may be out of range, or its battery empty",
  not_listening: "the gateway or the driver was down",
  gap: "the device or driver knows that something is missing, or that there was nothing to record",
};
const reasons = {
  device_silent: "silent for more than one and a half times its heartbeat",
  gateway_down: "the gateway was not running",
  driver_down: "the driver did not hear its hardware",
  ...gapReasons,
};

const Coverage = Type.Object(
  {
    start: unixTime({ description: "start of the interval" }),
    stop: unixTime({
      description: "end of the interval, not included; where it lies in the same second, its start",
    }),
    state: Type.Union(literals(states), { description: explained(states) }),
    reason: Type.Union([...literals(reasons), Type.Null()], {
      description: `null where it was covered; ${explained(reasons)}`,
    }),
    lost: Type.Union([Type.Integer(), Type.Null()], {
      description: "how many events are missing, where the device tells",
    }),
  },
  { title: "Coverage" },
);

function recordOf({ start_ms, stop_ms, state, reason, lost }: CoverageInterval) {
  const [start, stop] = [start_ms, stop_ms].map((ms) => Math.floor(ms / 1000));
  return { start, stop, state, reason: reason ?? null, lost: lost ?? null };
}

function literals(meanings: Readonly<Record<string, string>>): TSchema[] {
  return Object.keys(meanings).map((name) => Type.Literal(name));
}

function explained(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join("; ");
}
