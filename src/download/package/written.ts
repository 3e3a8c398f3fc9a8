import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { SeriesName } from "../../series.ts";
import type { Format } from "../format.ts";
import type { Timezone } from "../home-zones.ts";
import type { AskedMoments } from "../span.ts";
import type { StampForm } from "../stamp-form.ts";
import type { PackageTable } from "../tables.ts";
import type { PackageAt } from "../told.ts";

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

export interface WrittenTable extends PackageTable, DescribedFile {
  readonly title: string;
}

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
  /** Of the key by which identifiers were taken out; undefined where they stand. */
  readonly key: string | undefined;
  /** The stretch of time that was asked for. */
  readonly asked?: AskedMoments | undefined;
  /** Absent: all. */
  readonly series?: readonly SeriesName[] | undefined;
  /** Absent where the interface does not tell which readings it has. */
  readonly at?: PackageAt | undefined;
  /** When it was made, unix milliseconds. */
  readonly made_ms: number;
  /** The Lintel that made it. */
  readonly version: string;
}

/** A table as its file lies there. */
export async function writtenTable(
  table: PackageTable,
  { directory, path, rows }: { directory: string; path: string; rows: number },
): Promise<WrittenTable> {
  return { ...table, path, rows, ...(await digestOf(join(directory, path))) };
}

/** Reads a file once for its length and digest. */
export async function digestOf(file: string): Promise<Pick<DescribedFile, "bytes" | "sha256">> {
  const digest = new Bun.CryptoHasher("sha256");
  for await (const chunk of createReadStream(file)) digest.update(chunk);
  const { size } = await stat(file);
  return { bytes: size, sha256: digest.digest("hex") };
}
