import { type CoverageReason, coverageReasons } from "../../../domain/coverage-record.ts";
import { hourOf } from "../home/strip-window.ts";
import { NumberCells, Table } from "../parts/table.tsx";
import { night_h } from "../parts/uncovered-look.ts";
import { Nothing } from "../parts/uncovered-shapes.tsx";
import { calendarText, numberText, type Times } from "../time-text.ts";
import type { Uncovered } from "../uncovered.ts";
import { around, DayLabels, percent, uncoveredIn, Value } from "./report-figures.tsx";
import type { ActiveDay, ActivityReport, MissingReport } from "./report-measures.ts";

/** A sensor day by hour: a row a day, the newest on top, as long as that day was; a mark for each minute in which it told something. */
export function ActivityRaster({ report, uncovered, until_ms }: RasterOf) {
  const days = report.days.toReversed();
  const longest_ms = Math.max(...days.map(({ from_ms, to_ms }) => to_ms - from_ms));
  const events = report.days.reduce((sum, day) => sum + day.events, 0);
  const rowAt = (index: number) => `${((100 * index) / days.length).toFixed(3)}%`;
  return (
    <figure class="plot activity">
      <figcaption>
        <strong>
          <bdi>{report.itemname}</bdi>
        </strong>{" "}
        {numberText(events, "en-GB")} events in {days.length} days
      </figcaption>
      <div class="raster">
        <svg class="row-labels" height={days.length * row_px} aria-hidden="true" focusable="false">
          {days.map((day, index) =>
            index % labelled === 0 ? (
              <text
                key={day.date}
                x="100%"
                y={rowAt(index + 0.5)}
                text-anchor="end"
                dominant-baseline="middle"
              >
                {calendarText(day.date, "en-GB")}
              </text>
            ) : null,
          )}
        </svg>
        <svg
          class="rows"
          height={days.length * row_px}
          role="img"
          aria-label={`${report.itemname}, day by hour: ${events} events`}
        >
          {days.map((day, index) => (
            <svg
              key={day.date}
              aria-hidden="true"
              y={rowAt(index)}
              width={`${((100 * (day.to_ms - day.from_ms)) / longest_ms).toFixed(3)}%`}
              height={row_px - 1}
            >
              <DayRow {...{ day, uncovered, until_ms, zone: report.timezone }} />
            </svg>
          ))}
        </svg>
        <svg class="hours" aria-hidden="true" focusable="false">
          {[0, 6, 12, 18].map((hour) => (
            <text key={hour} x={`${(100 * hour) / 24}%`} y="1em">
              {String(hour).padStart(2, "0")}
            </text>
          ))}
        </svg>
      </div>
    </figure>
  );
}

interface RasterOf {
  readonly report: ActivityReport;
  readonly uncovered: readonly Uncovered[];
  /** Until when there is something to know, unix milliseconds. */
  readonly until_ms: number;
}

/** Events of every sensor on every day. */
export function EventsTable({ reports }: { reports: readonly ActivityReport[] }) {
  return (
    <Table
      name="Events by day"
      head={["Day"]}
      numbers={reports.map(({ itemname }) => <bdi key={itemname}>{itemname}</bdi>)}
    >
      {(reports[0]?.days ?? []).map(({ date }, day) => (
        <tr key={date}>
          <NumberCells
            title={calendarText(date, "en-GB")}
            numbers={reports.map(({ itemname, days }, index) => (
              <Value
                key={itemname}
                of={`activity.${index}.days.${day}.events`}
                value={days[day]?.events ?? 0}
              />
            ))}
          />
        </tr>
      ))}
    </Table>
  );
}

function DayRow(
  of: Pick<RasterOf, "uncovered" | "until_ms"> & { readonly day: ActiveDay; readonly zone: string },
) {
  const { day, uncovered, until_ms, zone } = of;
  const { date, from_ms, to_ms, minutes } = day;
  const at = (hour: number) => percent(hourOf(zone, date, hour), day);
  const length = Math.round((to_ms - from_ms) / minute_ms);
  const ahead =
    until_ms < to_ms ? [{ from_ms: Math.max(from_ms, until_ms), to_ms, why: "absent" as const }] : [];
  return (
    <>
      <rect class="ground" width="100%" height="100%" />
      <rect class="bedtime" width={at(night_h.to)} height="100%" />
      <rect class="bedtime" x={at(night_h.from)} width="100%" height="100%" />
      <Nothing
        spans={[...uncovered.filter((one) => one.from_ms < to_ms && one.to_ms > from_ms), ...ahead]}
        {...{ from_ms, to_ms }}
      />
      <svg
        aria-hidden="true"
        width="100%"
        height="100%"
        viewBox={`0 0 ${length} 1`}
        preserveAspectRatio="none"
      >
        <path
          class="minute"
          data-date={day.date}
          d={minutes.map((minute) => `M${minute + 0.5} 0v1`).join("")}
        />
      </svg>
    </>
  );
}

/** Every seventh row from the newest on has its date. */
const labelled = 7;
/** Height of a day, CSS pixels. */
const row_px = 7;
const minute_ms = 60_000;

/** Every item in a row over the whole span: plain where it was listened to and alive. */
export function MissingPlot({ reports, times }: { reports: readonly MissingReport[]; times: Times }) {
  const span = around(reports.map((report) => report.span));
  return (
    <div class="missing-plot">
      {reports.map((report) => (
        <div key={report.itemname} class="missing-row">
          <bdi>{report.itemname}</bdi>
          <svg class="covered" role="img" aria-label={`${report.itemname}: ${listenedText(report)}`}>
            <Nothing spans={uncoveredIn(report)} {...span} />
          </svg>
        </div>
      ))}
      <div class="missing-row">
        <span />
        <DayLabels span={span} times={times} />
      </div>
    </div>
  );
}

/** Minutes of every item: covered, missing by reason, and unknown. */
export function MissingTable({ reports }: { reports: readonly MissingReport[] }) {
  const reasons = (Object.keys(coverageReasons) as CoverageReason[]).filter((reason) =>
    reports.some(({ total }) => (total.missing[reason] ?? 0) > 0),
  );
  return (
    <Table
      name="Minutes by what is known of them"
      head={["Item"]}
      numbers={["minutes", "listened to", ...reasons.map((reason) => reason.replaceAll("_", " ")), "unknown"]}
    >
      {reports.map(({ itemname, total }, index) => {
        const told = [
          ["minutes", total.minutes],
          ["listened", total.listened],
          ...reasons.map((reason) => [`missing.${reason}`, total.missing[reason]] as const),
          ["unknown", total.unknown],
        ] as const;
        return (
          <tr key={itemname}>
            <NumberCells
              title={<bdi>{itemname}</bdi>}
              numbers={told.map(([name, value]) =>
                value === undefined ? (
                  ""
                ) : (
                  <Value key={name} of={`missing.${index}.total.${name}`} value={value} />
                ),
              )}
            />
          </tr>
        );
      })}
    </Table>
  );
}

/** How much of the time that is past was listened to: `97 % listened to`. */
export function listenedText({ total, span }: MissingReport): string {
  const past = Math.max(1, (span.to_ms - span.from_ms) / 60_000);
  return `${Math.round((100 * total.listened) / past)} % listened to`;
}
