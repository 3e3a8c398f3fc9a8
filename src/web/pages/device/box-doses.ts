import { boxFindingsIn, dosesInRows } from "../../../domain/derived/box-doses.ts";
import type { Dose, DoseFindings } from "../../../domain/derived/doses.ts";
import { homeDataIn } from "../../../store/derived/derived-rows.ts";
import { measuredHome, measuredRows } from "../measures.ts";
import type { Asked } from "../site.ts";
import type { CalendarSpan } from "./device-request.ts";

/** Doses of a pill box, a week in a row: Sunday first, as its doors are numbered. */
export interface Doses {
  readonly doors: DoseFindings["doors"];
  /** The newest week first; null for a day outside the span. */
  readonly weeks: readonly (readonly (Dose | null)[])[];
  readonly reloads: DoseFindings["reloads"];
  readonly leftOpen: DoseFindings["leftOpen"];
}

/** Doses of the days of a span, as the interface has them, and what else the doors of the box tell. */
export async function dosesIn(
  asked: Asked,
  { name, home, span: { whole } }: { name: string; home: number | undefined; span: CalendarSpan },
): Promise<Doses | null> {
  const measure = { name: "doses", only: [name] } as const;
  const rows = await measuredRows(asked, { ...measure, home }, whole);
  const data = await homeDataIn(await measuredHome(asked, home), measure, whole);
  const [box] = data.items;
  if (box === undefined) return null;
  const { doors, reloads, leftOpen } = boxFindingsIn(data, box, whole);
  return { doors, weeks: weeksOf(dosesInRows(rows)), reloads, leftOpen };
}

/** Doses in weeks, the newest first. */
export function weeksOf(doses: readonly Dose[]): (Dose | null)[][] {
  const weeks: (Dose | null)[][] = [];
  for (const dose of doses) {
    if (weeks.length === 0 || dose.weekday === 0) weeks.push(Array.from({ length: 7 }, () => null));
    const week = weeks.at(-1);
    if (week !== undefined) week[dose.weekday] = dose;
  }
  return weeks.reverse();
}
