import { type Quartiles, quartilesOf } from "../../meaning/quartiles.ts";
import type { WalkingReport } from "../../meaning/report.ts";
import type { Colours } from "../terminal.ts";

/** Walking speed day by day: how many walks, the median and quartiles, and where there is room a box between whiskers. */
export function speedLines(
  { days, walks }: WalkingReport,
  colours: Colours,
  width = Number.POSITIVE_INFINITY,
): string[] {
  const all = quartilesOf(walks.map(({ speed }) => speed));
  if (all === undefined) return [colours.yellow("no walks")];
  const columns = Math.min(plotWidth_max, width - numbersWidth);
  const scale = { ...scaleOf(all), columns: columns < plotWidth_min ? 0 : columns };
  const axis = axisOf(scale);
  return [
    colours.dim(
      `${"day".padEnd(12)}${"walks".padStart(5)}  ${"median".padStart(6)}  ${"quartiles".padEnd(11)}  ${axis}`.trimEnd(),
    ),
    ...days.map(({ date, speeds }) => `${colours.dim(date.padEnd(12))}${dayText(speeds, scale, colours)}`),
    `${colours.bold("all".padEnd(12))}${dayText(all, scale, colours)}`,
  ];
}

function dayText(speeds: Quartiles | undefined, scale: SpeedScale, colours: Colours): string {
  if (speeds === undefined) return colours.dim(`${"0".padStart(5)}`);
  const { count, median, lower, upper } = speeds;
  const numbers = `${String(count).padStart(5)}  ${median.toFixed(2).padStart(6)}  ${lower.toFixed(2)}–${upper.toFixed(2)}`;
  return scale.columns === 0 ? numbers : `${numbers}    ${colours.cyan(boxOf(speeds, scale))}`;
}

/** `  ├───▒▒▒█▒▒──┤`: whiskers to the extremes, the middle half filled, the median full. */
function boxOf({ minimum, lower, median, upper, maximum }: Quartiles, scale: SpeedScale): string {
  const column = (speed: number) =>
    Math.round(((speed - scale.low) / (scale.high - scale.low)) * (scale.columns - 1));
  const [from, to] = [column(minimum), column(maximum)];
  return Array.from({ length: to + 1 }, (_, at) => {
    if (at === column(median)) return "█";
    if (at >= column(lower) && at <= column(upper)) return "▒";
    if (at < from) return " ";
    return at === from ? "├" : at === to ? "┤" : "─";
  }).join("");
}

interface SpeedScale {
  readonly low: number;
  readonly high: number;
  /** Of the plot; none where there is no room for one. */
  readonly columns: number;
}

/** Tenths of a metre a second around all that is to be shown. */
function scaleOf({ minimum, maximum }: Quartiles): Omit<SpeedScale, "columns"> {
  const low = Math.floor(minimum * 10) / 10;
  return { low, high: Math.max(Math.ceil(maximum * 10) / 10, low + 0.1) };
}

function axisOf({ low, high, columns }: SpeedScale): string {
  if (columns === 0) return "";
  const [left, right] = [low.toFixed(1), high.toFixed(1)];
  const middle = ((low + high) / 2).toFixed(2);
  const half = Math.floor((columns - middle.length) / 2) - left.length;
  const start = `${left}${" ".repeat(half)}${middle}`;
  return start + right.padStart(columns - start.length);
}

const plotWidth_max = 41;
const plotWidth_min = 16;
/** Columns of day, walks, median and quartiles, and the space after them. */
const numbersWidth = 40;
