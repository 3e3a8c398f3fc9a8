import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";
import type { Column, Encoder, Row } from "./column.ts";
import { type Format, formats } from "./format.ts";
import type { StampForm } from "./stamp-form.ts";

export interface TableFileOptions {
  /** Of the file, with its ending. */
  readonly path: string;
  readonly format: Format;
  readonly columns: readonly Column[];
  readonly stamp: StampForm;
}

/**
 * A file of rows that appears whole or not at all: it grows beside its place as `NAME.part`, is put on disk and only then takes its
 * name. Memory is bounded by the rows of one batch and what the format keeps back. Where it is left unfinished, a file that stood
 * there before is untouched.
 */
export class TableFile implements AsyncDisposable {
  readonly #path: string;
  readonly #part: string;
  readonly #file: FileHandle;
  readonly #encoder: Encoder;
  #rows = 0;

  private constructor({ path, format, columns, stamp }: TableFileOptions, file: FileHandle) {
    this.#path = path;
    this.#part = partOf(path);
    this.#file = file;
    this.#encoder = formats[format](columns, stamp);
  }

  /** @throws OperatorError when the file cannot be made */
  static async begin(options: TableFileOptions): Promise<TableFile> {
    const { path } = options;
    const file = await writing(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      return open(partOf(path), "w", 0o600);
    });
    const table = new TableFile(options, file);
    await table.#put(table.#encoder.head());
    return table;
  }

  /** @throws OperatorError when the file cannot be written; so does `finish` */
  async add(rows: readonly Row[]): Promise<void> {
    this.#rows += rows.length;
    await this.#put(this.#encoder.encode(rows));
  }

  /** Gives the file its name. Answers how many rows it has. */
  async finish(): Promise<number> {
    await this.#put(this.#encoder.tail());
    await writing(this.#path, async () => {
      await this.#file.sync();
      await rename(this.#part, this.#path);
      await using directory = await open(dirname(this.#path), "r");
      await directory.sync();
    });
    return this.#rows;
  }

  /** Leaves nothing of a file that was not finished. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
    await rm(this.#part, { force: true });
  }

  #put(bytes: Uint8Array): Promise<void> {
    return writing(this.#path, async () => {
      for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
    });
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
  batches: AsyncIterable<readonly Row[]>,
): Promise<number | undefined> {
  await using file = await TableFile.begin(options);
  let any = false;
  for await (const batch of batches) {
    any = true;
    await file.add(batch);
  }
  return any ? await file.finish() : undefined;
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
