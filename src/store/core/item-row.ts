import type { Item } from "../../records/items.ts";
import { normalAddress } from "../address.ts";
import { lookupText } from "./lookup-text.ts";

/**
 * The columns of an item that are made of its record, and of the address that it is found by (`foundBy`): made here alone, so that
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

/** An address as items are found by it; null where there is none. */
export function foundBy(address: string): string | null {
  const normal = normalAddress(address);
  return normal === undefined ? null : lookupText(normal);
}

/** The values of `itemColumns`. */
export function itemValues(record: Item, address: string | null): (string | number | null)[] {
  const { itemid, typename, itemname, currenthomeid } = record;
  return [itemid, JSON.stringify(record), typename, lookupText(itemname), address, currenthomeid];
}

/** The address of a provisional item whose device is known by its number in the inventory alone: no device has such a one. */
export function numberAddress(itemid: number): string {
  return `#${itemid}`;
}
