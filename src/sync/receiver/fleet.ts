import type { CentralStore } from "../../store/central-store.ts";
import { jsonAnswer } from "../answer.ts";
import { fleetOf } from "../fleet/fleet.ts";
import type { Route } from "../route.ts";

/** GET /fleet: which homes need a visit, and why; for administrators. */
export function fleetRoute(store: CentralStore): Route {
  return {
    method: "GET",
    path: "/fleet",
    scopes: ["admin"],
    answer: async ({ exchange }) => jsonAnswer(exchange, await fleetOf(store, exchange.now_ms)),
  };
}
