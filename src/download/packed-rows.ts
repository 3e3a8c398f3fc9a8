import type { HeldRow } from "./held-readings.ts";

/** Rows as they stand in the file of a download: compressed lightly, because each is written once and read a few times. */
export function packed(rows: readonly HeldRow[]): Uint8Array {
  return Bun.zstdCompressSync(JSON.stringify(rows), { level: 1 });
}

export function unpacked(bytes: Uint8Array): HeldRow[] {
  return JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(bytes)));
}

/** Two runs of rows, each in order of time, as one. */
export function* merged(one: Iterable<HeldRow[]>, other: Iterable<HeldRow[]>): Generator<HeldRow[]> {
  const [left, right] = [new Ahead(one), new Ahead(other)];
  while (left.first !== undefined && right.first !== undefined) {
    const [sooner, later] = left.first[0] <= right.first[0] ? [left, right] : [right, left];
    yield sooner.through(later.first?.[0] ?? 0);
  }
  yield* left.rest();
  yield* right.rest();
}

/** Pages of rows with a look at the first that is still to come. */
class Ahead {
  readonly #pages: Iterator<HeldRow[]>;
  #rows: HeldRow[] = [];

  constructor(pages: Iterable<HeldRow[]>) {
    this.#pages = pages[Symbol.iterator]();
    this.#fill();
  }

  get first(): HeldRow | undefined {
    return this.#rows[0];
  }

  /** Takes the rows of this page up to and with a moment. */
  through(stamp_ms: number): HeldRow[] {
    const end = this.#rows.findIndex(([own_ms]) => own_ms > stamp_ms);
    const rows = end === -1 ? this.#rows : this.#rows.slice(0, end);
    this.#rows = end === -1 ? [] : this.#rows.slice(end);
    this.#fill();
    return rows;
  }

  *rest(): Generator<HeldRow[]> {
    while (this.#rows.length > 0) yield this.through(Number.POSITIVE_INFINITY);
  }

  #fill(): void {
    while (this.#rows.length === 0) {
      const { value, done } = this.#pages.next();
      if (done) return;
      this.#rows = value;
    }
  }
}
