import { type Static, Type } from "@sinclair/typebox";
import { integer, integerOrNull } from "./field.ts";
import { Item } from "./item.ts";

/** An item in a home over a span of time. */
export const HomeInventory = Type.Object({
  homeid: integer("home"),
  item: Item,
  start: integerOrNull("when the item was installed in the home, unix timestamp"),
  stop: integerOrNull("when it was taken away, unix timestamp"),
});

export type HomeInventory = Static<typeof HomeInventory>;
