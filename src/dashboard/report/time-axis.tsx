import type { ComponentChildren } from "preact";
import { localDays } from "../../meaning/local-day.ts";
import type { TimeSpan } from "../../meaning/span.ts";
import { Nothing } from "../parts/coverage.tsx";
import { monthDateText, type Times } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";

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
