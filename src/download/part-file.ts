import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { messageOf, OperatorError } from "../errors.ts";

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
