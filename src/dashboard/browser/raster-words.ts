import type { Measure } from "../measures.ts";
import { isMissing, nothingWords } from "../parts/nothing-look.ts";
import type { DrawnDay } from "../parts/plots.ts";
import type { PlotData } from "../plot-format.ts";
import { clockText, dateText, type Times } from "../time-text.ts";

/** A moment of a raster as a person would say it. */
export function wordsAt(
  at_ms: number,
  { data, measure, times }: { data: PlotData; measure: Measure; times: Times },
): string {
  const { from_ms, step_ms, counts, levels, uncovered } = data;
  const step = Math.floor((at_ms - from_ms) / step_ms);
  const start_ms = from_ms + step * step_ms;
  const [count, level] = [counts[step] ?? 0, levels[step] ?? 0];
  const when = `${dateText(at_ms, times)}, ${clockText(start_ms, times)}`;
  const readings = count === 0 ? "" : `, ${count} ${count === 1 ? "reading" : "readings"}`;
  const whys = uncovered.filter((span) => at_ms >= span.from_ms && at_ms < span.to_ms).map(({ why }) => why);
  const doubt = whys.includes("doubt") ? `; ${nothingWords.doubt}` : "";
  if (level > 0) return `${when}: ${measure.levels[level - 1]}${readings}${doubt}`;
  if (count > 0) return `${when}: at rest${readings}${doubt}`;
  const [why] = whys;
  if (why !== undefined) return `${when}: ${nothingWords[why]}`;
  return start_ms > times.now_ms ? `${when}: not yet` : `${when}: nothing happened`;
}

/** The days of a raster on which the device was there in numbers, the newest first. */
export function drawnDays(
  { from_ms, step_ms, counts, levels, uncovered }: PlotData,
  edges_ms: readonly number[],
  depths: number,
): DrawnDay[] {
  const days = edges_ms.slice(1).map((to_ms, day) => [edges_ms[day] ?? 0, to_ms] as const);
  const isThere = ([start_ms, to_ms]: readonly [number, number]) =>
    !uncovered.some((span) => span.why === "absent" && span.from_ms <= start_ms && span.to_ms >= to_ms);
  return days
    .filter(isThere)
    .map(([start_ms, to_ms]): DrawnDay => {
      const [first, end] = [start_ms, to_ms].map((edge_ms) => Math.round((edge_ms - from_ms) / step_ms));
      const lasted_ms = Array.from({ length: depths }, () => 0);
      let readings = 0;
      for (let step = first ?? 0; step < (end ?? 0); step++) {
        readings += counts[step] ?? 0;
        const level = levels[step] ?? 0;
        if (level > 0) lasted_ms[level - 1] = (lasted_ms[level - 1] ?? 0) + step_ms;
      }
      const uncovered_ms = uncovered
        .filter(isMissing)
        .reduce(
          (sum, span) => sum + Math.max(0, Math.min(span.to_ms, to_ms) - Math.max(span.from_ms, start_ms)),
          0,
        );
      return { from_ms: start_ms, to_ms, readings, lasted_ms, uncovered_ms };
    })
    .reverse();
}
