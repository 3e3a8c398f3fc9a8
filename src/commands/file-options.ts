import { type Command, InvalidArgumentError, Option } from "commander";
import { type Format, formatNames } from "../download/format.ts";
import type { Span } from "../download/series-download.ts";
import { type StampForm, stampFormNames } from "../download/stamp-form.ts";
import { type SeriesName, seriesNames } from "../series.ts";
import { nameList } from "./command.ts";

/** The options for the contents of the files, which `fetch` and `export` share. */
export function addFileOptions(command: Command): Command {
  return command
    .addOption(new Option("--format <format>", "of the files").choices(formatNames).default("csv"))
    .addOption(
      new Option("--stamp <form>", "how CSV and NDJSON show stamps: text in UTC, unix s or unix ms")
        .choices(stampFormNames)
        .default("iso"),
    )
    .option("--since <date>", "readings from this day or moment on, UTC: 2026-01-31", parseMoment_s)
    .option("--until <date>", "readings before this day or moment, UTC", parseMoment_s)
    .option("--series <names>", `of ${seriesNames.join(", ")}; or all`, parseSeries)
    .option("--items <names>", "only these items, with commas between", nameList);
}

export interface FileOptions {
  readonly format: Format;
  readonly stamp: StampForm;
  readonly since?: number;
  readonly until?: number;
  readonly series?: readonly SeriesName[];
  readonly items?: readonly string[];
}

/** The span that the options name. */
export function spanOf({ since, until }: FileOptions): Span {
  return { since_s: since, until_s: until };
}

/** A day or a moment as ISO 8601 has it, UTC unless it says otherwise, as unix seconds. */
function parseMoment_s(text: string): number {
  const bare = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?)?$/.test(text);
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const unix_ms = bare && text.includes("T") ? Date.parse(`${text}Z`) : Date.parse(text);
  if (!(bare || zoned) || Number.isNaN(unix_ms) || unix_ms < 0)
    throw new InvalidArgumentError(
      "It must be a day or moment from 1970 on, such as 2026-01-31 or 2026-01-31T08:00Z.",
    );
  return unix_ms / 1000;
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
