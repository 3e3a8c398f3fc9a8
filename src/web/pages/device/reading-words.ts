import { alarmBits } from "../../../domain/event-words.ts";
import { action_prefix, titleOf } from "../../../domain/quantities.ts";
import { type SeriesName, seriesOf } from "../../../domain/series.ts";
import type { ReadingRow, SeriesRecord } from "../../../store/store.ts";
import { weekdays } from "../time-text.ts";

/** A record of a series as a person would say it; `before` is the one before it in time, undefined where that is not known. */
export function readingWords(
  series: SeriesName,
  record: SeriesRecord,
  { subtype, before, number }: { subtype: string; before?: SeriesRecord; number: (value: number) => string },
): string {
  const of = (field: string) => Number(record[field] ?? 0);
  const kilograms = (field: string) => `${number(of(field) / 1_000)} kg`;
  switch (series) {
    case "wirelesssensor_events":
      return (of("event") & alarmBits) === 0 ? atRest(subtype) : alarm(subtype);
    case "wirelesssensor_measures":
      return measureWords(record, number);
    case "pillbox_events":
      return doorWords(of("event"), before === undefined ? undefined : Number(before["event"]));
    case "pillbox_status":
      return [
        `${number(of("voltage") / 1_000)} V`,
        record["powersource"] === "battery" ? "on its battery" : "on external power",
        `${number(of("eventcount"))} door states recorded`,
      ].join(", ");
    case "scale_weights": {
      const parts = composition.flatMap(([field, word]) =>
        record[field] === null ? [] : [`${word} ${kilograms(field)}`],
      );
      return [kilograms("weight"), ...parts].join(", ");
    }
    case "scale_heart":
      return `heart ${number(of("heartRate"))} a minute`;
    case "watch_epochs":
      return [
        `${number(of("duration"))} s`,
        `${number(of("steps"))} steps`,
        `${number(of("distance"))} m`,
        sleepWords[of("sleepState")] ?? "",
      ]
        .filter((part) => part !== "")
        .join(", ");
    default:
      return fieldWords(series, record);
  }
}

/** A record of a series that has no words of its own: its fields, by their names. */
function fieldWords(series: SeriesName, record: SeriesRecord): string {
  return Object.entries(seriesOf(series).fields)
    .map(([name, { unit }]) => `${name} ${record[name] ?? "none"} ${unit}`.trimEnd())
    .join(", ");
}

/** By the number of a watch's sleep state. */
export const sleepWords: Readonly<Record<number, string>> = {
  1: "awake",
  2: "light sleep",
  3: "deep sleep",
  4: "dreaming sleep",
};

const composition = [
  ["fatMass", "fat"],
  ["waterMass", "water"],
  ["muscleMass", "muscle"],
  ["boneMass", "bone"],
] as const;

/** `Temperature 21.4 °C`; of a press of a button, which is no number, what was pressed. */
function measureWords({ quantity, value, unit }: SeriesRecord, number: (value: number) => string): string {
  const title = titleOf(String(quantity));
  if (String(quantity).startsWith(action_prefix)) return title;
  return `${title} ${number(Number(value))} ${unit}`.trimEnd();
}

function alarm(subtype: string): string {
  if (subtype === "door") return "Opened";
  return subtype === "curtain" ? "Somebody passes" : "Motion";
}

function atRest(subtype: string): string {
  if (subtype === "door") return "Closed";
  return "No motion";
}

function doorWords(open: number, before: number | undefined): string {
  const named = (bits: number) => weekdays.filter((_, door) => (bits >> door) & 1).join(", ");
  if (before === undefined) return open === 0 ? "All doors closed" : `Open: ${named(open)}`;
  const [opened, closed] = [open & ~before, before & ~open];
  const words = [
    ...(opened === 0 ? [] : [`${named(opened)} opened`]),
    ...(closed === 0 ? [] : [`${named(closed)} closed`]),
  ];
  return words.length === 0 ? "Nothing has changed" : words.join(", ");
}

/** A row in the form in which the interface serves it, its stamp in milliseconds. */
export function recordOf(series: SeriesName, [stamp, ...values]: ReadingRow): SeriesRecord {
  const names = Object.keys(seriesOf(series).fields);
  return { stamp, ...Object.fromEntries(names.map((name, at) => [name, values[at] ?? null])) };
}
