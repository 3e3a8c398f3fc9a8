import { measuresOf } from "../../measures.ts";
import type { FrameData } from "../../page.ts";
import { yearDateText } from "../../time-text.ts";
import { addressOf } from "./address.ts";
import type { DeviceData } from "./data.ts";
import { spanTitles, spiralDays_max } from "./span-titles.ts";

/** Chooses the days that the page is about, and which of the device's series. */
export function SpanControl(data: DeviceData & FrameData) {
  const { span, series, shown, zone } = data;
  const first_ms = span.edges_ms[0] ?? 0;
  const last_ms = (span.edges_ms.at(-1) ?? 1) - 1;
  const to = (changes: Parameters<typeof addressOf>[1]) => addressOf(data, changes);
  return (
    <section class="span" aria-label="Days shown">
      {series.length < 2 ? null : (
        <nav aria-label="What is shown">
          {series.map(({ path, title }) => (
            <a
              key={path}
              href={to({ series: path })}
              aria-current={path === shown?.path ? "true" : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      )}
      <nav aria-label="Length">
        {Object.entries(spanTitles).map(([name, title]) => (
          <a key={name} href={to({ span: name })} aria-current={name === span.name ? "true" : undefined}>
            {title}
          </a>
        ))}
      </nav>
      {shown === null || measuresOf(shown.series).length === 0 ? null : (
        <nav aria-label="How days are drawn">
          {(["rows", "spiral"] as const).map((form) => (
            <a key={form} href={to({ form })} aria-current={form === data.form ? "true" : undefined}>
              {form === "rows" ? "Rows" : "Spiral"}
            </a>
          ))}
        </nav>
      )}
      <nav aria-label="Before and after">
        <a href={to(span.earlier)}>Earlier</a>
        {span.later === null ? null : <a href={to(span.later)}>Later</a>}
      </nav>
      <details>
        <summary>Other days</summary>
        <form method="get">
          {data.form === "rows" ? null : <input type="hidden" name="as" value={data.form} />}
          {shown === null ? null : <input type="hidden" name="series" value={shown.path} />}
          <label>
            From <input type="date" name="from" value={span.from} required />
          </label>
          <label>
            until the morning of <input type="date" name="until" value={span.until} required />
          </label>
          <button type="submit">Show</button>
        </form>
      </details>
      <p>
        {yearDateText(first_ms, data)}
        {span.edges_ms.length > 2 ? ` to ${yearDateText(last_ms, data)}` : null}, time of{" "}
        {zone.replaceAll("_", " ")}.
        {data.form === "spiral" && span.edges_ms.length - 1 > spiralDays_max
          ? ` Of these the spiral shows ${spiralDays_max} days at a time.`
          : null}
      </p>
    </section>
  );
}
