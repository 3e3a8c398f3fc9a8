import { canceled, disconnected } from "./errors.ts";

/**
 * The bytes that arrive at a descriptor, as many at a time as the caller has room for. Bun polls a duplicate
 * of the descriptor in its own event loop and reads ahead about 64 KiB at most; the rest waits in the
 * kernel, where flow control sees it.
 */
export class ByteSource {
  readonly #fd: number;
  readonly #path: string;
  #reader: ReturnType<typeof readerOf> | undefined;
  #rest: Uint8Array | undefined;
  #open = true;

  constructor(fd: number, path: string) {
    this.#fd = fd;
    this.#path = path;
  }

  /** Waits for at least one byte. Fails as cancelled once closed, and as disconnected on a hang-up. */
  async read(buffer: Buffer, offset: number, length: number): Promise<number> {
    while (this.#rest === undefined) {
      if (!this.#open) throw canceled();
      this.#reader ??= readerOf(this.#fd);
      const reader = this.#reader;
      const { value, done } = await this.#next(reader);
      if (!this.#open) throw canceled();
      if (reader !== this.#reader) continue; // discarded meanwhile: what it still had is not wanted
      if (done) throw disconnected(this.#path, "the device hung up");
      if (value.length > 0) this.#rest = value;
    }
    const taken = this.#rest.subarray(0, length);
    buffer.set(taken, offset);
    this.#rest = taken.length < this.#rest.length ? this.#rest.subarray(taken.length) : undefined;
    return taken.length;
  }

  /** Drops bytes that were read ahead; a read that waits continues to wait. */
  discard(): void {
    this.#rest = undefined;
    this.#stop();
  }

  /** Ends a read that waits, as cancelled, and lets go of the duplicate. The caller closes the descriptor. */
  close(): void {
    this.#open = false;
    this.discard();
  }

  #stop(): void {
    const reader = this.#reader;
    this.#reader = undefined;
    reader?.cancel().catch(() => {}); // a stream that failed has nothing left to cancel
  }

  async #next(reader: ReturnType<typeof readerOf>) {
    try {
      return await reader.read();
    } catch (thrown) {
      if (!this.#open || reader !== this.#reader) return { value: undefined, done: true as const };
      throw disconnected(this.#path, `reading failed: ${thrown instanceof Error ? thrown.message : thrown}`);
    }
  }
}

function readerOf(fd: number) {
  return Bun.file(fd).stream().getReader();
}
