import type { Encoder, FileColumn, FileRow } from "./column.ts";
import { type Format, formats } from "./format.ts";
import { PartFile } from "./part-file.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import type { StampForm } from "./stamp-form.ts";

export interface TableFileOptions {
  /** Of the file, with its ending. */
  readonly path: string;
  readonly format: Format;
  readonly columns: readonly FileColumn[];
  readonly stamp: StampForm;
  /** Takes identifiers out of columns and rows; undefined: they stay. */
  readonly pseudonyms: Pseudonyms | undefined;
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
