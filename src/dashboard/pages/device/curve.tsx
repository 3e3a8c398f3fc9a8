import { useContext, useEffect, useRef, useState } from "preact/hooks";
import type { FrameData } from "../../page.ts";
import { Legend, Patterns } from "../../parts/coverage.tsx";
import { PlotsContext } from "../../parts/plots.ts";
import { dateText, numberText } from "../../time-text.ts";
import type { Curve } from "./curves.ts";
import type { DeviceData } from "./data.ts";

/** Numbers over time, drawn where there is a browser, and told in words and as a table everywhere. */
export function CurveFigure({ curve, ...data }: DeviceData & FrameData & { curve: Curve }) {
  const { locale, zone, now_ms, uncovered, span } = data;
  const { title, unit, digits, lines, spread, range } = curve;
  const plots = useContext(PlotsContext);
  const box = useRef<HTMLDivElement>(null);
  const [words, setWords] = useState("");
  const [from_ms, to_ms] = [span.edges_ms[0] ?? 0, span.edges_ms.at(-1) ?? 0];
  const newest = `${from_ms} ${to_ms} ${curve.at_ms.length} ${curve.at_ms.at(-1)}`;
  useEffect(() => {
    if (plots === undefined || box.current === null) return;
    const times = { locale, zone, now_ms };
    return plots.curve(box.current, { curve, uncovered, from_ms, to_ms, times, said: setWords }).stop;
  }, [plots, newest]);
  const columns = [
    ...lines.map((line) => line.title),
    ...(curve.trend === undefined ? [] : ["lower quartile", "upper quartile"]),
  ];
  const number = (value: number) => `${numberText(value, locale, digits)} ${unit}`;
  const summary =
    range !== undefined && lines.length === 1
      ? `All lie between ${number(range[0])} and ${number(range[1])}.`
      : spread === null || lines.length > 1
        ? `${lines.map((line, at) => `${line.title} ${dashWords[at]}`).join(", ")}, in ${unit}.`
        : `Half of ${numberText(spread.count, locale)} values lie between ${number(spread.lower)} and ${number(spread.upper)}, the middle one is ${number(spread.median)}; all lie between ${number(spread.minimum)} and ${number(spread.maximum)}.${farWords(curve, locale)}`;
  return (
    <figure class="plot">
      <Patterns />
      <figcaption>
        {title}. <span role="status">{words === "" ? summary : words}</span>
      </figcaption>
      <div
        ref={box}
        class="curve"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows move within the plot
        tabIndex={0}
        role="application"
        aria-roledescription="plot"
        aria-label={`${title}: ${summary} Arrows move from value to value, plus and minus come closer and go away, Shift with arrows moves on, 0 shows all.`}
      />
      <Legend spans={uncovered} />
      <details>
        <summary>The same as a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled in its own box */}
        <section class="wide" tabIndex={0} aria-label={`${title}, value by value`}>
          <table>
            <thead>
              <tr>
                <th scope="col">{curve.weeks_ms === undefined ? "Day" : "Week of"}</th>
                {columns.map((column) => (
                  <th key={column} scope="col" class="number">
                    {column}, {unit}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rowsOf(curve).map(({ at_ms, known, values }, index) => (
                <tr key={`${at_ms} ${index}`}>
                  <th scope="row">
                    {dateText(at_ms, data)}
                    {known === null ? "" : `, ${known}`}
                  </th>
                  {values.map((value, at) => (
                    <td key={columns[at]} class="number">
                      {value === null ? "" : numberText(value, locale, digits)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

/** The newest first, as many as somebody reads; all of them are in the files. */
function rowsOf({ at_ms, weeks_ms = at_ms, known, lines, trend }: Curve) {
  const all = [
    ...lines.map(({ values }) => values),
    ...(trend === undefined ? [] : [trend.lower, trend.upper]),
  ];
  return weeks_ms
    .map((one, at) => ({
      at_ms: one,
      known: known?.[at] ?? null,
      values: all.map((values) => values[at] ?? null),
    }))
    .filter(({ values }) => values.some((value) => value !== null))
    .slice(-rows_max)
    .reverse();
}

const rows_max = 400;
/** The lines of a plot, as they are drawn. */
const dashWords = ["solid", "dashed", "dotted", "dashed and dotted"];

function farWords({ far }: Curve, locale: string): string {
  if (far === undefined) return "";
  const [are, marks] = far.count === 1 ? ["is", "a triangle"] : ["are", "triangles"];
  return ` ${numberText(far.count, locale)} far from all others ${are} drawn at the edge, as ${marks}.`;
}
