import type { CentralStore } from "../../store/central-store.ts";
import { batchAnswer, emptyAnswer } from "../answer.ts";
import { encodedBatch } from "../encoded-batch.ts";
import { HistoryQuery, positionHeader } from "../protocol.ts";
import { readQuery } from "../query.ts";
import type { HomeRoute } from "./home-route.ts";

/** GET /history: readings of the items that are in the home now, batch by batch, for a box that is restored. */
export function historyRoute(store: CentralStore): HomeRoute {
  return {
    method: "GET",
    path: "/history",
    answer: async ({ exchange, home }) => {
      const { from, seq, at } = readQuery(HistoryQuery, exchange.query);
      const after = seq === undefined || at === undefined ? {} : { after: { seq, at } };
      const made = await encodedBatch((readings_max) =>
        store.history({ home, from_ms: from, ...after, readings_max }),
      );
      if (made === undefined) return emptyAnswer();
      return batchAnswer(made.bytes, { [positionHeader]: `${made.position.seq} ${made.position.at}` });
    },
  };
}
