import { type Static, Type } from "@sinclair/typebox";
import { integer, unixTimeOrNull } from "./field.ts";
import { Item } from "./item.ts";

/** An item in a home over a span of time. */
export const HomeInventory = Type.Object(
  {
    homeid: integer("home"),
    item: Item,
    start: unixTimeOrNull("when the item was installed in the home"),
    stop: unixTimeOrNull("when it was taken away"),
  },
  { title: "Home inventory" },
);

export type HomeInventory = Static<typeof HomeInventory>;
