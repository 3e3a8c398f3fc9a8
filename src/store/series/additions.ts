import type { SeriesName } from "../../domain/series.ts";
import type { ReadingColumns } from "../batch.ts";
import { pick } from "../batch.ts";
import { change, objects, put, putReadings, rowsOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { merged, orderOf, readingsOf } from "./block-codec.ts";
import { addToBlocks } from "./blocks.ts";
import { rowsAfter } from "./readings.ts";
import type { SeriesRows } from "./series-rows.ts";
import type { StreamSeries } from "./streams.ts";
import { cutOf, lateColumns, moveToBlocks } from "./totals.ts";

/**
 * Readings of a home that a transaction adds, for the totals, the blocks and the list of late readings: see ../README.md. Call `add` for each
 * reading that is put into a table, those of a stream in order of number, or `put` for many; and `settle` once before the commit. The home is held.
 */
export class Additions {
  readonly #homes: Homes;
  readonly #home: number;
  readonly #added = new Map<string, AddedReadings>();
  #totals: Map<string, Totals> | undefined;

  /** `home`: as the tables of readings have it. */
  constructor(homes: Homes, home: number) {
    this.#homes = homes;
    this.#home = home;
  }

  add(series: SeriesName, stream: number, stamp_ms: number, number: number): void {
    const { stamps_ms, numbers } = this.#of(series, stream);
    stamps_ms.push(stamp_ms);
    numbers.push(number);
  }

  /** Reads what is kept of the streams that readings are to be put of. */
  *begin(streams: readonly number[]): Work<void> {
    this.#totals = yield* totalsOf(streams, this.#home);
  }

  /** Puts readings of streams that `begin` was told of: where they come to more than may be rows, straight into blocks. */
  *put(rows: SeriesRows): Work<void> {
    const { series, columns, order, stream, own } = rows;
    const few: number[] = [];
    for (const [of, indexes] of Map.groupBy(order, (index) => stream[index] as number)) {
      const added = this.#of(series, of);
      for (const index of indexes) {
        added.stamps_ms.push(columns.stamp_ms[index] as number);
        added.numbers.push(own[index] as number);
      }
      const totals = this.#totalsOf(added);
      if (totals.total - totals.in_blocks + indexes.length <= this.#homes.sizes.rows_max)
        few.push(...indexes);
      else yield* this.#putInBlocks(added, totals, pick({ ...columns, seq: own }, indexes));
    }
    yield* putReadings({ ...rows, order: Uint32Array.from(few) });
  }

  /** Forgets what was added since the last `settle`. */
  forget(): void {
    this.#added.clear();
    this.#totals = undefined;
  }

  /** Writes the totals that have changed, and the late readings. Rows are in their tables; where they are too many, they go into blocks. */
  *settle(): Work<void> {
    const added = [...this.#added.values()];
    if (added.length === 0) return;
    const streams = new Set(added.map(({ stream }) => stream));
    this.#totals ??= yield* totalsOf([...streams], this.#home);
    const late: LateRow[] = [];
    const changed: Totals[] = [];
    for (const one of added) {
      const totals = this.#totalsOf(one);
      late.push(...lateOf(one, totals.newest_stamp, this.#home));
      const before = one.inserted ?? one.stamps_ms.filter((stamp_ms) => stamp_ms < totals.rows_from).length;
      totals.inserted += before;
      totals.total += one.numbers.length;
      for (const stamp_ms of one.stamps_ms)
        if (stamp_ms > totals.newest_stamp) totals.newest_stamp = stamp_ms;
      for (const number of one.numbers) if (number > totals.newest_number) totals.newest_number = number;
      const rows = totals.total - totals.in_blocks;
      if (one.inserted === undefined && (before > 0 || rows > this.#homes.sizes.rows_max)) {
        const { rows_from, moved } = yield* moveToBlocks(this.#placeOf(totals), { rows, late: before > 0 });
        totals.rows_from = rows_from;
        totals.in_blocks += moved;
      }
      changed.push(totals);
    }
    this.forget();
    yield* put({
      put: "totals",
      columns: totalsColumns,
      rows: changed.map((totals) => totalsNames.map((name) => totals[name])),
      conflict: `ON CONFLICT (stream, series, home) DO UPDATE SET ${totalsChanges}`,
    });
    yield* put({ put: "late", columns: lateColumns, rows: late, conflict: "ON CONFLICT DO NOTHING" });
  }

  /** Puts the rows of a run and readings together into blocks, but for the newest of them. */
  *#putInBlocks(added: AddedReadings, totals: Totals, readings: ReadingColumns): Work<void> {
    const { homes, series, stream, home, rows_from } = this.#placeOf(totals);
    const rows = yield* rowsOf(
      rowsAfter(this.#placeOf(totals), {
        ...{ after: [rows_from, 0], before_ms: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER },
      }),
    );
    yield* change(`DELETE FROM ${series} WHERE stream = $1${homes.is("$2")}`, stream, home);
    const all =
      rows.length > 0 ? merged(readingsOf(series, rows), readings) : pick(readings, orderOf(readings));
    const { stamp_ms } = all;
    totals.rows_from = Math.max(rows_from, cutOf(stamp_ms.toReversed(), homes.sizes));
    const [older, newer] = [[] as number[], [] as number[]];
    for (const [index, stamp] of stamp_ms.entries()) (stamp < totals.rows_from ? older : newer).push(index);
    added.inserted = added.stamps_ms.filter((stamp) => stamp < rows_from).length;
    totals.in_blocks += older.length;
    yield* addToBlocks(this.#placeOf(totals), pick(all, older));
    const kept = pick(all, newer);
    yield* putReadings({
      ...{ series, home, own: kept.seq, columns: { ...kept, device: new Float64Array(newer.length) } },
      order: Uint32Array.from(newer.keys()),
      stream: new Float64Array(newer.length).fill(stream),
    });
  }

  #placeOf({ series, stream, home, rows_from }: Totals): StreamSeries {
    return { homes: this.#homes, series, stream, home, rows_from };
  }

  #totalsOf({ series, stream }: AddedReadings): Totals {
    const name = `${series} ${stream}`;
    const known = this.#totals?.get(name) ?? { series, stream, home: this.#home, ...nothing };
    this.#totals?.set(name, known);
    return known;
  }

  #of(series: SeriesName, stream: number): AddedReadings {
    const name = `${series} ${stream}`;
    const known = this.#added.get(name) ?? { series, stream, stamps_ms: [], numbers: [] };
    this.#added.set(name, known);
    return known;
  }
}

/** Readings of a series of a stream, in order of number. */
interface AddedReadings {
  readonly series: SeriesName;
  readonly stream: number;
  readonly stamps_ms: number[];
  readonly numbers: number[];
  /** How many of them fell among blocks, once they have been put there. */
  inserted?: number;
}

interface Totals {
  readonly series: SeriesName;
  readonly stream: number;
  readonly home: number;
  total: number;
  newest_number: number;
  newest_stamp: number;
  in_blocks: number;
  inserted: number;
  rows_from: number;
}

const nothing = { total: 0, newest_number: 0, newest_stamp: 0, in_blocks: 0, inserted: 0, rows_from: 0 };

function* totalsOf(streams: readonly number[], home: number): Work<Map<string, Totals>> {
  const text = `SELECT ${totalsNames.join(", ")} FROM totals WHERE stream = ANY ($1::bigint[]) AND home = $2`;
  const rows = yield* rowsOf(objects<Totals>(text, streams, home));
  return new Map(rows.map((row) => [`${row.series} ${row.stream}`, row]));
}

/** Those that came after one with a higher stamp; `newest_ms`: of those before. */
function lateOf(
  { stream, series, stamps_ms, numbers }: AddedReadings,
  newest_ms: number,
  home: number,
): LateRow[] {
  const late: LateRow[] = [];
  let newest = newest_ms;
  for (const [index, stamp_ms] of stamps_ms.entries()) {
    if (stamp_ms >= newest) newest = stamp_ms;
    else late.push([stream, series, numbers[index] as number, home, stamp_ms]);
  }
  return late;
}

const totalsColumns = {
  stream: "bigint",
  series: "text",
  home: "bigint",
  total: "bigint",
  newest_number: "bigint",
  newest_stamp: "bigint",
  in_blocks: "bigint",
  inserted: "bigint",
  rows_from: "bigint",
} as const;
const totalsNames = Object.keys(totalsColumns) as (keyof typeof totalsColumns)[];
const totalsChanges = totalsNames
  .slice(3)
  .map((name) => `${name} = excluded.${name}`)
  .join(", ");
type LateRow = [stream: number, series: string, seq: number, home: number, stamp_ms: number];
