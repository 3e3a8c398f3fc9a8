import { renderToString } from "preact-render-to-string";
import { hour_ms } from "../../../base/time.ts";
import variables from "../../server/variables.css" with { type: "text" };
import { night_h } from "../parts/uncovered-look.ts";
import { Nothing, Patterns } from "../parts/uncovered-shapes.tsx";
import general from "../style.css" with { type: "text" };
import { monthDateText, type Times } from "../time-text.ts";
import { type Measure, type PlotData, rowHeightOf, rowsTop } from "./day-plots.ts";
import style from "./device.css" with { type: "text" };

/** A raster as a file of SVG, for browsers without script: a row a day, the newest on top, as `browser/day-rows.ts` draws it. */
export function rasterPicture(of: PictureOf): string {
  const { edges_ms, times } = of;
  const days = edges_ms.slice(1).map((to_ms, day) => ({ from_ms: edges_ms[day] ?? 0, to_ms }));
  const longest_ms = Math.max(...days.map(({ from_ms, to_ms }) => to_ms - from_ms));
  const height = rowHeightOf(days.length);
  const labelled = Math.ceil(label_px / height);
  return renderToString(
    <svg
      xmlns="http://www.w3.org/2000/svg"
      role="img"
      aria-label={of.measure.title}
      width="100%"
      height={rowsTop + days.length * height}
    >
      <style>{[variables, general, style, ownStyle].join("\n")}</style>
      <Patterns />
      {[0, 6, 12, 18].map((hour) => (
        <text key={hour} x={`${left + ((100 - left) * hour * hour_ms) / longest_ms}%`} y={rowsTop - 8}>
          {String(hour).padStart(2, "0")}
        </text>
      ))}
      {days.toReversed().map(({ from_ms, to_ms }, row) => (
        <svg
          key={from_ms}
          aria-hidden="true"
          y={rowsTop + row * height}
          width="100%"
          height={height}
          overflow="visible"
        >
          {row % labelled === 0 ? (
            <text y={Math.max(height, 12) / 2} dominant-baseline="middle">
              {monthDateText(from_ms, times)}
            </text>
          ) : null}
          <svg
            aria-hidden="true"
            x={`${left}%`}
            width={`${((100 - left) * (to_ms - from_ms)) / longest_ms}%`}
            height={height < 6 ? height : height - 1}
          >
            <DayShapes {...of} from_ms={from_ms} to_ms={to_ms} />
          </svg>
        </svg>
      ))}
    </svg>,
  );
}

interface PictureOf {
  readonly data: PlotData;
  readonly measure: Pick<Measure, "title" | "levels">;
  /** Where the days begin, and where the last one ends, unix milliseconds. */
  readonly edges_ms: readonly number[];
  readonly times: Times;
}

function DayShapes(of: PictureOf & { from_ms: number; to_ms: number }) {
  const { data, measure, times, from_ms, to_ms } = of;
  const { uncovered } = data;
  const known_ms = Math.min(to_ms, times.now_ms);
  const percent = (ms: number) => `${((100 * ms) / (to_ms - from_ms)).toFixed(2)}%`;
  const night_ms = (24 - night_h.from) * hour_ms;
  const ahead = known_ms < to_ms ? [{ from_ms: known_ms, to_ms, why: "absent" as const }] : [];
  const own = uncovered.filter((span) => span.from_ms < to_ms && span.to_ms > from_ms);
  return (
    <>
      <rect class="plain" width="100%" height="100%" />
      <rect class="bedtime" width={percent(to_ms - from_ms - (24 - night_h.to) * hour_ms)} height="100%" />
      <rect class="bedtime" x={percent(to_ms - from_ms - night_ms)} width={percent(night_ms)} height="100%" />
      <Nothing spans={[...own, ...ahead]} from_ms={from_ms} to_ms={to_ms} />
      {runsOf(data, { from_ms, to_ms }, measure.levels.length).map(({ level, start_ms, end_ms }) => (
        <rect
          key={start_ms}
          class="level"
          opacity={level / measure.levels.length}
          x={percent(start_ms - from_ms)}
          width={percent(end_ms - start_ms)}
          height="100%"
        />
      ))}
    </>
  );
}

/** Stretches of a day in which a level lasted. */
function runsOf(
  { from_ms, step_ms, levels }: PlotData,
  day: { from_ms: number; to_ms: number },
  most: number,
) {
  const runs: { level: number; start_ms: number; end_ms: number }[] = [];
  const first = Math.round((day.from_ms - from_ms) / step_ms);
  const end = Math.min(levels.length, Math.round((day.to_ms - from_ms) / step_ms));
  for (let step = Math.max(0, first); step < end; step++) {
    const level = Math.min(most, levels[step] ?? 0);
    const [start_ms, last] = [from_ms + step * step_ms, runs.at(-1)];
    if (level === 0) continue;
    if (last?.level === level && last.end_ms === start_ms) last.end_ms += step_ms;
    else runs.push({ level, start_ms, end_ms: start_ms + step_ms });
  }
  return runs;
}

/** The share of the width that the dates have, percent. */
const left = 16;
/** From one date to the next. */
const label_px = 18;
const ownStyle =
  "text { fill: var(--quiet); font: 12px system-ui, sans-serif; } .plain { fill: var(--raised); }";
