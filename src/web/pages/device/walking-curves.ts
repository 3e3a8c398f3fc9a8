import { day_ms, type TimeSpan, weeksOfDays, without } from "../../../base/time.ts";
import { quartilesOf } from "../../../domain/derived/quartiles.ts";
import type { WalkingLine } from "../../../domain/derived/walking-passes.ts";
import { type SensorPass, walkingPassesOf } from "../../../domain/derived/walking-passes.ts";
import { linesOf } from "../../../store/inventory/walking-lines.ts";
import { presence } from "../home/strip-data.ts";
import { type Asked, memoryBySite } from "../site.ts";
import type { Uncovered } from "../uncovered.ts";
import type { Curve } from "./curve-data.ts";
import { type CalendarSpan, newestBefore, readingsIn } from "./device-request.ts";

/** Walking speed of each week on the lines that a sensor is one of: median and quartiles, as far as the token may see the others of the line. */
export async function walkingCurvesIn(
  asked: Asked,
  of: { name: string; home: number | undefined; span: CalendarSpan; uncovered: readonly Uncovered[] },
): Promise<Curve[]> {
  const { name, home, span, uncovered } = of;
  const { store, site } = asked;
  const records = (await store.itemOverviews(home === undefined ? undefined : [home])).map(
    ({ record }) => record,
  );
  const all = linesOf(site.walking ?? [], await store.givenNames(home), records);
  const lines = all.filter(({ sensors }) => sensors.some(({ item }) => item === name));
  const curves: Curve[] = [];
  for (const line of lines)
    curves.push(await curveOf(asked, line, { weeks: weeksOfDays(span.days), uncovered }));
  return curves.filter(({ spread }) => spread !== null);
}

async function curveOf(
  asked: Asked,
  line: WalkingLine,
  { weeks, uncovered }: { weeks: readonly TimeSpan[]; uncovered: readonly Uncovered[] },
): Promise<Curve> {
  const speeds: (readonly number[])[] = [];
  for (const week of weeks) speeds.push(week.from_ms < asked.now_ms ? await speedsIn(asked, line, week) : []);
  const found = speeds.map((of) => quartilesOf(of));
  const values = (name: "lower" | "median" | "upper") => found.map((one) => one?.[name] ?? null);
  const known = weeks.map((week) => knownIn(week, uncovered));
  return {
    title: `Walking speed on the line ${line.name}`,
    unit: "m/s",
    digits: 2,
    at_ms: known.map(({ middle_ms }) => middle_ms),
    weeks_ms: weeks.map(({ from_ms }) => from_ms),
    known: known.map(({ words }) => words),
    lines: [{ title: "median", values: values("median") }],
    trend: { lower: values("lower"), median: values("median"), upper: values("upper") },
    spread: quartilesOf(speeds.flat()) ?? null,
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

/** Speeds of the walks of a week, metres a second; those of before are taken where nothing has come or changed since. */
async function speedsIn(
  { store, site }: Asked,
  line: WalkingLine,
  week: TimeSpan,
): Promise<readonly number[]> {
  const items: { item: string; key: number }[] = [];
  const marks: string[] = [];
  for (const { item } of line.sensors) {
    const key = (await store.item("wirelesssensors", item))?.key;
    if (key === undefined) continue;
    items.push({ item, key });
    const asked = { series, item: key, before_ms: week.to_ms, skip: 0, limit: 1, precision: "ms" } as const;
    marks.push(await store.pageMark(asked));
  }
  const memory = memoryOf(site);
  const name = `${line.name} ${week.from_ms} ${marks.join()}`;
  const known = memory.get(name);
  if (known !== undefined) return known;
  const sightings: SensorPass[] = [];
  for (const { item, key } of items) {
    const before = await newestBefore(store, { series, item: key, before_ms: week.from_ms });
    let saw = sees(before?.["event"]);
    for await (const rows of readingsIn(store, { series, item: key, span: week }))
      for (const [at_ms, event] of rows) {
        if (sees(event) && !saw) sightings.push({ item, at_ms });
        saw = sees(event);
      }
  }
  const speeds = walkingPassesOf(line.sensors, sightings).walks.map(({ speed }) => speed);
  memory.set(name, speeds, speeds.length + name.length);
  return speeds;
}

function sees(event: unknown): boolean {
  return (Number(event ?? 0) & presence) !== 0;
}

/** Numbers that are kept: those of a year of a line that is walked thirty times a day, and of their names. */
const memory_max = 50_000;
/** Speeds of a site, by what they were made of. */
const memoryOf = memoryBySite<readonly number[]>(memory_max);
const series = "wirelesssensor_events" as const;
