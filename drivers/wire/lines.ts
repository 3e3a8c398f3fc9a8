/**
 * Splits the bytes of a wire into lines that end in `\n` (a `\r` before it goes too), as UTF-8 text. Holds one
 * unfinished line of at most `line_max_bytes`: a longer one is thrown away whole and told to `onOverlong`.
 */
export class LineReader {
  readonly #held: Uint8Array;
  readonly #onLine: (line: string) => void;
  readonly #onOverlong: (bytes: number) => void;
  readonly #decoder = new TextDecoder();
  #length = 0;
  #overlong_bytes = 0;

  constructor(options: {
    line_max_bytes: number;
    onLine: (line: string) => void;
    onOverlong: (bytes: number) => void;
  }) {
    this.#held = new Uint8Array(options.line_max_bytes);
    this.#onLine = options.onLine;
    this.#onOverlong = options.onOverlong;
  }

  /** Bytes of an unfinished line. */
  get held_bytes(): number {
    return this.#length;
  }

  push(chunk: Uint8Array): void {
    for (let from = 0; from < chunk.length; ) {
      const found = chunk.indexOf(newline, from);
      const to = found < 0 ? chunk.length : found;
      this.#keep(chunk.subarray(from, to));
      if (found >= 0) this.#end();
      from = to + 1;
    }
  }

  #keep(part: Uint8Array): void {
    if (this.#overlong_bytes > 0 || this.#length + part.length > this.#held.length) {
      this.#overlong_bytes += this.#length + part.length;
      this.#length = 0;
      return;
    }
    this.#held.set(part, this.#length);
    this.#length += part.length;
  }

  #end(): void {
    const end =
      this.#length > 0 && this.#held[this.#length - 1] === carriageReturn ? this.#length - 1 : this.#length;
    const overlong = this.#overlong_bytes;
    this.#length = 0;
    this.#overlong_bytes = 0;
    if (overlong > 0) this.#onOverlong(overlong);
    else if (end > 0) this.#onLine(this.#decoder.decode(this.#held.subarray(0, end)));
  }
}

const newline = 0x0a;
const carriageReturn = 0x0d;
