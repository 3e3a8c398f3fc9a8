import { day_ms, localDate, startOfDate_ms } from "../../base/time.ts";
import { reach_max_days } from "../../domain/derived/derived-table.ts";
import { type HomeSetting, zoneIn } from "../../store/derived/home-readings.ts";
import { marked_ms, type OwnerMarks } from "../../store/inventory/record-store.ts";

/**
 * Marks of `derived`, of `places` and of the parts of `derived/all` of a home, by the query of each: a part for each year that is over, for each month of the year after those, and
 * one for the rest. So a year of a home is asked for once, however often somebody asks what is new.
 */
export function derivedMarks(
  { marks, names, timezone, measured }: OwnerMarks,
  setting: HomeSetting | undefined,
  now_ms: number,
): (readonly [name: string, mark: string])[] {
  const zone = zoneIn(timezone, setting);
  const begun = JSON.stringify([names, setting, marks.get("notes"), zone]);
  const markOf = (...more: readonly string[]) => Bun.hash(JSON.stringify([begun, ...more])).toString(36);
  if (measured === undefined) return [["derived", markOf()]];
  const parts: [string, string][] = [];
  let after = "";
  for (const end_ms of settledEnds(zone, measured.first_ms ?? now_ms, now_ms)) {
    const end_s = Math.floor(end_ms / 1_000);
    parts.push([`derived/all?${after}before=${end_s}`, markOf(measured.before(end_ms + reach_ms))]);
    after = `after=${end_s - 1}&`;
  }
  const rest = after === "" ? "" : `?${after.slice(0, -1)}`;
  // With each day there are more records, also where nothing is new.
  const today = markOf(measured.before(Number.POSITIVE_INFINITY), localDate(zone, now_ms));
  return [
    ["derived", markOf()],
    ["places", markOf(measured.before(1))],
    ...parts,
    [`derived/all${rest}`, today],
  ];
}

/** The ends of the parts in which time alone changes nothing any more, in order. */
function settledEnds(zone: string, first_ms: number, now_ms: number): number[] {
  const last = Temporal.PlainDate.from(localDate(zone, now_ms - reach_ms - marked_ms));
  const first = Temporal.PlainDate.from(localDate(zone, first_ms));
  const ends: number[] = [];
  let date = first.with({ day: 1 });
  for (let parts = 0; parts < parts_max; parts += 1) {
    date = date.year < last.year ? date.with({ month: 1 }).add({ years: 1 }) : date.add({ months: 1 });
    if (Temporal.PlainDate.compare(date, last) > 0) break;
    ends.push(startOfDate_ms(zone, date.toString()) ?? 0);
  }
  return ends;
}

/** A day more than rules look at, because days begin at other times elsewhere. */
const reach_ms = (reach_max_days + 1) * day_ms;
/** A hundred years, and the months of one. */
const parts_max = 112;
