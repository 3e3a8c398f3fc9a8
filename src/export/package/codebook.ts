import { quantities } from "../../domain/quantities.ts";
import type { SeriesName } from "../../domain/series.ts";
import type { FileColumn, FileColumnType } from "../columns.ts";
import { derivedList, placesList } from "../derived-tables.ts";
import { isPersonal } from "../pseudonyms.ts";
import { missingnessList, tableNamed } from "../tables.ts";
import type { StampForm } from "../text-formats.ts";
import type { Contents, WrittenTable } from "./package-contents.ts";

/** The meaning of every field of every file, as Markdown for people. */
export function codebook(contents: Contents): string {
  const { tables, stamp } = contents;
  return [
    "# Codebook",
    "What every field of every file here means. `datapackage.json` says the same to programs.",
    ...leftOut(contents),
    "## Before anything is counted",
    rules(contents),
    ...tables.flatMap((table) => section(table, stamp)),
    ...quantityList(tables),
    "",
  ].join("\n\n");
}

/** The fields that a package without names does not have. */
function leftOut({ tables, identifiers, key }: Contents): string[] {
  if (identifiers === "full") return [];
  const fields = tables.flatMap(({ name }) =>
    tableNamed(name)
      .columns.filter(({ identifies }) => isPersonal(identifies))
      .map((column) => [`\`${name}\``, `\`${column.name}\``, column.meaning]),
  );
  return [
    "## Left out",
    `Names, addresses, birth dates, free text and whatever else may tell who somebody is are not here. ${numberTexts[identifiers]} An item is named after its kind and number. A word that somebody or a device made up is replaced by its field's name and a number, which a key makes (its fingerprint is ${key}). Stretches of time, readings and the times of records are as they are: they are data of people all the same.`,
    tableText(["file", "field", "meaning"], fields),
  ];
}

const numberTexts = {
  none: "Homes, subjects, items, records and epochs have numbers made by a key: the same in every package made with it, and others for each recipient.",
  coded: "Homes, subjects, items and records have the programme's own numbers.",
} as const;

/** The list of quantities, where there are measures that have some. */
function quantityList(tables: Contents["tables"]): string[] {
  if (!isIn(tables, measuresSeries)) return [];
  return [
    "## Quantities",
    `\`quantity\` of \`${measuresSeries}\`. What is not listed here is kept under the name and in the unit that the sensor tells.`,
    tableText(
      ["quantity", "unit", "meaning"],
      Object.entries(quantities).map(([name, { unit, meaning }]) => [`\`${name}\``, unit, meaning]),
    ),
  ];
}

const measuresSeries = "wirelesssensor_measures" satisfies SeriesName;

function isIn(tables: Contents["tables"], table: string): boolean {
  return tables.some(({ name }) => name === table);
}

/** Names no table that the package lacks. */
function rules({ stamp, tables }: Contents): string {
  const weights = derivedList("weight_daily");
  return [
    `- **Time.** ${stampTexts[stamp]}`,
    `- **No event is not no data.** A sensor that is silent says nothing by that, unless somebody was listening and the device alive: \`coverage\` has when, and \`${missingnessList}\` adds it up for each item and day. Days with many missing minutes are no quiet days.`,
    "- **Nothing is made up.** Readings are what devices told: no value is interpolated, and no end of a movement is added by a timer. `devices` says of each how its readings are made.",
    `- **A scale does not know who stands on it.** Weighings of guests are among those of the participant.${isIn(tables, weights) ? ` \`${weights}\` leaves them out, and says where nobody can tell.` : ""}`,
    ...(isIn(tables, placesList)
      ? [
          `- **Where a sensor is** stands in \`${placesList}\`: its room, what it watches, and its place in a line of curtain sensors.`,
        ]
      : []),
    "- **An empty field** is a value that is not there. Some texts of the inventory have the word `null` in its place, as the interface serves them.",
  ].join("\n");
}

const stampTexts: Readonly<Record<StampForm, string>> = {
  iso: "All times are ISO 8601 in UTC, `2026-11-20T12:00:00.250Z`.",
  unix: "All times are unix seconds: whole seconds since 1970 in UTC.",
  unix_ms: "All times are unix milliseconds since 1970 in UTC.",
};

function bitsText(column: FileColumn): string[] {
  const { name, bits } = column;
  if (bits === undefined) return [];
  return [
    `\`${name}\` is a number whose bits each say yes or no: bit 0 counts 1, bit 1 counts 2, bit 2 counts 4, bit 3 counts 8, so that 9 is bit 0 and bit 3.`,
    tableText(
      ["bit", "counts", "set where"],
      bits.map((meaning, bit) => [String(bit), String(2 ** bit), meaning]),
    ),
  ];
}

function section({ name, title, notes, path, rows, columns }: WrittenTable, stamp: StampForm): string[] {
  return [
    `## ${name}`,
    `${title}. \`${path}\`, ${rows.toLocaleString("en")} rows.${notes === undefined ? "" : ` ${notes}`}`,
    tableText(
      ["field", "type", "unit", "meaning"],
      columns.map((column) => [`\`${column.name}\``, typeText(column, stamp), column.unit, column.meaning]),
    ),
    ...columns.flatMap(bitsText),
  ];
}

function typeText({ type, nullable }: FileColumn, stamp: StampForm): string {
  const text = type === "moment" ? momentTexts[stamp] : typeTexts[type];
  return nullable ? `${text}, or empty` : text;
}

const momentTexts: Readonly<Record<StampForm, string>> = {
  iso: "time",
  unix: "time (unix s)",
  unix_ms: "time (unix ms)",
};

const typeTexts: Readonly<Record<Exclude<FileColumnType, "moment">, string>> = {
  text: "text",
  integer: "whole number",
  real: "number",
  boolean: "true or false",
  date: "date",
};

function tableText(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n");
}
