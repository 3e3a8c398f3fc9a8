import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";
import type { Column, Row } from "./column.ts";
import type { Encoder } from "./encoder.ts";
import { type Format, formats } from "./format.ts";
import type { StampForm } from "./stamp-form.ts";

/**
 * A file of rows that appears whole or not at all: it grows beside its place as `NAME.part`, is put on disk and
 * only then takes its name. Memory is bounded by the rows of one call and what the format keeps back.
 */
export class TableFile {
  readonly #path: string;
  readonly #encoder: Encoder;
  readonly #file: FileHandle;
  #rows = 0;

  private constructor(path: string, encoder: Encoder, file: FileHandle) {
    this.#path = path;
    this.#encoder = encoder;
    this.#file = file;
  }

  /** @throws OperatorError when the file cannot be made */
  static async create(options: {
    path: string;
    format: Format;
    columns: readonly Column[];
    stamp: StampForm;
  }): Promise<TableFile> {
    const { path, format, columns, stamp } = options;
    const encoder = formats[format](columns, stamp);
    return writing(path, async () => {
      await mkdir(dirname(path), { recursive: true });
      const table = new TableFile(path, encoder, await open(partOf(path), "w"));
      await table.#put(encoder.head());
      return table;
    });
  }

  /** Rows written so far. */
  get rows(): number {
    return this.#rows;
  }

  async write(rows: readonly Row[]): Promise<void> {
    this.#rows += rows.length;
    await writing(this.#path, () => this.#put(this.#encoder.encode(rows)));
  }

  /** Puts everything on disk, and the file in its place. */
  async finish(): Promise<void> {
    await writing(this.#path, async () => {
      await this.#put(this.#encoder.tail());
      await this.#file.sync();
      await this.#file.close();
      await rename(partOf(this.#path), this.#path);
      const directory = await open(dirname(this.#path), "r");
      await directory.sync();
      await directory.close();
    });
  }

  /** Removes the unfinished file; a file that stood there before is untouched. */
  async abandon(): Promise<void> {
    await this.#file.close();
    await rm(partOf(this.#path), { force: true });
  }

  async #put(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) at += (await this.#file.write(bytes, at)).bytesWritten;
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
