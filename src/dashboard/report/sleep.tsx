import type { SleepReport } from "../../meaning/report-body.ts";
import { calendarText, type Times } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";
import { around, scaleOf } from "./ranges.ts";
import { DaysPlot, percent } from "./time-axis.tsx";
import { Value } from "./value.tsx";

/** Sleep by day: a bar of deep, REM and light sleep from below; no bar where the watch told of none. */
export function SleepPlot({
  report,
  uncovered,
  times,
}: {
  report: SleepReport;
  uncovered: readonly Uncovered[];
  times: Times;
}) {
  const span = around(report.days);
  const { of, ticks } = scaleOf([0, ...report.days.map(({ asleep }) => (asleep?.total_min ?? 0) / 60)], 0);
  return (
    <DaysPlot
      {...{ span, uncovered, times }}
      scale={ticks}
      label={`Hours asleep by day, of ${report.itemname}`}
    >
      {report.days.map(({ date, from_ms, to_ms, asleep }) => {
        if (asleep === undefined) return null;
        const width_ms = 0.6 * (to_ms - from_ms);
        const x = percent(from_ms + 0.2 * (to_ms - from_ms), span);
        const width = `${((100 * width_ms) / (span.to_ms - span.from_ms)).toFixed(3)}%`;
        let below = 0;
        return (
          <g key={date} data-date={date}>
            {stages.map(({ name, shade }) => {
              const [low, high] = [below, below + asleep[name] / 60];
              below = high;
              return (
                <rect
                  key={name}
                  class={`stage ${shade}`}
                  x={x}
                  width={width}
                  y={`${of(high)}%`}
                  height={`${(of(low) - of(high)).toFixed(2)}%`}
                />
              );
            })}
          </g>
        );
      })}
    </DaysPlot>
  );
}

/** The same as a table, in hours. */
export function SleepTable({ report, of }: { report: SleepReport; of: string }) {
  const columns = [...stages.map(({ name }) => name), "total_min"] as const;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled in its own box
    <section class="wide" tabIndex={0} aria-label="Sleep day by day">
      <table>
        <thead>
          <tr>
            <th scope="col">Day</th>
            {[...stages.map(({ title }) => title), "asleep"].map((title) => (
              <th key={title} scope="col" class="number">
                {title}, h
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {report.days.map(({ date, asleep }, index) => (
            <tr key={date}>
              <th scope="row">{calendarText(date, "en-GB")}</th>
              {asleep === undefined ? (
                <td colSpan={4}>none told</td>
              ) : (
                columns.map((column) => (
                  <td key={column} class="number">
                    <Value
                      of={`${of}.days.${index}.asleep.${column}`}
                      value={asleep[column]}
                      per={60}
                      digits={1}
                    />
                  </td>
                ))
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

export const stages = [
  { name: "deep_min", title: "deep", shade: "deep" },
  { name: "rem_min", title: "REM", shade: "rem" },
  { name: "light_min", title: "light", shade: "light" },
] as const;
