import { type Static, Type } from "@sinclair/typebox";
import { unixTime } from "../unix-time.ts";
import { integerOrNull, record, textOrNull } from "./field.ts";

/** A time of which nothing of a home, or of one of its devices, is kept any more. */
const Erased = record("Erased time", {
  typename: textOrNull("type of the device; null: everything of the home"),
  itemid: integerOrNull("its item, where one is known"),
  since: unixTime({ description: "from here on" }),
  until: unixTime({ description: "up to here" }),
  erased: unixTime({ description: "when it was erased" }),
});

/** An epoch: numbers 1, 2, 3 … that one store of a home has given to readings. */
export const EpochRecord = record("Epoch", {
  epoch: Type.String({ description: "name of the epoch, 32 hexadecimal digits" }),
  homeid: integerOrNull("the home whose readings it has; null at a gateway that does not know its number"),
  first: Type.Integer({ description: "the number that its readings begin with" }),
  last: Type.Integer({ description: "all its readings up to this number are here" }),
  erased: Type.Array(Erased, { description: "times of the home of which nothing is kept any more" }),
});

export type EpochRecord = Static<typeof EpochRecord>;
