import type { MissingReport } from "../../meaning/report-missing.ts";
import { type CoverageReason, coverageReasons } from "../../records/coverage.ts";
import { Nothing } from "../parts/coverage.tsx";
import type { Times } from "../time-text.ts";
import { around, uncoveredIn } from "./ranges.ts";
import { DayLabels } from "./time-axis.tsx";
import { Value } from "./value.tsx";

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

/** Minutes of every item, by what is known of them. */
export function MissingTable({ reports }: { reports: readonly MissingReport[] }) {
  const reasons = (Object.keys(coverageReasons) as CoverageReason[]).filter((reason) =>
    reports.some(({ total }) => (total.missing[reason] ?? 0) > 0),
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled in its own box
    <section class="wide" tabIndex={0} aria-label="Minutes by what is known of them">
      <table>
        <thead>
          <tr>
            <th scope="col">Item</th>
            {[
              "minutes",
              "listened to",
              ...reasons.map((reason) => reason.replaceAll("_", " ")),
              "unknown",
            ].map((title) => (
              <th key={title} scope="col" class="number">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {reports.map(({ itemname, total }, index) => (
            <tr key={itemname}>
              <th scope="row">
                <bdi>{itemname}</bdi>
              </th>
              <td class="number">
                <Value of={`missing.${index}.total.minutes`} value={total.minutes} />
              </td>
              <td class="number">
                <Value of={`missing.${index}.total.listened`} value={total.listened} />
              </td>
              {reasons.map((reason) => {
                const minutes = total.missing[reason];
                return (
                  <td key={reason} class="number">
                    {minutes === undefined ? (
                      ""
                    ) : (
                      <Value of={`missing.${index}.total.missing.${reason}`} value={minutes} />
                    )}
                  </td>
                );
              })}
              <td class="number">
                <Value of={`missing.${index}.total.unknown`} value={total.unknown} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** How much of the time that is past was listened to: `97 % listened to`. */
export function listenedText({ total, span }: MissingReport): string {
  const past = Math.max(1, (span.to_ms - span.from_ms) / 60_000);
  return `${Math.round((100 * total.listened) / past)} % listened to`;
}
