import { join } from "node:path";
import type { Clock } from "../../clock.ts";
import type { Item } from "../../records/items.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../series.ts";
import { version } from "../../version.ts";
import type { Answers } from "../answers.ts";
import { coverageRows } from "../coverage-list.ts";
import { deviceList, writeDevices } from "../device-list.ts";
import type { Format } from "../format.ts";
import type { HomeZones, Timezone } from "../home-zones.ts";
import type { Readings } from "../readings.ts";
import { recordLists, writeList } from "../record-lists.ts";
import { fileOf, writeSeries } from "../series-file.ts";
import type { AskedSpan } from "../span.ts";
import type { StampForm } from "../stamp-form.ts";
import type { StandardFiles } from "../standards/standard.ts";
import type { StandardName } from "../standards/standards.ts";
import { writeStandard } from "../standards/write.ts";
import { TableFile } from "../table-file.ts";
import { coverageList, missingnessList, tableNamed, tablesIn } from "../tables.ts";
import { writeDescription } from "./description.ts";
import { type DescribedFile, digestOf, type Origin, type WrittenTable, writtenTable } from "./written.ts";

/** The contents of a package and their form, whoever asks for it. */
export interface PackageForm {
  /** Where the files go, made if it is missing. */
  readonly directory: string;
  readonly format: Format;
  /** The standard in whose words the readings are said once more, beside the tables. */
  readonly standard?: StandardName | undefined;
  readonly stamp: StampForm;
  /** Where it differs by zone, that of the home of each item. */
  readonly span: AskedSpan;
  /** Absent: utc. */
  readonly timezone?: Timezone | undefined;
  /** Absent: all that there are items of. */
  readonly series?: readonly SeriesName[] | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

export interface PackageOptions extends PackageForm {
  readonly answers: Answers;
  readonly readings: Readings;
  readonly items: readonly Item[];
  readonly zones: HomeZones;
  readonly origin: Origin;
  /** Has the file of a series of these items written, or not where it stands there already. */
  readonly writing?: (
    series: SeriesName,
    items: readonly Item[],
    write: () => Promise<number>,
  ) => Promise<WrittenFile>;
  /** Told of each piece of work as it begins. */
  readonly onStep: (name: string) => void;
  /** Told of readings as they are written. */
  readonly onRows?: (count: number) => void;
}

export interface WrittenFile {
  readonly rows: number;
  /** Whether this call wrote it. */
  readonly written: boolean;
}

export interface WrittenPackage {
  /** By name without ending. */
  readonly files: Readonly<Record<string, WrittenFile>>;
  /** Lists that this interface does not have. */
  readonly absent: readonly string[];
  readonly standard?: StandardFiles;
}

/**
 * Writes a data package: records, devices, coverage, the series, and at last what says what they are. It is all that `lintel fetch`
 * and `lintel export` write.
 */
export async function writePackage(options: PackageOptions): Promise<WrittenPackage> {
  const { directory, items, onStep } = options;
  const files: Record<string, WrittenFile> = {};
  const absent: string[] = [];
  const keep = (name: string, rows: number | undefined) => {
    if (rows === undefined) absent.push(name);
    else files[name] = { rows, written: true };
  };
  for (const list of recordLists) {
    onStep(list.name);
    keep(list.name, await writeList({ ...options, list, path: join(directory, list.name) }));
  }
  onStep(deviceList);
  keep(deviceList, await writeDevices({ ...options, path: join(directory, deviceList) }));
  onStep(coverageList);
  const { coverage, missingness } = await writeCoverage(options);
  keep(coverageList, coverage);
  keep(missingnessList, missingness);
  for (const series of options.series ?? seriesNames) {
    const own = items.filter(({ typename }) => typename === seriesOf(series).kind);
    if (own.length === 0 && options.series === undefined) continue;
    onStep(`writing ${series}`);
    const write = () => writeSeries({ ...options, path: join(directory, series), series, items: own });
    files[series] = await (options.writing?.(series, own, write) ?? anew(write));
  }
  const standard = await inStandard(options);
  onStep("describing it all");
  await describe(files, standard, options);
  return { files, absent, ...(standard && { standard }) };
}

/** Says the readings in the words of the standard that is asked for. */
async function inStandard(options: PackageOptions): Promise<StandardFiles | undefined> {
  const { standard, series = seriesNames, origin, onStep } = options;
  if (standard === undefined) return undefined;
  onStep(`writing ${standard}`);
  return writeStandard({ ...options, standard, series, source: origin.url ?? origin.name });
}

async function anew(write: () => Promise<number>): Promise<WrittenFile> {
  return { rows: await write(), written: true };
}

/** Writes both tables that tell when there was somebody to listen, item by item. Answers how many rows each has. */
async function writeCoverage(options: PackageOptions): Promise<{ coverage: number; missingness: number }> {
  const { directory, format, stamp } = options;
  const begin = (name: string) =>
    TableFile.begin({
      path: fileOf(join(directory, name), format),
      format,
      columns: tableNamed(name).columns,
      stamp,
    });
  await using coverage = await begin(coverageList);
  await using missingness = await begin(missingnessList);
  for await (const rows of coverageRows(options)) {
    options.stop.throwIfAborted();
    await coverage.add(rows.coverage);
    await missingness.add(rows.missingness);
  }
  return { coverage: await coverage.finish(), missingness: await missingness.finish() };
}

/** Writes the files that say what the others are. */
async function describe(
  files: WrittenPackage["files"],
  standard: StandardFiles | undefined,
  { directory, format, stamp, timezone = "utc", clock, origin }: PackageOptions,
): Promise<void> {
  const written: WrittenTable[] = [];
  for (const table of tablesIn(timezone)) {
    const rows = files[table.name]?.rows;
    if (rows !== undefined)
      written.push(await writtenTable(table, { directory, path: fileOf(table.name, format), rows }));
  }
  const others: DescribedFile[] = [];
  for (const [path, rows] of Object.entries(standard?.files ?? {})) {
    const title = `${standard?.title}, a line each`;
    others.push({ path, title, rows, ...(await digestOf(join(directory, path))) });
  }
  const made_ms = clock.now().unix_ms;
  const about = { tables: written, others, format, stamp, timezone, origin, made_ms, version };
  writeDescription(directory, about);
}
