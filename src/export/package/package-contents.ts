import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import type { AskedMoments } from "../columns.ts";
import { derivedTables } from "../derived-tables.ts";
import type { Timezone } from "../home-zones.ts";
import { atText, type PackageAt, type PackageRecipe } from "../package-readings.ts";
import type { IdentifierLevel } from "../pseudonyms.ts";
import type { Format } from "../table-file.ts";
import type { PackageTable } from "../tables.ts";
import type { StampForm } from "../text-formats.ts";

/** A file of a download as it lies there. */
export interface DescribedFile {
  /** Its contents in words. */
  readonly title: string;
  /** Beside the files that describe it. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  /** In hexadecimal digits. */
  readonly sha256: string;
}

export type WrittenTable = PackageTable & DescribedFile;

/** Where a download is from. */
export interface Origin {
  /** The command that made it: `lintel fetch`. */
  readonly command: string;
  /** In words: the address of the interface, or the store. */
  readonly name: string;
  /** The address of the interface, where it is from one. */
  readonly url?: string;
}

/** A whole download, for those who describe it. */
export interface Contents {
  readonly tables: readonly WrittenTable[];
  /** NDJSON files in the words of a standard. */
  readonly others: readonly DescribedFile[];
  readonly format: Format;
  readonly stamp: StampForm;
  readonly timezone: Timezone;
  readonly origin: Origin;
  readonly identifiers: IdentifierLevel;
  /** Of the key by which names were taken out; undefined where they stand. */
  readonly key: string | undefined;
  /** The stretch of time that was asked for. */
  readonly asked?: AskedMoments | undefined;
  /** Absent: all. */
  readonly series?: readonly SeriesName[] | undefined;
  /** Absent where the interface does not tell which readings it has. */
  readonly at?: PackageAt | undefined;
  /** Of its derived measures: `doses/2`. Absent where it has none, or nobody knows. */
  readonly definitions?: readonly string[] | undefined;
  /** Says which homes are left out for want of consent; absent: none. */
  readonly homesLeftOut?: string | undefined;
  /** When it was made, unix milliseconds. */
  readonly made_ms: number;
  /** The Lintel that made it. */
  readonly version: string;
}

/** Reads a file once for its length and digest. */
export async function digestOf(file: string): Promise<Pick<DescribedFile, "bytes" | "sha256">> {
  const digest = new Bun.CryptoHasher("sha256");
  for await (const chunk of createReadStream(file)) digest.update(chunk);
  const { size } = await stat(file);
  return { bytes: size, sha256: digest.digest("hex") };
}

/** The files that are the same again at any time and place: those of series, which are made of numbered readings alone. */
export function lasting(tables: readonly WrittenTable[]): WrittenTable[] {
  return tables.filter(isOfSeries).sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The files that say what is known on the day of the download. */
export function changing(tables: readonly WrittenTable[]): WrittenTable[] {
  return tables.filter((table) => !isOfSeries(table));
}

/** The files of derived measures, in order of their names. */
export function measured(tables: readonly WrittenTable[]): WrittenTable[] {
  return tables
    .filter(({ name }) => derivedTables.some((table) => table.name === name))
    .sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** One checksum of all lasting files. */
export function checksumOf(tables: readonly WrittenTable[]): string {
  return sumOf(lasting(tables));
}

/** Of the lines that `sha256sum` prints of files. */
function sumOf(files: readonly DescribedFile[]): string {
  const lines = files.map(({ sha256, path }) => `${sha256}  ${path}\n`);
  return new Bun.CryptoHasher("sha256").update(lines.join("")).digest("hex");
}

/** A line by which a paper names the derived measures; undefined where there are none. */
export function measuresCitationOf({ tables, definitions }: Contents): string | undefined {
  const files = measured(tables);
  if (files.length === 0) return undefined;
  const by = definitions === undefined ? "" : ` by ${definitions.join(", ")}`;
  return `Derived measures${by}; SHA-256 ${sumOf(files)}.`;
}

/** A line by which a paper names these readings. */
export function citationOf({ at, tables, version, made_ms }: Contents): string | undefined {
  if (at === undefined) return undefined;
  const days = at.span?.map((ms) => new Date(ms).toISOString().slice(0, 10)).join(" to ");
  return [
    `Readings of ${homesText(at)}${days === undefined ? "" : `, ${days}`}`,
    `up to ${epochsText(at)}`,
    `SHA-256 ${checksumOf(tables)}`,
    `Lintel ${version}, ${new Date(made_ms).toISOString().slice(0, 10)}.`,
  ].join("; ");
}

/** How the package was made, as `lintel fetch --at FOLDER` reads it. */
export function madeOf(contents: Contents): object | undefined {
  const { at, tables, others, version, format, stamp, timezone, asked, series } = contents;
  const { identifiers, key, definitions } = contents;
  if (at === undefined) return undefined;
  const measures = measuresCitationOf(contents);
  const made: PackageRecipe = {
    version,
    at: at.epochs.map(({ epoch, number, readings, homeid }) => ({ epoch, number, readings, homeid })),
    ...(series && { series: [...series] }),
    ...(at.items && { items: [...at.items] }),
    ...(asked?.since !== undefined && { since: asked.since }),
    ...(asked?.until !== undefined && { until: asked.until }),
    timezone,
    format,
    stamp,
    identifiers,
    ...(key !== undefined && { key }),
    sha256: checksumOf(tables),
    ...(measures && definitions && { definitions: [...definitions] }),
  };
  const paths = (some: readonly WrittenTable[]) => some.map(({ path }) => path);
  const same = {
    lasting: paths(lasting(tables)),
    changing: [...paths(changing(tables)), ...others.map(({ path }) => path)],
  };
  return { citation: citationOf(contents), ...(measures && { measures }), ...made, ...same };
}

function isOfSeries({ name }: WrittenTable): boolean {
  return seriesNames.some((series) => series === name);
}

function homesText({ epochs }: PackageAt): string {
  const homes = [...new Set(epochs.flatMap(({ homeid }) => homeid ?? []))].sort((one, other) => one - other);
  if (homes.length === 0) return "a home";
  const named = homes.slice(0, named_max).join(", ");
  const more = homes.length > named_max ? ` and ${homes.length - named_max} more` : "";
  return `home${homes.length > 1 ? "s" : ""} ${named}${more}`;
}

function epochsText({ epochs }: PackageAt): string {
  if (epochs.length <= named_max) return atText(epochs);
  return `${epochs.length} epochs and numbers that datapackage.json lists`;
}

/** Homes and epochs that a citation names. */
const named_max = 5;
