import type { Item } from "../../../records/items.ts";
import { type GivenName, isNameOf } from "../../../store/given-names.ts";

/** The name of a device in the home, where the inventory calls it otherwise. */
export interface ProposedName {
  readonly itemname: string;
  readonly name: string;
  readonly room: string | null;
  /** The device that it was put there for, by its name, where that is shown. */
  readonly instead: string | null;
}

/** Of the devices that are shown, whatever else was called something in the home. */
export function proposalsIn(names: readonly GivenName[], records: readonly Item[]): ProposedName[] {
  return records.flatMap((record) => {
    const given = names.find((one) => isNameOf(one, record));
    if (given === undefined || given.name === record.itemname) return [];
    const { name, room = null, replaces } = given;
    const old = replaces && records.find((one) => isNameOf({ ...given, address: replaces }, one));
    return [{ itemname: record.itemname, name, room, instead: old ? old.itemname : null }];
  });
}
