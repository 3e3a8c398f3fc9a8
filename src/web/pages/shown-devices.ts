import type { Conflict } from "../../domain/identity.ts";
import type { Kind } from "../../domain/kinds.ts";
import { itemStatus } from "../../domain/records/item.ts";
import { type GivenName, isDevice } from "../../store/inventory/given-names.ts";
import type { ItemOverview } from "../../store/store.ts";

/** The name by which people of the home know a device: the inventory's, or else the one that it was given in the home, which another item may have. */
export function titleOf({ record, provisional }: ItemOverview, names: readonly GivenName[]): string {
  const given = names.find((one) => isDevice(one, record));
  return provisional && given !== undefined ? given.name : record.itemname;
}

/** Whether the inventory has not put it away, and no other device stands in its place. */
export function isInUse({ record, replaced }: ItemOverview): boolean {
  return record.statusname !== itemStatus.decommissioned.statusname && replaced === undefined;
}

/** A device that claims to be another one, as pages show it while it waits for a person. Times are unix milliseconds. */
export interface ShownConflict extends Pick<Conflict, "differs" | "why" | "first_ms" | "last_ms" | "count"> {
  readonly address: string;
  /** The device that came has no key. */
  readonly keyless: boolean;
  readonly known_ms: number;
  readonly kind: Kind;
  /** The item of the known one; null where none is shown. */
  readonly name: string | null;
  readonly title: string;
}

/** Conflicts of devices that are shown; of others too, by their addresses, for who sees everything. */
export function shownConflicts(
  conflicts: readonly Conflict[],
  of: { overviews: readonly ItemOverview[]; names: readonly GivenName[]; isWhole: boolean },
): ShownConflict[] {
  return conflicts.flatMap(({ known, claimed, differs, why, first_ms, last_ms, count }) => {
    const overview = of.overviews.find(({ record }) => isDevice(known, record));
    if (overview === undefined && !of.isWhole) return [];
    const { address, kind, since_ms: known_ms } = known;
    const keyless = claimed.key === undefined;
    const name = overview?.record.itemname ?? null;
    const title = overview === undefined ? address : titleOf(overview, of.names);
    return [{ address, kind, name, title, differs, keyless, why, known_ms, first_ms, last_ms, count }];
  });
}
