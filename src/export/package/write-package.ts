import { join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { version } from "../../base/version.ts";
import { definitionText, derivedNames } from "../../domain/derived/derived-table.ts";
import type { ReadingNumber } from "../../domain/reading.ts";
import type { Item } from "../../domain/records/item.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../domain/series.ts";
import type { InterfaceReader } from "../answers.ts";
import type { AskedMoments, AskedSpan, ReadingSource } from "../columns.ts";
import { coverageRows } from "../coverage-tables.ts";
import { derivedList, placesList, writeDerived, writePlaces } from "../derived-tables.ts";
import type { HomeZones, Timezone } from "../home-zones.ts";
import type { ErasedOf, PackageAt, SavedPackage } from "../package-readings.ts";
import { copySavedMeasures } from "../saved-measures.ts";
import type { StandardFiles, StandardName } from "../standards/standards.ts";
import { writeStandard } from "../standards/write-standard.ts";
import { type FileForm, fileOf, TableFile, writeSeries } from "../table-file.ts";
import {
  coverageList,
  deviceLists,
  devicesOf,
  missingnessList,
  recordLists,
  tableNamed,
  tablesIn,
  writeDevices,
  writeList,
} from "../tables.ts";
import { codebook } from "./codebook.ts";
import { measuresPage, measuresPageText } from "./measures-page.ts";
import {
  type Contents,
  type DescribedFile,
  digestOf,
  type Origin,
  type WrittenTable,
} from "./package-contents.ts";
import { dataPackage, roCrate } from "./package-metadata.ts";
import { readme } from "./package-readme.ts";

/** The contents of a package and their form, whoever asks for it. */
export interface PackageForm extends FileForm {
  /** Where the files go, made if it is missing. */
  readonly directory: string;
  /** The standard in whose words the readings are said once more, beside the tables. */
  readonly standard?: StandardName | undefined;
  /** Where it differs by zone, that of the home of each item. */
  readonly span: AskedSpan;
  /** Absent: utc. */
  readonly timezone?: Timezone | undefined;
  /** The ends of the span as they were asked for, in text. */
  readonly asked?: AskedMoments | undefined;
  /** Absent: all that there are items of. */
  readonly series?: readonly SeriesName[] | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

export interface PackageOptions extends PackageForm {
  readonly answers: InterfaceReader;
  readonly readings: ReadingSource;
  readonly items: readonly Item[];
  /** All items that there are. */
  readonly inventory: readonly Item[];
  /** Homes that measures are of: see `measuredHomes`. */
  readonly homes: readonly number[];
  /** Whether it has derived measures: they are of whole homes, and as of now or as of a saved package. */
  readonly derived: Measures;
  readonly zones: HomeZones;
  readonly origin: Origin;
  /** The readings that it has, once they are written; absent where the interface does not tell. */
  readonly at?: (() => PackageAt) | undefined;
  /** Says which homes are left out for want of consent; absent: none. */
  readonly homesLeftOut?: string | undefined;
  /** Has a file written that these items have a part in, or not where it stands there already. */
  readonly writing?: (
    name: string,
    items: readonly Item[],
    write: () => Promise<number | undefined>,
  ) => Promise<WrittenFile | undefined>;
  /** Told of each piece of work as it begins. */
  readonly onStep: (name: string) => void;
  /** Told of readings as they are written. */
  readonly onRows?: (count: number) => void;
}

/** `none`: of a package that is cut. `unknown`: of readings up to a number, of which nobody knows what else was known then. */
export type Measures =
  | "now"
  | "none"
  | "unknown"
  | { readonly saved: SavedPackage; readonly erased: readonly ErasedOf[] };

/** Which measures a package has. */
export function measuresOf(
  of: Pick<PackageForm, "series"> & {
    readonly items?: readonly string[] | undefined;
    readonly at?: readonly ReadingNumber[] | undefined;
    readonly saved?: SavedPackage | undefined;
  },
  erased: readonly ErasedOf[],
): Measures {
  if (of.items !== undefined || of.series !== undefined) return "none";
  if (of.at === undefined) return "now";
  return of.saved === undefined ? "unknown" : { saved: of.saved, erased };
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
  /** Why a package of another time has no derived measures, as a sentence. */
  readonly leftOut?: string | undefined;
  readonly standard?: StandardFiles;
  readonly contents: Contents;
}

/**
 * Writes a data package: records, devices, coverage, the series, derived measures, and at last what says what they are. It is all that `lintel fetch`
 * and `lintel export` write.
 */
export async function writePackage(options: PackageOptions): Promise<WrittenPackage> {
  const { directory, pseudonyms, onStep } = options;
  const items = pseudonyms?.order(options.items) ?? options.items;
  const files: Record<string, WrittenFile> = {};
  const absent: string[] = [];
  const keep = (name: string, file: WrittenFile | undefined) => {
    if (file === undefined) absent.push(name);
    else files[name] = file;
  };
  const writing = options.writing ?? ((_name, _items, write) => fileWritten(write));
  for (const list of recordLists) {
    onStep(list.name);
    const records = list.name === "items" ? options.inventory : undefined;
    const write = () => writeList({ ...options, list, records, path: join(directory, list.name) });
    keep(list.name, await writing(list.name, items, write));
  }
  let devices: ReturnType<typeof devicesOf> | undefined;
  for (const list of deviceLists) {
    onStep(list);
    const write = async () => {
      devices ??= devicesOf(options.answers, items);
      const told = await devices;
      return told && writeDevices({ ...options, list, devices: told, path: join(directory, list) });
    };
    keep(list, await writing(list, items, write));
  }
  onStep(coverageList);
  let both: ReturnType<typeof writeCoverage> | undefined;
  for (const name of [coverageList, missingnessList] as const)
    keep(
      name,
      await writing(name, items, async () => {
        both ??= writeCoverage({ ...options, items });
        return (await both)[name];
      }),
    );
  for (const series of options.series ?? seriesNames) {
    const own = items.filter(({ typename }) => typename === seriesOf(series).kind);
    if (own.length === 0 && options.series === undefined) continue;
    onStep(`writing ${series}`);
    const path = join(directory, series);
    keep(series, await writing(series, own, () => writeSeries({ ...options, path, series, items: own })));
  }
  onStep(placesList);
  keep(placesList, await writing(placesList, items, () => writePlaces(options)));
  let leftOut: string | undefined;
  if (options.derived === "unknown")
    leftOut =
      "The derived measures are left out: only the folder of a package tells those of then; give it to --at.";
  else if (typeof options.derived === "object") {
    const { saved, erased } = options.derived;
    const copied = await copySavedMeasures(saved, { ...options, erased });
    for (const [name, rows] of Object.entries(copied.rows)) files[name] = { rows, written: true };
    leftOut = copied.leftOut;
  } else if (options.derived === "now") {
    let all: ReturnType<typeof writeDerived> | undefined;
    for (const name of derivedNames) {
      onStep(derivedList(name));
      const write = async () => {
        all ??= writeDerived(options);
        return (await all)[name];
      };
      keep(derivedList(name), await writing(derivedList(name), items, write));
    }
  }
  const standard = await standardOf({ ...options, items });
  onStep("describing it all");
  const contents = await describe(files, standard, options);
  return { files, absent, leftOut, contents, ...(standard && { standard }) };
}

/** A file that a call writes; undefined where there was nothing to write. */
export async function fileWritten(
  write: () => Promise<number | undefined>,
): Promise<WrittenFile | undefined> {
  const rows = await write();
  return rows === undefined ? undefined : { rows, written: true };
}

/** Says the readings in the words of the standard that is asked for. */
async function standardOf(options: PackageOptions): Promise<StandardFiles | undefined> {
  const { standard, series = seriesNames, origin, pseudonyms, onStep } = options;
  if (standard === undefined) return undefined;
  onStep(`writing ${standard}`);
  return writeStandard({ ...options, pseudonyms, standard, series, source: origin.url ?? origin.name });
}

/** Writes both tables that tell when there was somebody to listen, item by item. Answers how many rows each has. */
async function writeCoverage(options: PackageOptions): Promise<{ coverage: number; missingness: number }> {
  const { directory, format, stamp, timezone, pseudonyms } = options;
  const begin = (name: string) =>
    TableFile.begin({
      path: fileOf(join(directory, name), format),
      format,
      columns: tableNamed(name, timezone).columns,
      stamp,
      pseudonyms,
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

/** The definitions by which measures were made, where that is known. */
function definitionsOf(derived: Measures): readonly string[] | undefined {
  if (derived === "now") return derivedNames.map(definitionText);
  return typeof derived === "object" ? derived.saved.made.definitions : undefined;
}

/** Writes the files that say what the others are. */
async function describe(
  files: WrittenPackage["files"],
  standard: StandardFiles | undefined,
  options: PackageOptions,
): Promise<Contents> {
  const {
    directory,
    format,
    stamp,
    timezone = "utc",
    asked,
    series,
    origin,
    at,
    pseudonyms,
    homesLeftOut,
  } = options;
  const written: WrittenTable[] = [];
  for (const table of tablesIn(timezone)) {
    const rows = files[table.name]?.rows;
    if (rows === undefined) continue;
    const path = fileOf(table.file ?? table.name, format);
    const columns = pseudonyms?.columns(table.columns) ?? table.columns;
    written.push({ ...table, columns, path, rows, ...(await digestOf(join(directory, path))) });
  }
  const others: DescribedFile[] = [];
  for (const [path, rows] of Object.entries(standard?.files ?? {})) {
    const title = `${standard?.title}, a line each`;
    others.push({ path, title, rows, ...(await digestOf(join(directory, path))) });
  }
  const made_ms = options.clock.now().unix_ms;
  const form = { format, stamp, timezone, asked, series, origin };
  const who = { identifiers: pseudonyms?.level ?? "full", key: pseudonyms?.fingerprint } as const;
  const definitions = definitionsOf(options.derived);
  const contents: Contents = {
    ...{ ...form, ...who, tables: written, others, at: at?.(), definitions, homesLeftOut, made_ms, version },
  };
  writeDescription(directory, contents);
  return contents;
}

/** Writes the files that describe a download, for people and for programs. Each appears whole or not at all. */
export function writeDescription(directory: string, contents: Contents): void {
  const others = {
    "README.md": readme(contents),
    "codebook.md": codebook(contents),
    "datapackage.json": jsonText(dataPackage(contents)),
    ...(contents.tables.some(({ path }) => path.startsWith("derived/")) && {
      [measuresPage]: measuresPageText(),
    }),
  };
  const crate = { "ro-crate-metadata.json": jsonText(roCrate(contents, Object.keys(others))) };
  for (const [name, text] of Object.entries({ ...others, ...crate }))
    writeDurably(join(directory, name), text);
}

function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
