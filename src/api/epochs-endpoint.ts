import { Type } from "@sinclair/typebox";
import { EpochRecord } from "../records/epoch.ts";
import { endpoint } from "./endpoint.ts";

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
