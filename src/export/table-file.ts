import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Item } from "../domain/records/item.ts";
import type { SeriesName } from "../domain/series.ts";
import {
  columnsOfSeries,
  type Encoder,
  type FileColumn,
  type FileRow,
  type ReadingSource,
  readingRows,
} from "./columns.ts";
import type { HomeZones, Timezone } from "./home-zones.ts";
import { parquet } from "./parquet.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { csv, ndjson, type StampForm } from "./text-formats.ts";

/** The formats of files. The key is the word on the command line and the ending of the file's name. */
export const formats = { csv, ndjson, parquet } as const satisfies Record<
  string,
  (columns: readonly FileColumn[], stamp: StampForm) => Encoder
>;

export type Format = keyof typeof formats;

export const formatNames = Object.keys(formats) as Format[];

/** The form of the files of a package. */
export interface FileForm {
  readonly format: Format;
  readonly stamp: StampForm;
  /** Takes identifiers out of columns and rows; absent: they stay. */
  readonly pseudonyms?: Pseudonyms | undefined;
}

export interface TableFileOptions extends FileForm {
  /** Of the file, with its ending. */
  readonly path: string;
  readonly columns: readonly FileColumn[];
}

/** A file of rows, which appears whole or not at all. Memory is bounded by the rows of one batch and what the format keeps back. */
export class TableFile implements AsyncDisposable {
  readonly #file: PartFile;
  readonly #encoder: Encoder;
  readonly #shown: ((row: FileRow) => FileRow) | undefined;
  #rows = 0;

  private constructor({ format, columns, stamp, pseudonyms }: TableFileOptions, file: PartFile) {
    this.#file = file;
    this.#shown = pseudonyms?.rows(columns);
    this.#encoder = formats[format](pseudonyms?.columns(columns) ?? columns, stamp);
  }

  /** @throws OperatorError when the file cannot be made */
  static async begin(options: TableFileOptions): Promise<TableFile> {
    const table = new TableFile(options, await PartFile.begin(options.path));
    await table.#file.put(table.#encoder.head());
    return table;
  }

  /** @throws OperatorError when the file cannot be written; so does `finish` */
  async add(rows: readonly FileRow[]): Promise<void> {
    this.#rows += rows.length;
    await this.#file.put(this.#encoder.encode(this.#shown === undefined ? rows : rows.map(this.#shown)));
  }

  /** Gives the file its name. Answers how many rows it has. */
  async finish(): Promise<number> {
    await this.#file.put(this.#encoder.tail());
    await this.#file.finish();
    return this.#rows;
  }

  /** Leaves nothing of a file that was not finished. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#file[Symbol.asyncDispose]();
  }
}

/**
 * Writes rows into a file.
 *
 * @param batches rows in their order; where there is not even an empty batch, no file is made
 * @returns how many rows; undefined without a file
 * @throws OperatorError when the file cannot be made or written
 */
export async function writeTable(
  options: TableFileOptions,
  batches: AsyncIterable<readonly FileRow[]>,
): Promise<number | undefined> {
  await using file = await TableFile.begin(options);
  let any = false;
  for await (const batch of batches) {
    any = true;
    await file.add(batch);
  }
  return any ? await file.finish() : undefined;
}

/**
 * Writes a series of many items into one file, item after item in the given order, each from old to new.
 *
 * @param options.path without ending
 * @param options.onRows told of rows as they are written
 * @returns how many readings
 */
export async function writeSeries(
  options: FileForm & {
    path: string;
    series: SeriesName;
    items: readonly Item[];
    readings: ReadingSource;
    zones: HomeZones;
    timezone?: Timezone | undefined;
    stop: AbortSignal;
    onRows?: ((count: number) => void) | undefined;
  },
): Promise<number> {
  const { series, items, readings, zones, timezone, format, stamp, pseudonyms } = options;
  async function* batches() {
    // A series without readings has a file too.
    yield [];
    const rowOf = readingRows(series, timezone === "home" ? zones : undefined);
    for (const item of items)
      for await (const rows of readings.oldestFirst(series, item)) {
        options.stop.throwIfAborted();
        yield rows.map((row) => rowOf(item, row));
        options.onRows?.(rows.length);
      }
  }
  const path = fileOf(options.path, format);
  const columns = columnsOfSeries(series, timezone);
  return (await writeTable({ path, format, columns, stamp, pseudonyms }, batches())) ?? 0;
}

export function fileOf(path: string, format: Format): string {
  return `${path}.${format}`;
}

/**
 * A file that appears whole or not at all: it grows beside its place as `NAME.part`, is put on disk and only then takes its name. Where it is
 * left unfinished, a file that stood there before is untouched. All of its methods throw an OperatorError where the disk refuses.
 */
export class PartFile implements AsyncDisposable {
  readonly #path: string;
  readonly #file: FileHandle;

  private constructor(path: string, file: FileHandle) {
    this.#path = path;
    this.#file = file;
  }

  static async begin(path: string): Promise<PartFile> {
    const file = await writing(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      return open(partOf(path), "w", 0o600);
    });
    return new PartFile(path, file);
  }

  put(bytes: Uint8Array): Promise<void> {
    return writing(this.#path, async () => {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
    });
  }

  /** Gives the file its name. */
  async finish(): Promise<void> {
    await writing(this.#path, async () => {
      await this.#file.sync();
      await rename(partOf(this.#path), this.#path);
      await using directory = await open(dirname(this.#path), "r");
      await directory.sync();
    });
  }

  /** Leaves nothing of a file that was not finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    await rm(partOf(this.#path), { force: true });
  }
}

function partOf(path: string): string {
  return `${path}.part`;
}

async function writing<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof Error && "code" in thrown)) throw thrown;
    throw new OperatorError(
      `${path} cannot be written (${messageOf(thrown)})`,
      "free some space or give --output a directory that this user may write, then run this again",
      { cause: thrown },
    );
  }
}
