import { seriesNames } from "../../series.ts";
import { atText, type PackageRecipe } from "../at.ts";
import type { PackageAt } from "../told.ts";
import type { Contents, WrittenTable } from "./written.ts";

/** The files that are the same again at any time and place: those of series, which are made of numbered readings alone. */
export function lasting(tables: readonly WrittenTable[]): WrittenTable[] {
  return tables.filter(isOfSeries).sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** The files that say what is known on the day of the download. */
export function changing(tables: readonly WrittenTable[]): WrittenTable[] {
  return tables.filter((table) => !isOfSeries(table));
}

/** One checksum of all lasting files: of the lines that `sha256sum` prints of them, in order of their names. */
export function checksumOf(tables: readonly WrittenTable[]): string {
  const lines = lasting(tables).map(({ sha256, path }) => `${sha256}  ${path}\n`);
  return new Bun.CryptoHasher("sha256").update(lines.join("")).digest("hex");
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
  const { at, tables, others, version, format, stamp, timezone, asked, series, key } = contents;
  if (at === undefined) return undefined;
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
    ...(key !== undefined && { key }),
    sha256: checksumOf(tables),
  };
  const paths = (some: readonly WrittenTable[]) => some.map(({ path }) => path);
  const same = {
    lasting: paths(lasting(tables)),
    changing: [...paths(changing(tables)), ...others.map(({ path }) => path)],
  };
  return { citation: citationOf(contents), ...made, ...same };
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
