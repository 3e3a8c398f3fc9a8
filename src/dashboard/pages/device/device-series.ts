import type { Kind } from "../../../kinds.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../../series.ts";
import type { DaySpanName } from "./span-titles.ts";

/** The series that a device has, the one that people look at first in front; `held`: those that it has readings of. */
export function seriesOfDevice(kind: Kind, subtype: string, held: ReadonlySet<SeriesName>): SeriesName[] {
  const has = ({ subtypes }: { subtypes?: readonly string[] }) =>
    subtypes === undefined || subtype === "null" || subtypes.includes(subtype);
  const own = seriesNames.filter((name) => seriesOf(name).kind === kind && has(seriesOf(name)));
  const shown = own.filter((name) => seriesOf(name).ofSome !== true || held.has(name));
  const others = own.some((name) => seriesOf(name).ofSome !== true && held.has(name));
  // A sensor that only measures has no events to be looked at first.
  const rank = (name: SeriesName) =>
    seriesOf(name).ofSome === true ? Number(!others) * 2 : Number(name.endsWith("_events"));
  return shown.toSorted((one, other) => rank(other) - rank(one));
}

/** A series among those of its device, where the interface says `Wireless sensor events`. */
export const seriesTitles: Readonly<Record<SeriesName, string>> = {
  pillbox_events: "Doors",
  pillbox_status: "Power",
  wirelesssensor_events: "Events",
  wirelesssensor_measures: "Measures",
  scale_weights: "Weights",
  scale_heart: "Heart rates",
  watch_epochs: "Steps and sleep",
};

/** The span that is shown of a kind where the address names none. */
export const usualSpans: Readonly<Record<Kind, DaySpanName>> = {
  pillboxes: "8w",
  wirelesssensors: "8w",
  scales: "1y",
  watches: "4w",
  gateways: "8w",
};
