import type { CentralStore } from "../../store/central-store.ts";
import { textAnswer } from "../answer.ts";
import { rosterOf } from "../roster.ts";
import type { HomeRoute } from "./home-route.ts";

/** GET /roster: what the home may know of the programme's records, as an import document; 304 to who has it already. */
export function rosterRoute(store: CentralStore): HomeRoute {
  return {
    method: "GET",
    path: "/roster",
    answer: async ({ exchange, home }) => {
      const { body, etag } = await rosterOf(store, home);
      const headers = { ETag: etag };
      const known = exchange.ifNoneMatch?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);
      return known ? new Response(null, { status: 304, headers }) : textAnswer(exchange, body, headers);
    },
  };
}
