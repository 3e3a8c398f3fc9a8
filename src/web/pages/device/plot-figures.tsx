import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { day_ms, hour_ms, type TimeSpan } from "../../../base/time.ts";
import { deviceHref } from "../parts/page-frame.tsx";
import { type Drawing, type DrawnDay, type PlotForm, PlotsContext } from "../parts/plots-and-tones.ts";
import { Swatch } from "../parts/swatch.tsx";
import { NumberCells, Table } from "../parts/table.tsx";
import type { FrameData } from "../site.ts";
import { addressDate, addressMinute, dateText, durationText, numberText } from "../time-text.ts";
import type { Curve } from "./curve-data.ts";
import { type MeasureName, measures, plotAddress, rowHeightOf, rowsTop } from "./day-plots.ts";
import type { DeviceData } from "./device-data.ts";

/** A measure day by hour: drawn where there is a browser, and told in words and as a table everywhere. */
export function RasterFigure(of: DeviceData & FrameData & { name: MeasureName; device: string }) {
  const { name, ...data } = of;
  const { span, health, locale, zone, now_ms, device, form } = data;
  const { notes } = data.noting;
  const noted = JSON.stringify(notes);
  const measure = measures[name];
  const plots = useContext(PlotsContext);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  const [words, setWords] = useState("");
  const [days, setDays] = useState<readonly DrawnDay[] | "fault">();
  const url = plotAddress({ ...data, name: device }, name);
  useEffect(() => {
    if (plots === undefined || canvas.current === null) return;
    drawing.current = plots.raster(canvas.current, {
      url,
      edges_ms: span.edges_ms,
      measure,
      notes,
      form,
      times: { locale, zone, now_ms },
      opened: (day_ms) => addressOf({ ...data, name: device }, { day: addressDate(day_ms, zone) }),
      said: setWords,
      drawn: (drawn) => setDays(drawn ?? "fault"),
      chosen: (days) => plots.open(addressOf({ ...data, name: device }, momentsOf(days, zone))),
      viewed: plots.open,
    });
    return () => drawing.current?.stop();
  }, [plots, url, form, noted]);
  useEffect(() => drawing.current?.follow(), [String(span.hours)]);
  useEffect(() => {
    if (days !== undefined) drawing.current?.refresh();
  }, [health.newest_ms]);
  const isPart = Array.isArray(days) && form === "spiral" && days.length < span.edges_ms.length - 1;
  const shown = isPart ? daysText(days, { locale, zone, now_ms }) : "";
  const summary = `${shown}${summaryOf(days, { measure, locale })}`;
  return (
    <figure class="plot">
      <figcaption>
        {measure.title}
        {form === "spiral" ? ", each turn a day: midnight on top, the newest outermost" : null}.{" "}
        <span role="status">{words === "" ? summary : words}</span>
      </figcaption>
      <div
        class={`drawing ${form}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: arrows move within the plot
        tabIndex={0}
        role="application"
        aria-roledescription="plot"
        aria-label={`${measure.title}${form === "spiral" ? ", as a spiral" : ""}: ${summary} ${keys[form]}`}
      >
        {form === "rows" ? (
          <svg class="room" width="0" height={roomOf(span.edges_ms)} aria-hidden="true" focusable="false" />
        ) : null}
        <canvas ref={canvas} />
        {/* Of the server alone: a browser with script never asks for the picture. */}
        {plots === undefined ? (
          <noscript>
            <img src={url.replace("?", ".svg?")} alt={measure.title} width="100%" />
          </noscript>
        ) : null}
      </div>
      {measure.levels.length < 2 ? null : (
        <ul class="legend" aria-label="Meaning of the shades">
          {measure.levels.map((level, at) => (
            <li key={level}>
              <Swatch>
                <rect width="100%" height="100%" class="level" opacity={(at + 1) / measure.levels.length} />
              </Swatch>{" "}
              {level}
            </li>
          ))}
        </ul>
      )}
      <div class="as-table">
        {Array.isArray(days) ? (
          <details>
            <summary>The same as a table</summary>
            <Days days={days} levels={measure.levels} {...{ locale, zone, now_ms }} />
          </details>
        ) : null}
      </div>
    </figure>
  );
}

const keys: Readonly<Record<PlotForm, string>> = {
  rows: "Arrows move, Enter opens a day, plus and minus zoom in and out, Shift with arrows moves on, 0 shows all.",
  spiral:
    "Arrows move, Enter opens a day, plus and minus show fewer days and more, Shift with arrows goes to earlier and later ones, 0 shows the newest.",
};

/** The height of days as rows: the page has it before they are drawn. */
function roomOf(edges_ms: readonly number[]): number {
  const days = edges_ms.length - 1;
  return rowsTop + days * rowHeightOf(days);
}

function Days({
  days,
  levels,
  ...times
}: { days: readonly DrawnDay[]; levels: readonly string[] } & Pick<DeviceData, "zone"> &
  Pick<FrameData, "locale" | "now_ms">) {
  const hours = (length_ms: number) => numberText(length_ms / 3_600_000, times.locale, 1);
  return (
    <Table
      name="Day by day"
      head={["Day"]}
      numbers={["Readings", ...[...levels, "not known"].map((title) => `${title}, hours`)]}
    >
      {days.map((day) => (
        <tr key={day.from_ms} data-from={day.from_ms}>
          <NumberCells
            title={dateText(day.from_ms, times)}
            numbers={[
              numberText(day.readings, times.locale),
              ...[...day.lasted_ms, day.uncovered_ms].map(hours),
            ]}
          />
        </tr>
      ))}
    </Table>
  );
}

/** The days that a spiral shows, which are not all of the span: `Monday 9 November to Sunday 22 November: `. */
function daysText(days: readonly DrawnDay[], times: Parameters<typeof dateText>[1]): string {
  const [newest, oldest] = [days[0], days.at(-1)];
  if (newest === undefined || oldest === undefined) return "";
  return `${dateText(oldest.from_ms, times)} to ${dateText(newest.from_ms, times)}: `;
}

function summaryOf(
  days: readonly DrawnDay[] | "fault" | undefined,
  { measure, locale }: { measure: (typeof measures)[MeasureName]; locale: string },
): string {
  if (days === undefined) return "";
  if (days === "fault") return "This cannot be drawn now: load the page again.";
  const readings = days.reduce((sum, day) => sum + day.readings, 0);
  const uncovered_ms = days.reduce((sum, day) => sum + day.uncovered_ms, 0);
  const parts = measure.levels.flatMap((level, at) => {
    const lasted_ms = days.reduce((sum, day) => sum + (day.lasted_ms[at] ?? 0), 0);
    return lasted_ms === 0 ? [] : [`${level} for ${hoursText(lasted_ms, locale)}`];
  });
  const told = [
    `${numberText(readings, locale)} readings in ${days.length} ${days.length === 1 ? "day" : "days"}`,
    ...parts,
  ].join(", ");
  return uncovered_ms === 0 ? `${told}.` : `${told}; not known for ${hoursText(uncovered_ms, locale)}.`;
}

/** A sum of many stretches of time, which would read as one of them if it were told in days: `52 hours`. */
function hoursText(sum_ms: number, locale: string): string {
  const hours = Math.round(sum_ms / hour_ms);
  if (hours < 2) return durationText(sum_ms);
  return `${numberText(hours, locale)} hours`;
}

/** A stretch of time as addresses have it: in days, and to the minute where it is short. */
function momentsOf({ from_ms, to_ms }: TimeSpan, zone: string): { from: string; until: string } {
  if (to_ms - from_ms >= minutes_below_ms)
    return { from: addressDate(from_ms, zone), until: addressDate(to_ms + day_ms - 1, zone) };
  const [from, until] = [addressMinute(from_ms, zone), addressMinute(to_ms, zone)];
  const isWhole = [from, until].every((text) => text.endsWith("T00:00"));
  return isWhole ? { from: from.slice(0, 10), until: until.slice(0, 10) } : { from, until };
}

const minutes_below_ms = 3 * day_ms;

/** Numbers over time, drawn where there is a browser, and told in words and as a table everywhere. */
export function CurveFigure({ curve, ...data }: DeviceData & FrameData & { curve: Curve }) {
  const { locale, zone, now_ms, uncovered, span } = data;
  const { title, unit, digits, lines } = curve;
  const plots = useContext(PlotsContext);
  const box = useRef<HTMLDivElement>(null);
  const [words, setWords] = useState("");
  const { from_ms, to_ms } = span;
  const { notes } = data.noting;
  const newest = `${from_ms} ${to_ms} ${curve.at_ms.length} ${curve.at_ms.at(-1)} ${JSON.stringify(notes)}`;
  useEffect(() => {
    if (plots === undefined || box.current === null) return;
    const times = { locale, zone, now_ms };
    const chosen = (time: TimeSpan | undefined) =>
      plots.open(addressOf(data, time === undefined ? { span: span.usual } : momentsOf(time, zone)));
    return plots.curve(box.current, {
      curve,
      uncovered,
      notes,
      from_ms,
      to_ms,
      times,
      said: setWords,
      chosen,
    }).stop;
  }, [plots, newest]);
  const columns = [
    ...lines.map((line) => line.title),
    ...(curve.trend === undefined ? [] : ["lower quartile", "upper quartile"]),
  ];
  const summary = curveSummary(curve, locale);
  return (
    <figure class="plot">
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
        aria-label={`${title}: ${summary} Arrows move from value to value, plus and minus zoom in and out, Shift with arrows moves on, 0 shows all.`}
      />
      <details>
        <summary>The same as a table</summary>
        <Table
          name={`${title}, value by value`}
          head={[curve.weeks_ms === undefined ? "Day" : "Week of"]}
          numbers={columns.map((column) => `${column}, ${unit}`)}
        >
          {rowsOf(curve).map(({ at_ms, known, values }, index) => (
            <tr key={`${at_ms} ${index}`}>
              <NumberCells
                title={`${dateText(at_ms, data)}${known === null ? "" : `, ${known}`}`}
                numbers={values.map((value) => (value === null ? "" : numberText(value, locale, digits)))}
              />
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}

/** A curve in words, as far as somebody can say it in a sentence. */
function curveSummary(curve: Curve, locale: string): string {
  const { unit, digits, lines, spread, range } = curve;
  const number = (value: number) => `${numberText(value, locale, digits)} ${unit}`;
  if (range !== undefined && lines.length === 1)
    return `All lie between ${number(range[0])} and ${number(range[1])}.`;
  if (spread === null || lines.length > 1)
    return `${lines.map((line, at) => `${line.title} ${dashWords[at]}`).join(", ")}, in ${unit}.`;
  const { count, lower, upper, median, minimum, maximum } = spread;
  return `Half of ${numberText(count, locale)} values lie between ${number(lower)} and ${number(upper)}, the middle one is ${number(median)}; all lie between ${number(minimum)} and ${number(maximum)}.${farWords(curve, locale)}${trendWords(curve)}`;
}

/** The legend of the line and its band. */
function trendWords({ trend, weeks_ms }: Curve): string {
  if (trend === undefined) return "";
  return weeks_ms === undefined
    ? " The line is the median of the seven days around each, and the band their middle half."
    : " The line is the median of each week, and the band its middle half.";
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

/** The address of the page with something else shown; what is not named stays. */
export function addressOf(
  { kind, name, span, shown, form }: Pick<DeviceData, "kind" | "name" | "span" | "shown" | "form">,
  changes: AddressChanges,
): string {
  const days =
    changes.span !== undefined
      ? { span: changes.span }
      : changes.from !== undefined && changes.until !== undefined
        ? { from: changes.from, until: changes.until }
        : span.name !== null
          ? { span: span.name }
          : { from: span.from, until: span.until };
  const series = changes.series ?? shown?.path;
  const query = new URLSearchParams(series === undefined ? {} : { series });
  for (const [name, value] of Object.entries(days)) query.set(name, value);
  if ((changes.form ?? form) === "spiral") query.set("as", "spiral");
  if (span.hours !== null && changes.hours !== null) query.set("hours", span.hours.join("-"));
  if (changes.day !== undefined) query.set("day", changes.day);
  return `${deviceHref(kind, name)}?${query}${changes.day === undefined ? "" : "#day"}`;
}

export interface AddressChanges {
  readonly span?: string;
  readonly from?: string;
  readonly until?: string;
  readonly series?: string;
  readonly day?: string;
  readonly form?: PlotForm;
  /** Null: all hours of the days. */
  readonly hours?: null;
}
