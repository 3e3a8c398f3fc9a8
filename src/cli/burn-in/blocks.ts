import { createCipheriv, createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";

/** The size of a block: no disk writes less at once. */
export const block_bytes = 4096;
/** Blocks of a round at most: 32 MiB. */
export const blocks_max = 8192;

/** The one content of a block. Its bytes follow from the three numbers, so that none can be taken for another, or for an older one in its place. */
export function blockOf(run: string, round: number, number: number): Uint8Array {
  const seed = createHash("sha256").update(`${run} ${round} ${number}`).digest();
  const cipher = createCipheriv("aes-128-ctr", seed.subarray(0, 16), seed.subarray(16));
  return cipher.update(new Uint8Array(block_bytes));
}

/** A file of blocks, each brought to disk by itself. Number 1 is the first. */
export class BlockFile implements AsyncDisposable {
  readonly #file: FileHandle;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Opens the file, and fills it first where it is not whole: to overwrite a block costs a disk one flush, without the journal of the file system. */
  static async open(path: string): Promise<BlockFile> {
    const file = await open(path, "a+", 0o600);
    const { size } = await file.stat();
    await file.close();
    const writable = await open(path, "r+");
    for (let at = size; at < blocks_max * block_bytes; at += fill.length)
      await writable.write(fill.subarray(0, blocks_max * block_bytes - at), 0, null, at);
    await writable.sync();
    return new BlockFile(writable);
  }

  /** Writes a block, and resolves when the disk says that it has it: how long the disk took for that, by the given clock. */
  async write(number: number, block: Uint8Array, now_ms: () => number): Promise<number> {
    await this.#file.write(block, 0, block_bytes, (number - 1) * block_bytes);
    const begun_ms = now_ms();
    await this.#file.datasync();
    return now_ms() - begun_ms;
  }

  /** The numbers up to one, of which the blocks of a round are not there. */
  async missing(run: string, round: number, through: number): Promise<number[]> {
    const missing: number[] = [];
    const found = new Uint8Array(block_bytes);
    for (let number = 1; number <= through; number++) {
      const { bytesRead } = await this.#file.read(found, 0, block_bytes, (number - 1) * block_bytes);
      const isThere = bytesRead === block_bytes && Buffer.compare(found, blockOf(run, round, number)) === 0;
      if (!isThere) missing.push(number);
    }
    return missing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close();
  }
}

const fill = new Uint8Array(1024 * 1024);

/** A number as the screen shows it, with two letters by which a slip of the technician is found: `2-1234-KT`. */
export function codeOf(round: number, number: number): string {
  const [first = 0, second = 0] = createHash("sha256").update(`${round}-${number}`).digest();
  return `${round}-${number}-${letterOf(first)}${letterOf(second)}`;
}

/** The numbers of a code; undefined where it was mistyped. */
export function parseCode(text: string): { readonly round: number; readonly number: number } | undefined {
  const [, round = 0, number = 0] = /^(\d)-(\d{1,5})-[a-z]{2}$/i.exec(text) ?? [];
  const right = codeOf(Number(round), Number(number)) === text.toUpperCase() && Number(number) <= blocks_max;
  return right ? { round: Number(round), number: Number(number) } : undefined;
}

function letterOf(byte: number): string {
  return letters.charAt(byte % letters.length);
}

/** None of them looks like another, or like a digit. */
const letters = "ACDEFHJKMNPRTUVWXY";
