import { renderToString } from "preact-render-to-string";
import { day_ms, localDays } from "../../../base/time.ts";
import type { DerivedRow } from "../../../domain/derived/home-data.ts";
import variables from "../../server/variables.css" with { type: "text" };
import { askedHome } from "../asked-home.ts";
import { measuredRows } from "../measures.ts";
import { fillOf, Patterns } from "../parts/uncovered-shapes.tsx";
import type { Asked } from "../site.ts";
import { activity_days, activity_size, activityLevels } from "./activity-look.ts";

/**
 * The active minutes of a home by hour, as the interface has them (`derived/activity`), as a file of SVG: a row a day, the newest on top, and a column an hour.
 *
 * @throws HttpError where there is no such home, or the token may not see it
 */
export async function activityPicture(asked: Asked): Promise<string> {
  const { site, now_ms } = asked;
  const home = await askedHome(asked);
  const zone = await site.zoneOf(home);
  const days = localDays(zone, { from_ms: now_ms - (activity_days - 1) * day_ms, to_ms: now_ms + 1 });
  const [first] = days;
  const span = { from_ms: first?.from_ms ?? now_ms, to_ms: now_ms + 1 };
  const rows = await measuredRows(asked, { name: "activity", home }, span);
  return activitySvg(rows, days.map(({ date }) => date).toReversed());
}

/** @param dates of the rows of the picture, the first on top */
export function activitySvg(rows: readonly DerivedRow[], dates: readonly string[]): string {
  const { hour, day } = activity_size;
  const tops = new Map(dates.map((date, place) => [date, place * day]));
  const paths = new Map<number | null, string>();
  // Days before the first reading have no ground: nothing is known of them, rather than that nothing happened.
  const oldest = Math.max(-day, ...rows.flatMap(({ day: date }) => tops.get(date) ?? []));
  for (const { day: date, values } of rows) {
    const level = levelOf(values["active_min"] as number | null);
    const top = tops.get(date);
    if (level === 0 || top === undefined) continue;
    const cell = `M${Number(values["hour"]) * hour} ${top}h${hour}v${day - 0.5}h-${hour}z`;
    paths.set(level, (paths.get(level) ?? "") + cell);
  }
  const { width, height } = activity_size;
  return renderToString(
    <svg xmlns="http://www.w3.org/2000/svg" aria-hidden="true" width={width} height={height}>
      <style>{`${variables}.nothing-line{fill:var(--quiet)}`}</style>
      <Patterns />
      <rect fill="var(--raised)" width={width} height={oldest + day} />
      {[...paths].map(([level, d]) =>
        level === null ? (
          <path key="unknown" fill={fillOf("not_listening")} d={d} />
        ) : (
          <path key={level} fill="var(--accent)" opacity={level / activityLevels.length} d={d} />
        ),
      )}
    </svg>,
  );
}

/** The level that active minutes of an hour reach; null where they are not known. */
function levelOf(active_min: number | null): number | null {
  return active_min === null ? null : activityLevels.findLastIndex(({ least }) => active_min >= least) + 1;
}
