import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { type ReadingColumns, type ValueColumn, valueAt } from "../batch.ts";
import type { Precision, SeriesRecord } from "../store.ts";
import type { DecodedBlock } from "./decoded-block.ts";

/** Takes the records of a page, in their order: as objects, or as JSON. It wants one more than the page has, which says that there are others. */
export abstract class PageRecords {
  readonly #limit: number;
  #count = 0;
  #second: number | undefined;
  #within = 0;
  /** Of stamps in milliseconds, to those that are served. */
  protected readonly divisor: number;

  constructor({ limit, precision }: { limit: number; precision: Precision }) {
    this.#limit = limit;
    this.divisor = precision === "ms" ? 1 : 1000;
  }

  /** How many more it wants. */
  get wanted(): number {
    return this.#limit + 1 - this.#count;
  }

  get isFull(): boolean {
    return this.wanted <= 0;
  }

  /** Records that a database has made. */
  rows(records: readonly SeriesRecord[]): void {
    const shown = records.slice(0, this.#limit - this.#count);
    this.#count += records.length;
    if (shown.length === 0) return;
    this.#see(shown.length, (index) =>
      Math.floor(((shown[index] as SeriesRecord).stamp * this.divisor) / 1000),
    );
    this.addRecords(shown);
  }

  /** Readings of a block, from the index `first` on in steps of `step`. */
  block(block: DecodedBlock, of: { first: number; count: number; step: 1 | -1 }): void {
    const { first, step } = of;
    const count = Math.min(of.count, this.#limit - this.#count);
    this.#count += of.count;
    if (count <= 0) return;
    const { stamp_ms } = block;
    this.#see(count, (index) => Math.floor((stamp_ms[first + step * index] as number) / 1000));
    this.addBlock(block, { first, count, step });
  }

  /** The unix second that the last record lies in, and how many of the last ones lie in it; there is one. */
  lastSecond(): { second: number; within: number } {
    return { second: this.#second ?? 0, within: this.#within };
  }

  #see(count: number, secondAt: (index: number) => number): void {
    const second = secondAt(count - 1);
    let within = 1;
    while (within < count && secondAt(count - 1 - within) === second) within += 1;
    this.#within = within === count && second === this.#second ? this.#within + count : within;
    this.#second = second;
  }

  /** Records on the page. */
  get count(): number {
    return Math.min(this.#count, this.#limit);
  }

  protected abstract addRecords(records: readonly SeriesRecord[]): void;
  protected abstract addBlock(block: DecodedBlock, of: { first: number; count: number; step: 1 | -1 }): void;
}

/** Records as objects. */
export class ObjectRecords extends PageRecords {
  readonly records: SeriesRecord[] = [];
  readonly #record: (readings: ReadingColumns, index: number) => SeriesRecord;

  constructor(series: SeriesName, of: { limit: number; precision: Precision }) {
    super(of);
    this.#record = recordMaker(series, this.divisor);
  }

  protected addRecords(records: readonly SeriesRecord[]): void {
    this.records.push(...records);
  }

  protected addBlock(
    block: DecodedBlock,
    { first, count, step }: { first: number; count: number; step: 1 | -1 },
  ): void {
    const readings = block.readings();
    for (let place = 0; place < count; place += 1)
      this.records.push(this.#record(readings, first + step * place));
  }
}

/** Records as the bytes of a JSON array. */
export class JsonRecords extends PageRecords {
  readonly #series: SeriesName;
  #written = room.pop() ?? new Uint8Array(room_bytes);
  #length = 0;

  constructor(series: SeriesName, of: { limit: number; precision: Precision }) {
    super(of);
    this.#series = series;
  }

  /** The array. Nothing is added after it. */
  end(): Uint8Array<ArrayBuffer> {
    if (this.#length === 0) this.#written[this.#length++] = bracket;
    this.#written[this.#length++] = bracket_end;
    const bytes = this.#written.slice(0, this.#length);
    if (room.length < room_max && this.#written.length <= room_bytes_max) room.push(this.#written);
    return bytes;
  }

  #add(records: Uint8Array): void {
    const before = this.#written;
    // The bracket at the end has its place too.
    const needed = this.#length + records.length + 2;
    if (needed > before.length) {
      this.#written = new Uint8Array(2 * needed);
      this.#written.set(before.subarray(0, this.#length));
    }
    this.#written[this.#length] = this.#length === 0 ? bracket : comma;
    this.#written.set(records, this.#length + 1);
    this.#length += 1 + records.length;
  }

  protected addRecords(records: readonly SeriesRecord[]): void {
    this.#add(encoder.encode(JSON.stringify(records).slice(1, -1)));
  }

  protected addBlock(block: DecodedBlock, of: { first: number; count: number; step: 1 | -1 }): void {
    const bytes = block.json({ ...of, divisor: this.divisor });
    if (bytes !== undefined) {
      this.#add(bytes);
      return;
    }
    const record = recordMaker(this.#series, this.divisor);
    const readings = block.readings();
    this.addRecords(
      Array.from({ length: of.count }, (_, place) => record(readings, of.first + of.step * place)),
    );
  }
}

/** A record as it is served: stamp first, then the fields. */
function recordMaker(
  series: SeriesName,
  divisor: number,
): (readings: ReadingColumns, index: number) => SeriesRecord {
  const fields = Object.keys(seriesOf(series).fields);
  return ({ stamp_ms, values }, index) => {
    const record: Record<string, unknown> = { stamp: Math.floor((stamp_ms[index] as number) / divisor) };
    for (const [place, field] of fields.entries())
      record[field] = valueAt(values[place] as ValueColumn, index);
    return record as SeriesRecord;
  };
}

const encoder = new TextEncoder();
/** Where pages are written before they are copied once, at their length: memory that is used again is not collected. */
const room: Uint8Array[] = [];
const room_bytes = 65_536;
const room_bytes_max = 1_048_576;
/** As many as are written at once: more than one only on PostgreSQL, which is waited for in between. */
const room_max = 4;
const [bracket, bracket_end, comma] = [0x5b, 0x5d, 0x2c];
