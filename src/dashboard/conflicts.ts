import type { Conflict } from "../identity.ts";
import type { Kind } from "../kinds.ts";
import { type GivenName, isDevice } from "../store/given-names.ts";
import type { ItemOverview } from "../store/store.ts";
import { titleOf } from "./shown-devices.ts";

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
