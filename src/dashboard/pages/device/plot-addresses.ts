import type { SeriesName } from "../../../series.ts";
import { type MeasureName, measuresOf } from "../../measures.ts";

/** A device, and the days of it that are shown. */
interface DaysOf {
  readonly kind: string;
  readonly name: string;
  readonly span: { readonly from: string; readonly until: string };
}

/** Where the data of a measure in the days shown comes from. */
export function plotAddress({ kind, name, span }: DaysOf, measure: MeasureName): string {
  return `/plots/${kind}/${encodeURIComponent(name)}/${measure}?from=${span.from}&until=${span.until}`;
}

/** All that the page of a device asks for when it shows a series. */
export function plotAddresses(of: DaysOf, series: SeriesName): string[] {
  return measuresOf(series).map((measure) => plotAddress(of, measure));
}
