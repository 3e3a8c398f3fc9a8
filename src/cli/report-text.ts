import { localDate, localTime } from "../base/time.ts";
import type { Dose, DoseStatus } from "../domain/derived/doses.ts";
import { type Quartiles, quartilesOf } from "../domain/derived/quartiles.ts";
import { weeksOf } from "../web/pages/device/box-doses.ts";
import type { PillboxReport, WalkingReport } from "../web/pages/report/household-report.ts";
import type { Colours } from "./terminal.ts";

/** A pill box's doses as a calendar, a week a line, with remarks about the box below. */
export function doseLines(box: PillboxReport, colours: Colours, width = Number.POSITIVE_INFINITY): string[] {
  const shape = shapes.find(({ cell }) => weekWidth + 7 * cell <= width) ?? narrowest;
  const heading = `${"".padEnd(weekWidth)}${weekdays.map((day) => day.slice(0, shape.day).padEnd(shape.cell)).join("")}`;
  return [
    colours.dim(heading.trimEnd()),
    ...weeksOf(box.doses)
      .toReversed()
      .map((week) => weekLine(week, box.timezone, colours, shape)),
    ...(shape === narrowest ? [colours.dim("(a wider window or | less -S shows times)")] : []),
    "",
    countLine(box, colours),
    ...remarks(box, colours),
  ];
}

/** How much of a dose there is room for; a cell ends with a space. */
interface Shape {
  readonly cell: number;
  /** Letters of a weekday. */
  readonly day: number;
  readonly words: boolean;
  readonly times: boolean;
}

const narrowest: Shape = { cell: 3, day: 2, words: false, times: false };
const shapes: readonly Shape[] = [
  { cell: 11, day: 3, words: true, times: true },
  { cell: 8, day: 3, words: false, times: true },
  narrowest,
];

function weekLine(week: readonly (Dose | null)[], zone: string, colours: Colours, shape: Shape): string {
  const first = week.find((dose) => dose !== null);
  const cells = week.map((dose) => {
    if (dose === null) return "".padEnd(shape.cell);
    const { paint, mark, word = "" } = marks[dose.status];
    const time = dose.at_ms === undefined || !shape.times ? "" : localTime(zone, dose.at_ms);
    const shown = [mark, shape.words ? word : "", time].filter((part) => part !== "").join(" ");
    return colours[paint](shown.padEnd(shape.cell));
  });
  return `${colours.dim((first?.date ?? "").padEnd(weekWidth))}${cells.join("")}`.trimEnd();
}

function countLine({ doses }: PillboxReport, colours: Colours): string {
  return (Object.keys(marks) as DoseStatus[])
    .map((status) => ({ status, count: doses.filter((dose) => dose.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) =>
      colours[marks[status].paint](`${marks[status].mark} ${count} ${marks[status].name}`),
    )
    .join("   ");
}

function remarks(box: PillboxReport, colours: Colours): string[] {
  const moment = (at_ms: number) =>
    `${localDate(box.timezone, at_ms).slice(5)} ${localTime(box.timezone, at_ms)}`;
  const remark = (what: string, moments: readonly string[]) =>
    moments.length === 0 ? [] : [colours.dim(`${what}: ${shortened(moments)}`)];
  return [
    ...remark("one lid for all days", box.doors === "one" ? ["every opening of it is that day's dose"] : []),
    ...remark(
      "reloaded",
      box.reloads.map(({ from_ms }) => moment(from_ms)),
    ),
    ...remark(
      "another day's door opened",
      box.otherDoors.map(({ at_ms, door }) => `${moment(at_ms)} (${weekdays[door]})`),
    ),
    ...remark(
      "left open",
      box.leftOpen.map(
        ({ door, from_ms, to_ms }) =>
          `${weekdays[door]} ${moment(from_ms)} to ${to_ms === undefined ? "now" : moment(to_ms)}`,
      ),
    ),
    ...remark(
      "not known",
      box.unknown.map(({ from_ms, to_ms }) => `${moment(from_ms)} to ${moment(to_ms)}`),
    ),
  ];
}

function shortened(moments: readonly string[]): string {
  const more = moments.length - remarks_max;
  return more > 0 ? `${moments.slice(0, remarks_max).join(", ")} and ${more} more` : moments.join(", ");
}

/** How doses are shown; the line that counts them explains the marks. */
const marks: Readonly<
  Record<DoseStatus, { mark: string; word?: string; name: string; paint: "green" | "yellow" | "red" | "dim" }>
> = {
  taken: { mark: "✓", name: "taken", paint: "green" },
  late: { mark: "+", name: "late, after midnight", paint: "yellow" },
  missed: { mark: "✗", word: "missed", name: "missed", paint: "red" },
  unknown: { mark: "?", word: "unknown", name: "unknown", paint: "dim" },
  due: { mark: "·", word: "due", name: "due", paint: "dim" },
};

const weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"] as const;
const weekWidth = 12;
const remarks_max = 6;

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
