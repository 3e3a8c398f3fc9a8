import type { Kind } from "../../../kinds.ts";
import type { ShownConflict } from "../../conflicts.ts";
import type { Trouble } from "../../page.ts";
import type { Battery, DeviceRow } from "./devices.ts";

/** Something that somebody should look after. */
export type HomeNeed =
  | { readonly type: "trouble"; readonly what: string; readonly remedy: string | null }
  | ({ readonly type: "conflict" } & ShownConflict)
  | ({ readonly type: "silent"; readonly heard_ms: number; readonly battery: Battery | null } & NamedDevice)
  | { readonly type: "unheard"; readonly devices: readonly NamedDevice[] }
  | ({ readonly type: "battery"; readonly battery: Battery } & NamedDevice)
  | ({ readonly type: "missed"; readonly at_ms: number } & NamedDevice);

export interface NamedDevice {
  readonly kind: Kind;
  readonly name: string;
  readonly title: string;
}

/** Needs of a home, worst first: without its box nothing is heard, what claims to be a device may be an attack, and a silent device records nothing. */
export function needsOf(
  troubles: readonly Trouble[],
  all: readonly DeviceRow[],
  days: ReadonlyMap<string, number>,
  conflicts: readonly ShownConflict[] = [],
): HomeNeed[] {
  const rows = all.filter(({ replaced }) => replaced === null);
  const of = ({ kind, name, title }: DeviceRow) => ({ kind, name, title });
  const isUndated = troubles.some(({ undated }) => undated);
  const unheard = isUndated ? [] : rows.filter(({ heard_ms }) => heard_ms === null).map(of);
  return [
    ...troubles.map(({ what, remedy = null }) => ({ type: "trouble", what, remedy }) as const),
    ...conflicts.map((conflict) => ({ type: "conflict", ...conflict }) as const),
    ...rows.flatMap((row) =>
      row.overdue && row.heard_ms !== null
        ? [{ type: "silent", heard_ms: row.heard_ms, battery: row.battery, ...of(row) } as const]
        : [],
    ),
    ...(unheard.length === 0 ? [] : [{ type: "unheard", devices: unheard } as const]),
    ...rows.flatMap((row) =>
      row.battery?.low && !row.overdue
        ? [{ type: "battery", battery: row.battery, ...of(row) } as const]
        : [],
    ),
    ...rows.flatMap((row) =>
      missedOf(row, days).map((at_ms) => ({ type: "missed", at_ms, ...of(row) }) as const),
    ),
  ];
}

/** The last dose of a box that had its time, where it was missed: when its day began. */
function missedOf({ latest }: DeviceRow, days: ReadonlyMap<string, number>): number[] {
  if (latest?.type !== "doses") return [];
  const last = latest.doses.findLast(({ status }) => status !== "due");
  const at_ms = last && days.get(last.date);
  return last?.status === "missed" && at_ms !== undefined ? [at_ms] : [];
}
