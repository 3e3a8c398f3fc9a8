import type { TSchema } from "@sinclair/typebox";
import { isUnixTime } from "../../src/domain/records/record-field.ts";
import { recordPaths } from "../../src/domain/records/record-table.ts";
import { recordTimes, servedSeries } from "./fields.ts";
import { remedyByCode } from "./remedies.ts";

/** Files of the R package that hold what it knows of the interface, by path. */
export function rFiles(): Record<string, string> {
  return { "clients/r/R/tables.R": tables() };
}

function tables(): string {
  return [
    "# Made by `bun scripts/generate-clients.ts` from src/domain/series.ts and src/domain: change those, then run it.",
    "",
    "# The series: type of the items that record it, its place, and what its fields are.",
    "series_table <- list(",
    separated(servedSeries.map(seriesText)),
    ")",
    "",
    "# Where each list of records is served: below a subject or a home where the path has {id}.",
    "record_paths <- c(",
    separated(Object.entries(recordPaths).map(([name, path]) => `  ${name} = ${quoted(path)}`)),
    ")",
    "",
    "# Fields of each record that are times.",
    "record_times <- list(",
    separated(recordTimes.map(([name, times]) => `  ${name} = c(${times.map(quoted).join(", ")})`)),
    ")",
    "",
    "# Remedies of errors, by code, where its message does not say it.",
    "remedies <- c(",
    separated(remedyByCode.map(([code, remedy]) => `  "${code}" = ${quoted(remedy)}`)),
    ")",
    "",
  ].join("\n");
}

function seriesText({ name, kind, path, title, schemas }: (typeof servedSeries)[number]): string {
  const types = Object.entries(schemas).map(([field, schema]) => `${field} = ${quoted(typeOf(schema))}`);
  return [
    `  ${name} = list(`,
    `    kind = ${quoted(kind)}, path = ${quoted(path)}, title = ${quoted(title)},`,
    `    types = c(${types.join(", ")})`,
    "  )",
  ].join("\n");
}

function typeOf(schema: TSchema): "time" | "number" | "text" {
  if (isUnixTime(schema)) return "time";
  const choices = (schema["anyOf"] as TSchema[] | undefined) ?? [schema];
  return choices.some(({ type }) => type === "string") ? "text" : "number";
}

function separated(lines: readonly string[]): string {
  return lines.join(",\n");
}

/** Text of R without anything but ASCII, which a package must have. */
function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[^\x20-\x7e]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
