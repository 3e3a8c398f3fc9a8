import { day_ms, isIn, type TimeSpan, weeksOfDays, without } from "../../../base/time.ts";
import type { DerivedRow } from "../../../domain/derived/home-data.ts";
import { quartilesOf } from "../../../domain/derived/quartiles.ts";
import type { WalkingLine } from "../../../domain/derived/walking-passes.ts";
import { linesOf } from "../../../store/inventory/walking-lines.ts";
import { measuredHome, measuredRows } from "../measures.ts";
import type { Asked } from "../site.ts";
import type { Uncovered } from "../uncovered.ts";
import type { Curve } from "./curve-data.ts";
import type { CalendarSpan } from "./device-request.ts";

/** Walking speed of each week on the lines that a sensor is one of: median and quartiles of the walks that the interface tells, as far as the token may see the others of the line. */
export async function walkingCurvesIn(
  asked: Asked,
  of: { name: string; home: number | undefined; span: CalendarSpan; uncovered: readonly Uncovered[] },
): Promise<Curve[]> {
  const { name, home, span, uncovered } = of;
  const { store } = asked;
  const records = (await store.itemOverviews(home === undefined ? undefined : [home])).map(
    ({ record }) => record,
  );
  const { walking } = await measuredHome(asked, home);
  const lines = linesOf(walking, await store.givenNames(home), records).filter(({ sensors }) =>
    sensors.some(({ item }) => item === name),
  );
  if (lines.length === 0) return [];
  const only = lines.flatMap(({ sensors }) => sensors.map(({ item }) => item));
  const rows = await measuredRows(asked, { name: "walks", only, home }, span.whole);
  const weeks = weeksOfDays(span.days);
  return lines
    .map((line) => {
      const walks = rows.filter(({ values }) => values["line"] === line.name);
      return curveOf(line, { walks, weeks, uncovered });
    })
    .filter(({ spread }) => spread !== null);
}

function curveOf(
  line: WalkingLine,
  of: { walks: readonly DerivedRow[]; weeks: readonly TimeSpan[]; uncovered: readonly Uncovered[] },
): Curve {
  const { walks, weeks, uncovered } = of;
  const speedsIn = (week: TimeSpan) =>
    walks.filter(({ at_ms }) => isIn(week, at_ms)).map(({ values }) => Number(values["speed"]));
  const points = weeks.map((week) => {
    const { middle_ms, words } = knownIn(week, uncovered);
    return { at_ms: middle_ms, from_ms: week.from_ms, words, speeds: quartilesOf(speedsIn(week)) };
  });
  // A point without a value in each stretch of which nothing is known: no line crosses it.
  const breaks = uncovered
    .filter(({ why }) => why !== "absent" && why !== "doubt")
    .flatMap((gap) => {
      const at_ms = (gap.from_ms + gap.to_ms) / 2;
      const week = weeks.find((one) => isIn(one, at_ms));
      return week === undefined ? [] : [{ at_ms, from_ms: week.from_ms, words: null, speeds: undefined }];
    });
  const all = [...points, ...breaks].sort((one, other) => one.at_ms - other.at_ms);
  const values = (name: "lower" | "median" | "upper") => all.map(({ speeds }) => speeds?.[name] ?? null);
  return {
    title: `Walking speed on the line ${line.name}`,
    unit: "m/s",
    digits: 2,
    at_ms: all.map(({ at_ms }) => at_ms),
    weeks_ms: all.map(({ from_ms }) => from_ms),
    known: all.map(({ words }) => words),
    lines: [{ title: "median", values: values("median") }],
    trend: { lower: values("lower"), median: values("median"), upper: values("upper") },
    spread: quartilesOf(weeks.flatMap(speedsIn)) ?? null,
  };
}

/**
 * The middle of what is known of a week, so that its point stands where somebody listened, and how many of its days are known, `3 of 7 days`: null where all are.
 */
export function knownIn(
  week: TimeSpan,
  uncovered: readonly Uncovered[],
): { middle_ms: number; words: string | null } {
  const pieces = without(
    week,
    uncovered.filter(({ why }) => why !== "doubt"),
  );
  const known_ms = pieces.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
  const [days, all] = [known_ms, week.to_ms - week.from_ms].map((ms) => Math.round(ms / day_ms));
  let left_ms = known_ms / 2;
  const middle = pieces.find(({ from_ms, to_ms }) => {
    if (left_ms < to_ms - from_ms) return true;
    left_ms -= to_ms - from_ms;
    return false;
  });
  return {
    middle_ms: middle === undefined ? (week.from_ms + week.to_ms) / 2 : middle.from_ms + left_ms,
    words: days === all ? null : `${days} of ${all} days`,
  };
}
