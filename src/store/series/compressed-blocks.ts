import { pick } from "../batch.ts";
import { objects, putReadings, rowsOf, type Statement, type Work } from "../database.ts";
import {
  decodeBlock,
  encodeBlock,
  merged,
  orderOf,
  type ReadingColumns,
  readingAt,
  type StreamReading,
  within,
} from "./block-codec.ts";
import type { SeriesRows } from "./series-rows.ts";
import { ofStreamSeries, type StreamSeries } from "./streams.ts";
import { type Between, spanStart, widths_ms } from "./time-spans.ts";

/** Sealed readings of a run that follow each other, as a row of `sealed_readings`: see ../README.md. */
interface CompressedBlock extends BlockKey {
  readonly last_stamp: number;
  readonly count: number;
  readonly min_seq: number;
  readonly max_seq: number;
  /** Its readings, decoded anew with each call. */
  readings(): ReadingColumns;
}

/** The first reading of a block. */
interface BlockKey {
  readonly stamp: number;
  readonly seq: number;
}

/** A walk over the blocks of a run that have readings in a stretch of time, in either direction. Few are read at first, and more the longer it goes on. */
export class BlockReader {
  readonly #run: StreamSeries;
  readonly #step: 1 | -1;
  readonly #bounds: readonly number[];
  #after: BlockKey | undefined;
  #found: readonly CompressedBlock[] = [];
  #at = 0;
  #asked = blocks_first;
  #ended: boolean;

  constructor(run: StreamSeries, { from_ms, before_ms }: Between, step: 1 | -1) {
    const end_ms = Math.min(before_ms, run.sealed_before);
    this.#run = run;
    this.#step = step;
    this.#bounds = [spanStart(from_ms, block_width_ms), end_ms, from_ms];
    if (step < 0) this.#after = { stamp: end_ms, seq: 0 };
    this.#ended = from_ms >= end_ms;
  }

  /** The next block; undefined at the end. */
  *next(): Work<CompressedBlock | undefined> {
    if (this.#at === this.#found.length && !this.#ended) yield* this.#more();
    const block = this.#found[this.#at];
    this.#at += 1;
    return block;
  }

  *#more(): Work<void> {
    const { stamp, seq } = this.#after ?? { stamp: -1, seq: 0 };
    const { stream, series, home } = this.#run;
    const given = [stream, series, home, ...this.#bounds, stamp, seq, this.#asked];
    const text = this.#step > 0 ? ascending : descending;
    const rows = yield* rowsOf(objects<BlockRow>(text, ...given));
    this.#found = rows.map((row) => blockOf(this.#run, row));
    this.#at = 0;
    this.#after = rows.at(-1);
    this.#ended = rows.length < this.#asked;
    this.#asked = Math.min(this.#asked * 2, blocks_most);
  }
}

/** Parameters of these: the stream, the series, the home, where the first block may begin, the end of the stretch, its beginning, the block before, and a limit. */
function blocksSql(isBeyond: ">" | "<", order: "ASC" | "DESC"): string {
  return `SELECT ${blockColumns} FROM sealed_readings
    WHERE ${ofStreamSeries} AND stamp >= $4 AND stamp < $5 AND last_stamp >= $6 AND (stamp, seq) ${isBeyond} ($7, $8)
    ORDER BY stamp ${order}, seq ${order} LIMIT $9`;
}

const blockColumns = "stamp, seq, last_stamp, count, min_seq, max_seq, readings";
const ascending = blocksSql(">", "ASC");
const descending = blocksSql("<", "DESC");

/** The blocks of some streams that may have readings with numbers from `least` to `most`, with their streams. */
export function* blocksNumbered(
  { series, home }: Pick<StreamSeries, "series" | "home">,
  streams: readonly number[],
  { least, most }: { least: number; most: number },
): Work<(CompressedBlock & { readonly stream: number })[]> {
  const text = `SELECT stream, ${blockColumns} FROM sealed_readings
    WHERE stream = ANY ($1::bigint[]) AND series = $2 AND home = $3 AND max_seq >= $4 AND min_seq <= $5`;
  const rows = yield* rowsOf(
    objects<BlockRow & { stream: number }>(text, streams, series, home, least, most),
  );
  return rows.map((row) => ({ ...blockOf({ series }, row), stream: row.stream }));
}

/** Adds readings in any order to the sealed ones of a run; all are of stamps below `sealed_before`. */
export function* addCompressed(run: StreamSeries, readings: ReadingColumns): Work<void> {
  const order = orderOf(readings);
  const stampAt = (index: number) => readings.stamp_ms[index] as number;
  for (const [start_ms, indexes] of Map.groupBy(order, (index) =>
    spanStart(stampAt(index), block_width_ms),
  )) {
    const window = { from_ms: start_ms, before_ms: Math.min(start_ms + block_width_ms, run.sealed_before) };
    const keys = yield* keysIn(run, window);
    // A block takes in all up to where the next one begins, the first one also what lies before it.
    const taking = Map.groupBy(indexes, (index) => Math.max(0, placeOf(keys, readings, index)));
    for (const [place, taken] of taking) yield* addToBlock(run, keys, place, pick(readings, taken));
  }
}

type KnownBlock = BlockKey & Pick<CompressedBlock, "last_stamp" | "count">;

function* keysIn(
  { stream, series, home }: StreamSeries,
  { from_ms, before_ms }: Between,
): Work<KnownBlock[]> {
  const text = `SELECT stamp, seq, last_stamp, count FROM sealed_readings
    WHERE ${ofStreamSeries} AND stamp >= $4 AND stamp < $5 ORDER BY stamp, seq`;
  return yield* rowsOf(objects<KnownBlock>(text, stream, series, home, from_ms, before_ms));
}

/** The place of the last block that begins at or before a reading; -1: none does. */
function placeOf(keys: readonly BlockKey[], { stamp_ms, seq }: ReadingColumns, index: number): number {
  const [stamp, number] = [stamp_ms[index] as number, seq[index] as number];
  return keys.findLastIndex((key) => key.stamp < stamp || (key.stamp === stamp && key.seq <= number));
}

function* addToBlock(
  run: StreamSeries,
  keys: readonly KnownBlock[],
  place: number,
  added: ReadingColumns,
): Work<void> {
  const key = keys[place];
  const follows =
    key === undefined || (place === keys.length - 1 && (added.stamp_ms[0] as number) > key.last_stamp);
  if (key === undefined || (follows && key.count >= block_readings)) {
    yield* putBlocks(run, added, block_readings);
    return;
  }
  const held = (yield* blockAt(run, key)).readings();
  const all = merged(held, added);
  const parts = Math.ceil(all.seq.length / block_readings);
  yield* removeBlock(run, key);
  // What only follows fills blocks up; what comes in between leaves room for more of it.
  yield* putBlocks(run, all, follows ? block_readings : Math.ceil(all.seq.length / parts));
}

function* blockAt(run: StreamSeries, { stamp, seq }: BlockKey): Work<CompressedBlock> {
  const { stream, series, home } = run;
  const text = `SELECT ${blockColumns} FROM sealed_readings WHERE ${ofStreamSeries} AND stamp = $4 AND seq = $5`;
  const [row] = yield* rowsOf(objects<BlockRow>(text, stream, series, home, stamp, seq));
  if (row === undefined)
    throw new Error(`there is no block ${stamp} ${seq} of ${series} of stream ${stream}`);
  return blockOf(run, row);
}

function* putBlocks(run: StreamSeries, readings: ReadingColumns, size: number): Work<void> {
  const { stream, series, home } = run;
  const puts: Statement[] = [];
  for (let from = 0; from < readings.seq.length; from += size) {
    const part = slice(readings, from, from + size);
    const { stamp_ms, seq } = part;
    const ends = [stamp_ms[0] as number, seq[0] as number, stamp_ms.at(-1) as number];
    const numbers = [seq.length, Math.min(...seq), Math.max(...seq)];
    puts.push(objects(putSql, stream, series, home, ...ends, ...numbers, encodeBlock(series, part)));
  }
  yield puts;
}

const putSql = `INSERT INTO sealed_readings (stream, series, home, stamp, seq, last_stamp, count, min_seq, max_seq, readings)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

function slice({ stamp_ms, seq, values }: ReadingColumns, from: number, before: number): ReadingColumns {
  return {
    stamp_ms: stamp_ms.slice(from, before),
    seq: seq.slice(from, before),
    values: values.map((column) => column.slice(from, before)),
  };
}

function* removeBlock({ stream, series, home }: StreamSeries, { stamp, seq }: BlockKey): Work<void> {
  const text = `DELETE FROM sealed_readings WHERE ${ofStreamSeries} AND stamp = $4 AND seq = $5`;
  yield objects(text, stream, series, home, stamp, seq);
}

/** Removes sealed readings of a stretch of time, all or those with numbers in `numbers`; answers how many there were. */
export function* removeCompressed(
  run: StreamSeries,
  of: Between,
  numbers?: ReadonlySet<number>,
): Work<number> {
  let removed = 0;
  const walk = new BlockReader(run, of, 1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    const readings = block.readings();
    const [start, end] = within(readings, of.from_ms, of.before_ms);
    const isGone = (number: number, index: number) =>
      index >= start && index < end && (numbers?.has(number) ?? true);
    const kept = [...readings.seq.keys()].filter((index) => !isGone(readings.seq[index] as number, index));
    if (kept.length === block.count) continue;
    removed += block.count - kept.length;
    yield* removeBlock(run, block);
    if (kept.length > 0) yield* putBlocks(run, pick(readings, kept), block_readings);
  }
  return removed;
}

/** Calls `take` for the sealed readings of a run in a stretch of time, one after the other, as long as it answers true. */
export function* eachCompressed(
  run: StreamSeries,
  of: Between,
  step: 1 | -1,
  take: (reading: StreamReading) => boolean,
): Work<void> {
  const walk = new BlockReader(run, of, step);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    const readings = block.readings();
    const [start, end] = within(readings, of.from_ms, Math.min(of.before_ms, run.sealed_before));
    for (let place = 0; place < end - start; place += 1)
      if (!take(readingAt(readings, step > 0 ? start + place : end - 1 - place))) return;
  }
}

interface BlockRow extends Omit<CompressedBlock, "readings"> {
  readonly readings: Uint8Array;
}

function blockOf({ series }: Pick<StreamSeries, "series">, { readings, ...row }: BlockRow): CompressedBlock {
  return { ...row, readings: () => decodeBlock(series, readings) };
}

/** All readings of a block lie in one span of this width: so where a stamp lies is known but for few blocks. */
const block_width_ms = widths_ms[0];
/** Readings in a block: a page of 1,000 of a sensor is in two or three of them. */
export const block_readings = 1_024;
/** Blocks that a walk reads at first, and at most, at once. */
const blocks_first = 3;
const blocks_most = 32;

/** Puts readings where their runs have them: among the sealed ones below `sealed_before`, else into the table of their series. */
export function* putWhereKept(
  rows: SeriesRows,
  placeOf: (stream: number) => StreamSeries | undefined,
  meanwhile?: () => void,
): Work<void> {
  const { columns, order, stream, own } = rows;
  const late = new Map<StreamSeries, number[]>();
  const places = new Map<number, StreamSeries | undefined>();
  const kept = order.filter((index) => {
    const of = stream[index] as number;
    if (!places.has(of)) places.set(of, placeOf(of));
    const place = places.get(of);
    if (place === undefined || (columns.stamp_ms[index] as number) >= place.sealed_before) return true;
    const indexes = late.get(place) ?? [];
    late.set(place, indexes);
    indexes.push(index);
    return false;
  });
  yield* putReadings({ ...rows, order: kept }, late.size === 0 ? meanwhile : undefined);
  if (late.size === 0) return;
  const readings: ReadingColumns = { ...columns, seq: own };
  for (const [place, indexes] of late) yield* addCompressed(place, pick(readings, indexes));
  meanwhile?.();
}
