import type { RecordType } from "../../domain/records/record-table.ts";
import { arrays, rowsOf, type Work } from "../database.ts";
import type { Between } from "../series/time-spans.ts";
import { recordsWith } from "./records.ts";

// Who was enrolled in a home, and who held which item, from when until when.

export interface Enrolled {
  readonly subjectid: number;
  readonly homeid: number | null;
  readonly start: number | null;
  readonly stop: number | null;
}

/** The time of an enrollment; one that has not ended lasts until now. */
export function enrollmentOf({ start, stop }: Enrolled, end_ms: number): Between | undefined {
  const from_ms = Math.max(0, (start ?? 0) * 1000);
  const before_ms = stop === null || stop === 0 ? end_ms : stop * 1000;
  return from_ms < before_ms ? { from_ms, before_ms } : undefined;
}

export interface HeldRecord {
  readonly subjectid: number;
  readonly itemid: number;
  readonly start: string | null;
  readonly stop: string | null;
}
export type HeldItem = Between & { readonly itemid: number; readonly subjectid: number };

export function* heldBy(subject: number, end_ms: number): Work<HeldItem[]> {
  return (yield* recordsNaming<HeldRecord>("subject_inventory", "subjectid", [subject])).flatMap(
    (held) => heldOf(held, end_ms) ?? [],
  );
}

/** The time in which an item was in the hands of a subject. Dates that are none leave it open: more is taken away, and not less. */
export function heldOf({ subjectid, itemid, start, stop }: HeldRecord, end_ms: number): HeldItem | undefined {
  const from_ms = Math.max(0, timeIn(start) ?? 0);
  const before_ms = timeIn(stop) ?? end_ms;
  return from_ms < before_ms ? { subjectid, itemid, from_ms, before_ms } : undefined;
}

/** Unix milliseconds of a date and time as inventories have them, which do not say their zone: UTC. */
function timeIn(text: string | null): number | undefined {
  if (text === null) return undefined;
  const written = text.trim().replace(" ", "T");
  const time_ms = Date.parse(
    /T.*(Z|[+-]\d\d:?\d\d)$/.test(written) || !written.includes("T") ? written : `${written}Z`,
  );
  return Number.isNaN(time_ms) ? undefined : time_ms;
}

export function* recordsNaming<Record>(
  type: RecordType,
  field: string,
  numbers: readonly number[],
): Work<readonly Record[]> {
  return (yield* recordsWith(type, field, numbers)) as readonly Record[];
}

export function* allOf<Record>(type: RecordType): Work<Record[]> {
  const rows = yield* rowsOf(arrays<[string]>("SELECT record FROM records WHERE type = $1", type));
  return rows.map(([record]) => JSON.parse(record));
}
