import type { ComponentChildren } from "preact";
import { localDays, type TimeSpan } from "../../../base/time.ts";
import { isKind } from "../../../domain/kinds.ts";
import { cadenceOf } from "../../../store/series/coverage-intervals.ts";
import { Nothing } from "../parts/uncovered-shapes.tsx";
import { monthDateText, numberText, type Times } from "../time-text.ts";
import { type Uncovered, whyOf } from "../uncovered.ts";
import type { MissingReport } from "./report-measures.ts";

/** A plot over days: a scale at the left, the days below, what is not known behind it all. `children` are drawn in a square of 100 by 100, y downwards. */
export function DaysPlot({ span, uncovered, scale, times, label, children }: DaysPlotOf) {
  return (
    <div class="days-plot">
      <svg class="scale" aria-hidden="true" focusable="false">
        {scale.map(({ at, text }) => (
          <text key={text} x="100%" y={`${at}%`} text-anchor="end" dominant-baseline="middle">
            {text}
          </text>
        ))}
      </svg>
      <svg class="field" role="img" aria-label={label}>
        {scale.map(({ at, text }) => (
          <line key={text} class="tick" x1="0" x2="100%" y1={`${at}%`} y2={`${at}%`} />
        ))}
        <Nothing spans={uncovered} from_ms={span.from_ms} to_ms={span.to_ms} />
        {children}
      </svg>
      <DayLabels span={span} times={times} />
    </div>
  );
}

interface DaysPlotOf {
  readonly span: TimeSpan;
  readonly uncovered: readonly Uncovered[];
  /** Values of the scale, at so many per cent from above. */
  readonly scale: readonly { readonly at: number; readonly text: string }[];
  readonly times: Times;
  /** The plot in words. */
  readonly label: string;
  readonly children: ComponentChildren;
}

/** Dates below a plot: of Mondays, at most eight. */
export function DayLabels({ span, times }: { span: TimeSpan; times: Times }) {
  const mondays = localDays(times.zone, span).filter(
    ({ weekday, from_ms }) => weekday === 1 && shareOf(from_ms, span) < 0.94,
  );
  const step = Math.ceil(mondays.length / labels_max);
  return (
    <svg class="dates" aria-hidden="true" focusable="false">
      {mondays
        .filter((_, index) => index % step === 0)
        .map(({ from_ms }) => (
          <text key={from_ms} x={percent(from_ms, span)} y="1em">
            {monthDateText(from_ms, times)}
          </text>
        ))}
    </svg>
  );
}

/** A moment as a share of a span, `12.500%`. */
export function percent(at_ms: number, span: TimeSpan): string {
  return `${(100 * shareOf(at_ms, span)).toFixed(3)}%`;
}

function shareOf(at_ms: number, { from_ms, to_ms }: TimeSpan): number {
  return (at_ms - from_ms) / (to_ms - from_ms);
}

const labels_max = 8;

/** Stretches in which nothing is known of an item, as plots draw them: before the first sign of life it was not there, and what a device keeps until it is read has not come yet. */
export function uncoveredIn({ known, span, typename }: MissingReport): Uncovered[] {
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return [{ ...span, why: "absent" }];
  const found: Uncovered[] = [];
  if (first.from_ms > span.from_ms)
    found.push({ from_ms: span.from_ms, to_ms: first.from_ms, why: "absent" });
  for (const { from_ms, to_ms, state } of known)
    if (state !== "covered") found.push({ from_ms, to_ms, why: whyOf(state) });
  const keeps = isKind(typename) && cadenceOf(typename, undefined).buffered;
  if (keeps && last.to_ms < span.to_ms) found.push({ from_ms: last.to_ms, to_ms: span.to_ms, why: "away" });
  return found;
}

/** Round values of a scale around numbers, and where each stands: at most five. */
export function scaleOf(numbers: readonly number[], digits: number): AxisScale {
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
  const step = steps.find((one) => Math.ceil(greatest / one) - Math.floor(least / one) <= steps_max) ?? 1_000;
  const low = Math.floor(least / step) * step;
  const high = Math.max(Math.ceil(greatest / step) * step, low + step);
  const count = Math.round((high - low) / step);
  // What is far from all others is drawn at the edge.
  const of = (value: number) =>
    Math.round((1 - (Math.min(high, Math.max(low, value)) - low) / (high - low)) * 10_000) / 100;
  const ticks = Array.from({ length: count + 1 }, (_, index) => low + index * step);
  return { of, ticks: ticks.map((value) => ({ at: of(value), text: value.toFixed(digits) })) };
}

export interface AxisScale {
  /** Per cent from above. */
  of(value: number): number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** The spans of all, from the first to the last. */
export function around(spans: readonly TimeSpan[]): TimeSpan {
  return {
    from_ms: Math.min(...spans.map(({ from_ms }) => from_ms)),
    to_ms: Math.max(...spans.map(({ to_ms }) => to_ms)),
  };
}

const steps = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200];
const steps_max = 4;

/** A number of a report as people read it; the element has it as `--json` does, and the path by which it stands there. */
export function Value({ of, value, per = 1, digits = 0 }: ValueOf) {
  return (
    <data value={String(value)} data-of={of} data-per={per === 1 ? undefined : per}>
      {value === null ? "unknown" : numberText(value / per, "en", digits)}
    </data>
  );
}

interface ValueOf {
  /** Where it stands in the JSON: `walking.0.weeks.2.speeds.median`. */
  readonly of: string;
  /** Null is unknown. */
  readonly value: number | null;
  /** It is shown divided by this. */
  readonly per?: number;
  readonly digits?: number;
}

/** A definition of a figure beside it, with the papers that it is from. */
export function Definition({ of }: { of: keyof typeof definitions }) {
  const { text, papers } = definitions[of];
  return (
    <aside class="definition">
      <p>{text}</p>
      {papers.length === 0 ? null : (
        <ul>
          {papers.map((paper) => (
            <li key={paper}>{paper}</li>
          ))}
        </ul>
      )}
    </aside>
  );
}

const definitions = {
  doses: {
    text: "A dose is taken where the door of its weekday went up or down that day, late where it did so within six hours after it, missed where the box was heard all day and the door stayed as it was, and not known where it was not heard all day. An opened door is not a swallowed pill.",
    papers: [
      "A seven-day pill box that reports its doors (MedTracker), tried in 39 homes: PubMed Central PMC2911441.",
    ],
  },
  walking: {
    text: "Speed along a line of restricted-view infrared sensors, by least squares of the times at which they fired against their positions; walks that turned back, were not even or not seen by all sensors but one are left out. A box is the middle half of the week's walks with its median, the line reaches to the slowest and the fastest. The sensors cannot tell people apart.",
    papers: [
      "S. Hagler, D. Austin, T. L. Hayes, J. Kaye, M. Pavel: Unobtrusive and ubiquitous in-home monitoring: a methodology for continuous assessment of gait velocity in elders. IEEE Transactions on Biomedical Engineering 57 (2010) 813–820, doi:10.1109/TBME.2009.2036732.",
      "T. L. Hayes and others: Unobtrusive assessment of activity patterns associated with mild cognitive impairment. Alzheimer's & Dementia 4 (2008) 395–405, doi:10.1016/j.jalz.2008.07.004: the median walking speed varied twice as much in mild cognitive impairment.",
      "D. Austin, T. L. Hayes, J. Kaye, N. Mattek, M. Pavel: Unobtrusive monitoring of the longitudinal evolution of in-home gait velocity data with applications to elder care. EMBC 2011, 6495–6498, doi:10.1109/IEMBS.2011.6091603.",
    ],
  },
  activity: {
    text: "A mark is a minute in which the sensor told that somebody moved or that something was opened (bits 1 and 0 of its events). A minute without a mark means that nothing was told; whether anybody could have heard it shows the ground.",
    papers: [
      "T. L. Hayes and others: Unobtrusive assessment of activity patterns associated with mild cognitive impairment. Alzheimer's & Dementia 4 (2008) 395–405, doi:10.1016/j.jalz.2008.07.004.",
    ],
  },
  weights: {
    text: "Each weighing is a dot. A box is the middle half of a week's weighings with its median, the line reaches to the least and the greatest. The scale cannot tell who stood on it.",
    papers: [
      "Quartiles are of type 7: R. J. Hyndman, Y. Fan: Sample quantiles in statistical packages. The American Statistician 50 (1996).",
    ],
  },
  sleep: {
    text: "Minutes that the watch itself calls light, deep or REM sleep, of the episodes that ended on the day. Stretches of sleep that at most an hour parts are one episode. A day without a bar is one of which the watch told no sleep: where it was not worn, the ground says so.",
    papers: [
      "Breaks of up to an hour are joined as in V. T. van Hees and others: Estimating sleep parameters using an accelerometer without sleep diary. Scientific Reports 8 (2018) 12975, doi:10.1038/s41598-018-31266-z.",
    ],
  },
  missing: {
    text: "A minute is listened to where the driver of the gateway was listening and the device alive: no event means then that nothing happened. Otherwise the reason is named; unknown is what lies before the first sign of life, behind the last, or still ahead of today. Minutes of a row add up.",
    papers: [],
  },
} as const;
