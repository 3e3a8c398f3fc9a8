import { type Command, InvalidArgumentError, Option } from "commander";
import { type Format, formatNames } from "../download/format.ts";
import { type Timezone, timezones } from "../download/home-zones.ts";
import type { AskedMoments, AskedSpan } from "../download/span.ts";
import { type StampForm, stampFormNames } from "../download/stamp-form.ts";
import { type StandardName, standardNames } from "../download/standards/standards.ts";
import { type SeriesName, seriesNames } from "../series.ts";
import { nameList } from "./command.ts";

/** The options for the contents of the files, which `fetch` and `export` share. */
export function addFileOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--format <format>",
        "of the files; ieee1752 and fhir write NDJSON, and beside it what these standards have words for",
      )
        .choices([...formatNames, ...standardNames])
        .default("csv"),
    )
    .addOption(
      new Option("--stamp <form>", "how CSV and NDJSON show stamps: text in UTC, unix s or unix ms")
        .choices(stampFormNames)
        .default("iso"),
    )
    .addOption(
      new Option(
        "--timezone <zone>",
        "home: local time and day beside each stamp, --since and --until in each home's zone",
      )
        .choices(timezones)
        .default("utc"),
    )
    .option("--since <date>", "readings from this day or moment on: 2026-01-31", parseMoment)
    .option("--until <date>", "readings before this day or moment", parseMoment)
    .option("--series <names>", `of ${seriesNames.join(", ")}; or all`, parseSeries)
    .option("--items <names>", "only these items, with commas between", nameList);
}

export interface FileOptions {
  readonly format: Format | StandardName;
  readonly stamp: StampForm;
  readonly timezone: Timezone;
  readonly since?: AskedMoment;
  readonly until?: AskedMoment;
  readonly series?: readonly SeriesName[];
  readonly items?: readonly string[];
}

/** The format of the tables, and the standard in whose words readings are said beside them. */
export function formatOf({ format }: FileOptions): { format: Format; standard?: StandardName } {
  return isStandard(format) ? { format: "ndjson", standard: format } : { format };
}

function isStandard(name: string): name is StandardName {
  return (standardNames as readonly string[]).includes(name);
}

/** The span that the options name. */
export function spanOf({ since, until, timezone }: FileOptions): AskedSpan {
  return (zone) => {
    const meant = timezone === "home" ? zone : "UTC";
    return { since_s: since?.(meant), until_s: until?.(meant) };
  };
}

/** The same as text. */
export function momentsOf({ since, until }: FileOptions): AskedMoments {
  return { since: since?.text, until: until?.text };
}

/** Unix seconds of a moment that was asked for, in a time zone where it does not name its own. */
type AskedMoment = ((zone: string) => number) & { readonly text: string };

/** A day or a moment as ISO 8601 has it. */
export function parseMoment(text: string): AskedMoment {
  return Object.assign(momentIn(text), { text });
}

function momentIn(text: string): (zone: string) => number {
  const bare = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text);
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const unix_ms = bare && text.includes("T") ? Date.parse(`${text}Z`) : Date.parse(text);
  if (!(bare || zoned) || Number.isNaN(unix_ms) || unix_ms < 0)
    throw new InvalidArgumentError(
      "It must be a day or moment from 1970 on, such as 2026-01-31 or 2026-01-31T08:00Z.",
    );
  if (zoned) return () => unix_ms / 1000;
  const wall = Temporal.PlainDateTime.from(new Date(unix_ms).toISOString().slice(0, -1));
  // Where the clocks were put forward over it, the first moment after.
  return (zone) => Math.max(0, wall.toZonedDateTime(zone).epochMilliseconds / 1000);
}

function parseSeries(text: string): readonly SeriesName[] {
  if (text === "all") return seriesNames;
  return nameList(text).map((name) => {
    const known = seriesNames.find((series) => series === name);
    if (known === undefined)
      throw new InvalidArgumentError(
        `There is no series ${name}: they are ${seriesNames.join(", ")}; or all.`,
      );
    return known;
  });
}
