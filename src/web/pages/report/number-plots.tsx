import type { TimeSpan } from "../../../base/time.ts";
import { type Quartiles, quartilesOf } from "../../../domain/derived/quartiles.ts";
import { farOf } from "../device/curve-data.ts";
import { NumberCells, Table } from "../parts/table.tsx";
import { calendarText, type Times } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";
import { around, DaysPlot, percent, scaleOf, Value } from "./report-figures.tsx";
import type { SleepReport } from "./report-measures.ts";

/** A number week by week: a box from the lower to the upper quartile with the median in it, whiskers to the least and the greatest, and single values as dots. */
export function SpreadPlot({ weeks, dots = [], digits, uncovered, times, label }: SpreadOf) {
  const told = weeks.flatMap(({ spread }) => (spread === undefined ? [] : [spread.minimum, spread.maximum]));
  const all = dots.length > 0 ? dots.map(({ value }) => value) : told;
  const far = farOf(all, quartilesOf(all));
  const { of, ticks } = scaleOf(far === undefined ? all : [far.least, far.greatest], digits);
  const span = around(weeks);
  const y = (value: number) => `${of(value)}%`;
  const half_ms = (span.to_ms - span.from_ms) / 90;
  const isFar = (value: number) => far !== undefined && (value < far.least || value > far.greatest);
  return (
    <>
      <DaysPlot {...{ span, uncovered, times, label }} scale={ticks}>
        {dots.map(({ at_ms, value }) =>
          isFar(value) ? (
            <text
              key={at_ms}
              class="far"
              x={percent(at_ms, span)}
              y={y(value)}
              text-anchor="middle"
              dominant-baseline="middle"
              data-value={value}
            >
              {value > (far?.greatest ?? 0) ? "▲" : "▼"}
            </text>
          ) : (
            <circle
              key={at_ms}
              class="dot"
              cx={percent(at_ms, span)}
              cy={y(value)}
              r="2.5"
              data-value={value}
            />
          ),
        )}
        {weeks.map(({ from, from_ms, to_ms, spread }) => {
          if (spread === undefined) return null;
          const middle_ms = (from_ms + to_ms) / 2;
          const [left, middle, right] = [-1, 0, 1].map((side) => percent(middle_ms + side * half_ms, span));
          const width = `${((200 * half_ms) / (span.to_ms - span.from_ms)).toFixed(3)}%`;
          return (
            <g key={from} class="spread" data-from={from}>
              <line x1={middle} x2={middle} y1={y(spread.maximum)} y2={y(spread.minimum)} />
              <rect
                x={left}
                width={width}
                y={y(spread.upper)}
                height={`${Math.max(0.5, of(spread.lower) - of(spread.upper)).toFixed(2)}%`}
              />
              <line class="median" x1={left} x2={right} y1={y(spread.median)} y2={y(spread.median)} />
            </g>
          );
        })}
      </DaysPlot>
      {far === undefined ? null : <p>{farText(far.count)}</p>}
    </>
  );
}

function farText(count: number): string {
  const [are, marks] = count === 1 ? ["value is", "a triangle"] : ["values are", "triangles"];
  return `${count} ${are} far from all others, and drawn at the edge as ${marks}.`;
}

interface SpreadOf {
  readonly weeks: readonly SpreadWeek[];
  readonly dots?: readonly { readonly at_ms: number; readonly value: number }[];
  readonly digits: number;
  readonly uncovered: readonly Uncovered[];
  readonly times: Times;
  readonly label: string;
}

export interface SpreadWeek extends TimeSpan {
  readonly from: string;
  readonly spread: Quartiles | undefined;
}

/** The same as a table. `of`: where a week's spread stands in the JSON. */
export function SpreadTable({ weeks, counted, unit, digits, of }: SpreadTableOf) {
  const columns = ["median", "lower", "upper", "minimum", "maximum"] as const;
  return (
    <Table
      name={`${counted} week by week`}
      head={["Week from"]}
      numbers={[counted, ...spreadTitles.map((title) => `${title}, ${unit}`)]}
    >
      {weeks.map(({ from, spread }, index) => {
        const title = calendarText(from, "en-GB");
        if (spread === undefined) return <EmptyRow key={from} title={title} columns={6} words="none" />;
        const numbers = [
          <Value key="count" of={`${of(index)}.count`} value={spread.count} />,
          ...columns.map((column) => (
            <Value key={column} of={`${of(index)}.${column}`} value={spread[column]} digits={digits} />
          )),
        ];
        return (
          <tr key={from}>
            <NumberCells title={title} numbers={numbers} />
          </tr>
        );
      })}
    </Table>
  );
}

const spreadTitles = ["median", "lower quartile", "upper quartile", "least", "greatest"];

function EmptyRow({ title, columns, words }: { title: string; columns: number; words: string }) {
  return (
    <tr>
      <th scope="row">{title}</th>
      <td colSpan={columns}>{words}</td>
    </tr>
  );
}

interface SpreadTableOf {
  readonly weeks: readonly SpreadWeek[];
  /** The name of the things that a week has so many of. */
  readonly counted: string;
  readonly unit: string;
  readonly digits: number;
  readonly of: (index: number) => string;
}

/** Sleep by day: a bar of deep, REM and light sleep from below; no bar where the watch told of none. */
export function SleepPlot(given: { report: SleepReport; uncovered: readonly Uncovered[]; times: Times }) {
  const { report, uncovered, times } = given;
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
              const [low, high] = [below, below + (asleep[name] ?? 0) / 60];
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
    <Table
      name="Sleep day by day"
      head={["Day"]}
      numbers={[...stages.map(({ title }) => title), "asleep"].map((title) => `${title}, h`)}
    >
      {report.days.map(({ date, asleep }, index) => {
        const title = calendarText(date, "en-GB");
        if (asleep === undefined) return <EmptyRow key={date} title={title} columns={4} words="none told" />;
        const path = `${of}.days.${index}.asleep`;
        const numbers = columns.map((column) => (
          <Value key={column} of={`${path}.${column}`} value={asleep[column]} per={60} digits={1} />
        ));
        return (
          <tr key={date}>
            <NumberCells title={title} numbers={numbers} />
          </tr>
        );
      })}
    </Table>
  );
}

export const stages = [
  { name: "deep_min", title: "deep", shade: "deep" },
  { name: "rem_min", title: "REM", shade: "rem" },
  { name: "light_min", title: "light", shade: "light" },
] as const;
