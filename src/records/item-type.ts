import { type Static, Type } from "@sinclair/typebox";

/** One element of `/items`: a type of item and how many of it the inventory holds. */
export const ItemType = Type.Object(
  {
    typeid: Type.Integer({ description: "item type identifier" }),
    typename: Type.String({ description: "item type name, as paths use it" }),
    count: Type.Integer({ description: "items of this type in the inventory", minimum: 0 }),
  },
  { title: "Item type" },
);

export type ItemType = Static<typeof ItemType>;
