import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import { columnsOfSeries, type FileColumn } from "../columns.ts";
import { coverageColumns } from "../coverage-tables.ts";
import { derivedTables, measuresColumns, measuresList, placesTable } from "../derived-tables.ts";
import { coverageList, recordLists } from "../tables.ts";

/** The tables of a mirror that are partitioned: each file has one home, and of series one month, by UTC. */
export const partitioned: readonly (SeriesName | typeof coverageList | typeof measuresList)[] = [
  ...seriesNames,
  coverageList,
  measuresList,
];

export function columnsOf(table: (typeof partitioned)[number]): readonly FileColumn[] {
  if (table === measuresList) return measuresColumns;
  return table === coverageList ? coverageColumns("utc") : columnsOfSeries(table);
}

/** The key in the name of the last folder of a table's files. */
function keyOf(table: string): "month" | "part" {
  return table === measuresList ? "part" : "month";
}

/** Coverage is one file a home: it has few rows. */
export const allMonths = "all";

/**
 * The file of a home and month of a table, in the form of Hive that readers of Parquet know:
 * `wirelesssensor_events/home=12/month=2026-11/readings.parquet`.
 */
export function fileIn(directory: string, table: string, home: number, month: string): string {
  return join(homeIn(directory, table, home), `${keyOf(table)}=${month}`, "readings.parquet");
}

function homeIn(directory: string, table: string, home: number): string {
  return join(directory, table, `home=${home}`);
}

/** The months, or parts, that a mirror has of a home in a table. */
export function monthsIn(directory: string, table: string, home: number): string[] {
  return namesIn(homeIn(directory, table, home)).flatMap((name) => /^\w+=(.+)$/.exec(name)?.[1] ?? []);
}

/** The state of a home: which months of its items a mirror has, and from which marks. */
export function stateFileOf(directory: string, home: number): string {
  return join(stateIn(directory), `home-${home}.json`);
}

export function stateIn(directory: string): string {
  return join(directory, "state");
}

/** The file of a list of records. */
export function recordsIn(directory: string, name: string): string {
  return join(directory, "records", name);
}

/** A table without rows has this file alone, so that a reader finds its columns. */
export const noHome = 0;
export const noMonth = "0000-00";

/** Every home that a mirror has a file of. */
export function homesIn(directory: string): number[] {
  const states = namesIn(stateIn(directory)).map((name) => /^home-(\d+)\.json$/.exec(name)?.[1]);
  const folders = partitioned.flatMap((table) =>
    namesIn(join(directory, table)).map((name) => /^home=(\d+)$/.exec(name)?.[1]),
  );
  return [...new Set([...states, ...folders].flatMap((home) => home ?? []).map(Number))].filter(
    (home) => home !== noHome,
  );
}

/** Takes all files of a home away. */
export function removeHome(directory: string, home: number): void {
  for (const table of partitioned) rmSync(homeIn(directory, table, home), { recursive: true, force: true });
  rmSync(stateFileOf(directory, home), { force: true });
}

/** Takes away what an update that was killed has left unfinished. */
export function removeUnfinished(directory: string): void {
  for (const name of new Bun.Glob("**/*.part").scanSync({ cwd: directory, dot: true }))
    rmSync(join(directory, name), { force: true });
}

/** Folders of a table: of all homes, or of those that have files among some. */
export function foldersOf(directory: string, table: string, homes: readonly number[] | undefined): string[] {
  if (homes === undefined) return [join(directory, table)];
  return [noHome, ...homes].map((home) => homeIn(directory, table, home)).filter((path) => existsSync(path));
}

/**
 * The statements that make a view of each table of a mirror.
 *
 * @param folders of the tables that have homes: views of these alone, and of no list. Absent: all of it.
 */
export function viewsOf(directory: string, folders?: ReadonlyMap<string, readonly string[]>): string {
  const text = (path: string) => `'${path.replaceAll("'", "''")}'`;
  const view = (name: string, columns: string, from: string) =>
    `CREATE OR REPLACE VIEW "${name}" AS SELECT ${columns} FROM ${from};\n`;
  const files = (table: string) => {
    const all = folders?.get(table) ?? foldersOf(directory, table, undefined);
    const patterns = all.map((folder) =>
      text(join(folder, ...(/^home=\d+$/.test(basename(folder)) ? [] : ["*"]), "*", "*.parquet")),
    );
    return `read_parquet(${patterns.length === 1 ? patterns : `[${patterns}]`}, hive_partitioning = true, hive_types = {'home': BIGINT, '${keyOf(table)}': VARCHAR})`;
  };
  const has = (table: string) => folders?.has(table) ?? true;
  const measures = derivedTables
    .filter(() => has(measuresList))
    .map(({ name, measure, columns }) => {
      const own = columns.map((one) => `"${one.name}"`).join(", ");
      return view(name, `${own}, home`, `${files(measuresList)} WHERE measure = '${measure}'`);
    });
  const series = partitioned.filter(has).map((table) => view(table, "*", files(table)));
  const lists = folders === undefined ? [...recordLists, placesTable] : [];
  const records = lists.map(({ name }) =>
    view(name, "*", `read_parquet(${text(join(directory, "records", `${name}.parquet`))})`),
  );
  return [...series, ...measures, ...records].join("");
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
