import { type SeriesName, seriesNames, seriesOf } from "../series.ts";
import { columnsOfSchema, columnsOfSeries, type FileColumn } from "./column.ts";
import { coverageColumns, missingnessColumns } from "./coverage-list.ts";
import { deviceColumns, deviceList } from "./device-list.ts";
import type { Timezone } from "./home-zones.ts";
import { recordLists } from "./record-lists.ts";

/** A table of a download: a file of that name. */
export interface PackageTable {
  readonly name: string;
  /** Its contents in words. */
  readonly title: string;
  readonly columns: readonly FileColumn[];
}

/** Names of the tables that tell when there was somebody to listen. */
export const coverageList = "coverage";
export const missingnessList = "missingness";

/** Every table that a download can have, series first. */
export function tablesIn(timezone: Timezone): readonly PackageTable[] {
  const coverage = {
    name: coverageList,
    title: "When each item was listened to and alive, so that no event can be told from no data",
    columns: coverageColumns(timezone),
  };
  return [...seriesNames.map((series) => tableOf(series, timezone)), coverage, ...otherTables];
}

const otherTables: readonly PackageTable[] = [
  {
    name: missingnessList,
    title: "What is missing of each item on each day of the calendar at its home",
    columns: missingnessColumns,
  },
  { name: deviceList, title: "Each device, and how its readings are made", columns: deviceColumns },
  ...recordLists.map(({ name, schema, title }) => ({ name, title, columns: columnsOfSchema(schema) })),
];

/** The table of this name. @throws TypeError where there is none */
export function tableNamed(name: string, timezone: Timezone = "utc"): PackageTable {
  const table = tablesIn(timezone).find((one) => one.name === name);
  if (table === undefined) throw new TypeError(`no download has a table ${name}`);
  return table;
}

function tableOf(series: SeriesName, timezone: Timezone): PackageTable {
  return { name: series, title: seriesOf(series).title, columns: columnsOfSeries(series, timezone) };
}
