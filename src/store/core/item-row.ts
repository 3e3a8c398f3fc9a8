import type { Item } from "../../records/items.ts";
import { lookupText } from "./lookup-text.ts";

/**
 * The columns of an item that are made of its record, and of the address that it is found by, in its normal form: made here alone, so that
 * record and columns agree. The record is kept as it is served.
 */
export const itemColumns = {
  itemid: "bigint",
  record: "text",
  typename: "text",
  itemname: "text",
  address: "text",
  currenthomeid: "bigint",
} as const;

/** The values of `itemColumns`. */
export function itemValues(record: Item, address: string | undefined): (string | number | null)[] {
  const { itemid, typename, itemname, currenthomeid } = record;
  const found = address === undefined ? null : lookupText(address);
  return [itemid, JSON.stringify(record), typename, lookupText(itemname), found, currenthomeid];
}
