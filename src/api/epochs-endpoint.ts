import { Type } from "@sinclair/typebox";
import { record, textOrNull } from "../records/field.ts";
import { unixTime } from "../unix-time.ts";
import { endpoint } from "./endpoint.ts";

/** A time of which nothing of a home, or of one of its devices, is kept any more. */
const Erased = record("Erased time", {
  typename: textOrNull("type of the device; null: everything of the home"),
  itemid: Type.Union([Type.Integer(), Type.Null()], { description: "its item, where one is known" }),
  since: unixTime({ description: "from here on" }),
  until: unixTime({ description: "up to here" }),
  erased: unixTime({ description: "when it was erased" }),
});

/** An epoch: numbers 1, 2, 3 … that one store of a home has given to readings. */
export const Epoch = record("Epoch", {
  epoch: Type.String({ description: "name of the epoch, 32 hexadecimal digits" }),
  homeid: Type.Union([Type.Integer(), Type.Null()], {
    description: "the home whose readings it has; null at a gateway that does not know its number",
  }),
  first: Type.Integer({ description: "the number that its readings begin with" }),
  last: Type.Integer({ description: "all its readings up to this number are here" }),
  erased: Type.Array(Erased, { description: "times of the home of which nothing is kept any more" }),
});

/** Which readings are here, by what identifies them everywhere: an addition, for downloads that can be repeated. */
export const epochsEndpoint = endpoint({
  name: "epochs",
  template: "/epochs",
  summary: "Epochs: how far the readings of each store that numbered some are here",
  area: "Time series",
  since: "0.9",
  path: Type.Object({}),
  query: Type.Object({}),
  response: Type.Array(Epoch),
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
