import { itemStatus } from "../records/items.ts";
import { type GivenName, isNameOf } from "../store/given-names.ts";
import type { ItemOverview } from "../store/store.ts";

/** The name by which people of the home know a device: the inventory's, or else the one that it was given in the home, which another item may have. */
export function titleOf({ record, provisional }: ItemOverview, names: readonly GivenName[]): string {
  const given = names.find((one) => isNameOf(one, record));
  return provisional && given !== undefined ? given.name : record.itemname;
}

/** Whether the inventory has not put it away, and no other device stands in its place. */
export function isInUse({ record, replaced }: ItemOverview): boolean {
  return record.statusname !== itemStatus.decommissioned.statusname && replaced === undefined;
}
