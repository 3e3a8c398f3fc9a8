import type { PlotForm } from "../../parts/plots.ts";
import type { DeviceData } from "./data.ts";

/** The address of the page with something else shown; what is not named stays. */
export function addressOf(
  { kind, name, span, shown, form }: Pick<DeviceData, "kind" | "name" | "span" | "shown" | "form">,
  changes: {
    readonly span?: string;
    readonly from?: string;
    readonly until?: string;
    readonly series?: string;
    readonly day?: string;
    readonly form?: PlotForm;
  },
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
  if (changes.day !== undefined) query.set("day", changes.day);
  return `/devices/${kind}/${encodeURIComponent(name)}?${query}${changes.day === undefined ? "" : "#day"}`;
}
