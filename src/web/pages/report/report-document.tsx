import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";
import { day_ms } from "../../../base/time.ts";
import type { Dose } from "../../../domain/derived/doses.ts";
import { quartilesOf } from "../../../domain/derived/quartiles.ts";
import variables from "../../server/variables.css" with { type: "text" };
import { weeksOf } from "../device/box-doses.ts";
import device from "../device/device.css" with { type: "text" };
import { DoseGrid } from "../device/dose-grid.tsx";
import { Swatch } from "../parts/swatch.tsx";
import { Legend, Patterns } from "../parts/uncovered-shapes.tsx";
import general from "../style.css" with { type: "text" };
import { exactText, listText, numberText, type Times, yearDateText } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";
import type { HouseholdReport } from "./household-report.ts";
import { ActivityRaster, EventsTable, listenedText, MissingPlot, MissingTable } from "./minute-plots.tsx";
import { SleepPlot, SleepTable, SpreadPlot, SpreadTable, stages } from "./number-plots.tsx";
import own from "./report.css" with { type: "text" };
import { around, Definition, uncoveredIn } from "./report-figures.tsx";

/** A report as one HTML file that asks for nothing outside of itself and needs no script. */
export function reportDocument(of: ReportPageOf): string {
  const document = (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        />
        <title>{`${homeTitle(of.report)}, report · Lintel`}</title>
        {/* A browser asks a server for an icon that no page names. */}
        <link rel="icon" href="data:," />
        <style dangerouslySetInnerHTML={{ __html: [variables, general, device, own].join("\n") }} />
      </head>
      <body>
        <ReportPage {...of} />
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}\n`;
}

/** A report of a home and a span, as one page. */
export function ReportPage({ report, now_ms, version }: ReportPageOf) {
  const { missing } = report;
  const zone = missing[0]?.timezone ?? "UTC";
  const times: Times = { locale: "en-GB", zone, now_ms };
  const span = around(missing.map((one) => one.span));
  const nothing = (itemname: string): readonly Uncovered[] => {
    const own = missing.find((one) => one.itemname === itemname);
    return own === undefined ? [] : uncoveredIn(own);
  };
  const parts = { report, times, nothing };
  return (
    <main class="report">
      <Patterns />
      <h1>{homeTitle(report)}</h1>
      <p class="span-words">
        {yearDateText(span.from_ms, times)} to {yearDateText(span.to_ms - 1, times)},{" "}
        {zone.replaceAll("_", " ")}
      </p>
      <p class="answer">{answerOf(report)}</p>
      <Legend spans={missing.flatMap(uncoveredIn)} night />
      <Doses {...parts} />
      <Walking {...parts} />
      <Activity {...parts} />
      <Weights {...parts} />
      <Sleep {...parts} />
      <Part of="missing" title="Missing data">
        <MissingPlot reports={missing} times={times} />
        <MissingTable reports={missing} />
      </Part>
      <footer>
        Made by Lintel {version} at {exactText(now_ms, times)}. <code>lintel report --json</code> has every
        number of this page, and more.
      </footer>
    </main>
  );
}

interface ReportParts {
  readonly report: HouseholdReport;
  readonly times: Times;
  /** When nothing is known of an item. */
  readonly nothing: (itemname: string) => readonly Uncovered[];
}

function Doses({ report: { pillboxes }, times }: ReportParts) {
  if (pillboxes.length === 0) return null;
  return (
    <Part of="doses">
      {pillboxes.map((box, index) => (
        <DoseGrid
          key={box.itemname}
          {...times}
          zone={box.timezone}
          id={`doses-${index}`}
          title={`Doses, ${box.itemname}`}
          doses={{ ...box, weeks: weeksOf(box.doses) }}
        />
      ))}
    </Part>
  );
}

function Walking({ report: { walking }, times, nothing }: ReportParts) {
  return walking.map((line, index) => {
    const weeks = line.weeks.map((week) => ({ ...week, spread: week.speeds }));
    return (
      <Part key={line.name} of="walking" title={`Walking speed, ${line.name}`}>
        {weeks.some(({ spread }) => spread !== undefined) ? (
          <SpreadPlot
            {...{ weeks, times }}
            digits={1}
            uncovered={commonOf(line.sensors.map(({ item }) => nothing(item)))}
            label={`Walking speed on the line ${line.name} by week, m/s`}
          />
        ) : (
          <p>No walks.</p>
        )}
        <SpreadTable
          {...{ weeks, counted: "walks", unit: "m/s", digits: 2 }}
          of={(week) => `walking.${index}.weeks.${week}.speeds`}
        />
      </Part>
    );
  });
}

function Activity({ report: { activity }, times: { now_ms }, nothing }: ReportParts) {
  if (activity.length === 0) return null;
  return (
    <Part of="activity" title="Activity, day by hour">
      {activity.map((one) => (
        <ActivityRaster key={one.itemname} report={one} uncovered={nothing(one.itemname)} until_ms={now_ms} />
      ))}
      <details>
        <summary>Events by day</summary>
        <EventsTable reports={activity} />
      </details>
    </Part>
  );
}

function Weights({ report: { weights }, times, nothing }: ReportParts) {
  return weights.map((scale, index) => {
    const weeks = scale.weeks.map((week) => ({ ...week, spread: week.kilograms }));
    return (
      <Part key={scale.itemname} of="weights" title={`Weight, ${scale.itemname}`}>
        <SpreadPlot
          {...{ weeks, times }}
          dots={scale.days.map(({ at_ms, kilograms }) => ({ at_ms: at_ms + day_ms / 2, value: kilograms }))}
          digits={1}
          uncovered={nothing(scale.itemname)}
          label={`Weight on ${scale.itemname} by week, kg`}
        />
        <SpreadTable
          {...{ weeks, counted: "days", unit: "kg", digits: 1 }}
          of={(week) => `weights.${index}.weeks.${week}.kilograms`}
        />
      </Part>
    );
  });
}

function Sleep({ report: { sleep }, times, nothing }: ReportParts) {
  return sleep.map((watch, index) => (
    <Part key={watch.itemname} of="sleep" title={`Sleep, ${watch.itemname}`}>
      <ul class="legend" aria-label="How sleep is drawn">
        {stages.map(({ name, title, shade }) => (
          <li key={name}>
            <Swatch>
              <rect width="100%" height="100%" class={`stage ${shade}`} />
            </Swatch>
            {title}
          </li>
        ))}
      </ul>
      <SleepPlot report={watch} uncovered={nothing(watch.itemname)} times={times} />
      <details>
        <summary>The same as a table</summary>
        <SleepTable report={watch} of={`sleep.${index}`} />
      </details>
    </Part>
  ));
}

export interface ReportPageOf {
  readonly report: HouseholdReport;
  readonly now_ms: number;
  readonly version: string;
}

/** `Home 12`, where that is known. */
export function homeTitle({ missing }: HouseholdReport): string {
  const home = missing.find(({ homeid }) => homeid !== null)?.homeid;
  return home === undefined ? "Report" : `Home ${home}`;
}

/** A part with its definition beside it. */
function Part({ of, title, children }: PartOf) {
  return (
    <section class={`part ${of}`}>
      {title === undefined ? null : <h2>{title}</h2>}
      <div class="figures">{children}</div>
      <Definition of={of} />
    </section>
  );
}

interface PartOf {
  readonly of: Parameters<typeof Definition>[0]["of"];
  readonly title?: string;
  readonly children: ComponentChildren;
}

/** The page in a sentence or two. */
function answerOf({ pillboxes, walking, missing }: HouseholdReport) {
  const doses = pillboxes.flatMap((box) => box.doses);
  const count = (status: Dose["status"]) => doses.filter((dose) => dose.status === status).length;
  const due = doses.length - count("due");
  const speeds = walking.map((line) => ({
    name: line.name,
    speed: quartilesOf(line.walks.map(({ speed }) => speed))?.median,
  }));
  const worst = missing.toSorted((one, other) => one.total.listened - other.total.listened)[0];
  const said = [
    ...(due > 0
      ? [
          `Of ${due} doses ${listText([
            `${count("taken")} were taken`,
            ...(count("late") > 0 ? [`${count("late")} late`] : []),
            `${count("missed")} missed`,
            ...(count("unknown") > 0 ? [`${count("unknown")} cannot be told`] : []),
          ])}.`,
        ]
      : []),
    ...speeds.flatMap(({ name, speed }) =>
      speed === undefined
        ? []
        : [`The middle walk on the line ${name} was ${numberText(speed, "en", 2)}\u00a0m/s.`],
    ),
    ...(worst === undefined ? [] : [`Least was heard of ${worst.itemname}: ${listenedText(worst)}.`]),
  ];
  return said.join(" ");
}

/** Stretches in which a line could not be walked: those of the sensor that was missing the longest. */
function commonOf(all: readonly (readonly Uncovered[])[]): Uncovered[] {
  const [most = []] = all.toSorted((one, other) => lengthOf(other) - lengthOf(one));
  return [...most];
}

function lengthOf(spans: readonly Uncovered[]): number {
  return spans.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
}
