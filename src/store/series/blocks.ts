import type { ReadingColumns } from "../batch.ts";
import { pick } from "../batch.ts";
import { objects, rowsOf, type Statement, type Work } from "../database.ts";
import { encodeBlock, merged, orderOf, readingAt, type StreamReading, within } from "./block-codec.ts";
import { DecodedBlock } from "./decoded-block.ts";
import { ofStreamSeries, type StreamSeries } from "./streams.ts";
import type { Between } from "./time-spans.ts";

/*
 * Blocks of readings. A row of `blocks` has up to `block_max` readings of a series of a stream that follow each other in order of stamp and number, and
 * says which they are: see ../README.md. No two blocks of a stream overlap.
 */

/** A block, without its readings. */
export interface BlockHead extends BlockKey {
  readonly last_stamp: number;
  readonly count: number;
  readonly min_seq: number;
  readonly max_seq: number;
}

/** The first reading of a block. */
export interface BlockKey {
  readonly stamp: number;
  readonly seq: number;
}

export interface Block extends BlockHead {
  /** Its readings, decoded anew with each call. */
  readings(): ReadingColumns;
  /** The same, as long as no other block is decoded. */
  decoded(): DecodedBlock;
}

/** Reads the blocks that have readings in a stretch of time, in either direction: few at first, and more the longer it goes on. */
export class BlockReader {
  readonly #run: StreamSeries;
  readonly #step: 1 | -1;
  readonly #bounds: readonly [from_ms: number, end_ms: number];
  #after: BlockKey;
  #found: readonly Block[] = [];
  #at = 0;
  #asked = blocks_first;
  #ended: boolean;

  /** `first`: a block of the stretch to begin with; absent: the first one in this direction. */
  constructor(run: StreamSeries, { from_ms, before_ms }: Between, step: 1 | -1, first?: BlockKey) {
    const end_ms = Math.min(before_ms, run.rows_from);
    this.#run = run;
    this.#step = step;
    this.#bounds = [from_ms, end_ms];
    const outside = step > 0 ? { stamp: -1, seq: 0 } : { stamp: end_ms, seq: 0 };
    this.#after = first === undefined ? outside : { stamp: first.stamp, seq: first.seq - step };
    this.#ended = from_ms >= end_ms;
  }

  /** The next block; undefined at the end. */
  *next(): Work<Block | undefined> {
    if (this.#at === this.#found.length && !this.#ended) yield* this.#more();
    const block = this.#found[this.#at];
    this.#at += 1;
    return block;
  }

  *#more(): Work<void> {
    const { stream, series, home } = this.#run;
    const [from_ms, end_ms] = this.#bounds;
    const { stamp, seq } = this.#after;
    const toOldest = this.#step < 0 && from_ms <= 0;
    const text = toOldest ? descendingToOldest : this.#step < 0 ? descending : ascending;
    const given = [stream, series, home, ...(toOldest ? [] : [from_ms, end_ms]), stamp, seq, this.#asked];
    const rows = yield* rowsOf(objects<BlockRow>(text, ...given));
    this.#found = rows.map((row) => blockOf(this.#run, row));
    this.#at = 0;
    this.#after = rows.at(-1) ?? this.#after;
    this.#ended = rows.length < this.#asked;
    this.#asked = Math.min(this.#asked * 2, blocks_most);
  }
}

/** The stamp of the last block that begins before a parameter, as SQL: readings from there on may lie in it. */
function beginningBefore(parameter: string): string {
  return `coalesce((SELECT max(stamp) FROM blocks WHERE ${ofStreamSeries} AND stamp < ${parameter}), 0)`;
}

/** Parameters of these: the stream, the series, the home, both ends of the stretch, the block before, and a limit. */
function blocksSql(isBeyond: ">" | "<", order: "ASC" | "DESC"): string {
  return `SELECT ${headColumns}, readings FROM blocks
    WHERE ${ofStreamSeries} AND stamp >= ${beginningBefore("$4")} AND stamp < $5 AND last_stamp >= $4 AND (stamp, seq) ${isBeyond} ($6, $7)
    ORDER BY stamp ${order}, seq ${order} LIMIT $8`;
}

export const headColumns = "stamp, seq, last_stamp, count, min_seq, max_seq";
const ascending = blocksSql(">", "ASC");
const descending = blocksSql("<", "DESC");
/** The same without a stretch, as most pages ask: half the time. */
const descendingToOldest = `SELECT ${headColumns}, readings FROM blocks
  WHERE ${ofStreamSeries} AND (stamp, seq) < ($4, $5) ORDER BY stamp DESC, seq DESC LIMIT $6`;
/** Blocks that are read at first, and at most, at once. */
const blocks_first = 3;
const blocks_most = 32;

/** The blocks of some streams that may have readings with numbers from `least` to `most`, with their streams. */
export function* blocksNumbered(
  { series, home }: Pick<StreamSeries, "series" | "home">,
  streams: readonly number[],
  { least, most }: { least: number; most: number },
): Work<(Block & { readonly stream: number })[]> {
  const text = `SELECT stream, ${headColumns}, readings FROM blocks
    WHERE stream = ANY ($1::bigint[]) AND series = $2 AND home = $3 AND max_seq >= $4 AND min_seq <= $5`;
  const rows = yield* rowsOf(
    objects<BlockRow & { stream: number }>(text, streams, series, home, least, most),
  );
  return rows.map((row) => ({ ...blockOf({ series }, row), stream: row.stream }));
}

/** Puts readings, in any order, into the blocks of a stream that they fall into; after the last one they fill it up and begin new ones. */
export function* addToBlocks(run: StreamSeries, readings: ReadingColumns): Work<void> {
  const order = orderOf(readings);
  const [first, last] = [order[0], order.at(-1)];
  if (first === undefined || last === undefined) return;
  const heads = yield* headsAround(
    run,
    readings.stamp_ms[first] as number,
    readings.stamp_ms[last] as number,
  );
  // A block takes in all up to where the next one begins, the first one also what lies before it.
  const taking = Map.groupBy(order, (index) => Math.max(0, placeOf(heads, readings, index)));
  for (const [place, taken] of taking) yield* addToBlock(run, heads, place, pick(readings, taken));
}

/** The blocks that readings of a stretch of time fall into, and the one after them: where there is none, the last of these is the last of all. */
function* headsAround(
  { stream, series, home }: StreamSeries,
  first_ms: number,
  last_ms: number,
): Work<BlockHead[]> {
  const text = `SELECT ${headColumns} FROM blocks WHERE ${ofStreamSeries} AND stamp >= ${beginningBefore("$4")}
    AND stamp <= coalesce((SELECT min(stamp) FROM blocks WHERE ${ofStreamSeries} AND stamp > $5), $5) ORDER BY stamp, seq`;
  return yield* rowsOf(objects<BlockHead>(text, stream, series, home, first_ms, last_ms));
}

/** The place of the last block that begins at or before a reading; -1: none does. */
function placeOf(heads: readonly BlockKey[], { stamp_ms, seq }: ReadingColumns, index: number): number {
  const [stamp, number] = [stamp_ms[index] as number, seq[index] as number];
  return heads.findLastIndex((key) => key.stamp < stamp || (key.stamp === stamp && key.seq <= number));
}

function* addToBlock(
  run: StreamSeries,
  heads: readonly BlockHead[],
  place: number,
  added: ReadingColumns,
): Work<void> {
  const { block_max } = run.homes.sizes;
  const head = heads[place];
  const follows =
    head === undefined || (place === heads.length - 1 && (added.stamp_ms[0] as number) > head.last_stamp);
  // One that lacks little is not written anew for that.
  const isFull = head !== undefined && head.count >= block_max * full_least;
  if (head === undefined || (follows && isFull)) return yield* putBlocks(run, added);
  const all = merged((yield* blockAt(run, head)).readings(), added);
  const parts = Math.ceil(all.seq.length / block_max);
  yield* removeBlock(run, head);
  // What only follows fills blocks up; what comes in between leaves room for more of it.
  yield* putBlocks(run, all, follows ? block_max : Math.ceil(all.seq.length / parts));
}

/** The share of a full block that is left as it is. */
const full_least = 15 / 16;

/** The block that begins with a reading. */
export function* blockAt(run: StreamSeries, { stamp, seq }: BlockKey): Work<Block> {
  const { stream, series, home } = run;
  const text = `SELECT ${headColumns}, readings FROM blocks WHERE ${ofStreamSeries} AND stamp = $4 AND seq = $5`;
  const [row] = yield* rowsOf(objects<BlockRow>(text, stream, series, home, stamp, seq));
  if (row === undefined)
    throw new Error(`there is no block ${stamp} ${seq} of ${series} of stream ${stream}`);
  return blockOf(run, row);
}

/** Puts readings, in order of stamp and number, into new blocks. */
export function* putBlocks(
  run: StreamSeries,
  readings: ReadingColumns,
  size: number = run.homes.sizes.block_max,
): Work<void> {
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

const putSql = `INSERT INTO blocks (stream, series, home, ${headColumns}, readings)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

function slice({ stamp_ms, seq, values }: ReadingColumns, from: number, before: number): ReadingColumns {
  return {
    stamp_ms: stamp_ms.slice(from, before),
    seq: seq.slice(from, before),
    values: values.map((column) => column.slice(from, before)),
  };
}

function* removeBlock({ stream, series, home }: StreamSeries, { stamp, seq }: BlockKey): Work<void> {
  const text = `DELETE FROM blocks WHERE ${ofStreamSeries} AND stamp = $4 AND seq = $5`;
  yield objects(text, stream, series, home, stamp, seq);
}

/** Removes readings of a stretch of time from blocks, all or those with numbers in `numbers`; answers how many there were. */
export function* removeFromBlocks(
  run: StreamSeries,
  of: Between,
  numbers?: ReadonlySet<number>,
): Work<number> {
  let removed = 0;
  const reader = new BlockReader(run, of, 1);
  for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next()) {
    const readings = block.readings();
    const [start, end] = within(readings, of.from_ms, of.before_ms);
    const isGone = (number: number, index: number) =>
      index >= start && index < end && (numbers?.has(number) ?? true);
    const kept = [...readings.seq.keys()].filter((index) => !isGone(readings.seq[index] as number, index));
    if (kept.length === block.count) continue;
    removed += block.count - kept.length;
    yield* removeBlock(run, block);
    if (kept.length > 0) yield* putBlocks(run, pick(readings, kept));
  }
  return removed;
}

/** Calls `take` for the readings of a stretch of time that are in blocks, one after the other, as long as it answers true. */
export function* eachInBlocks(
  run: StreamSeries,
  of: Between,
  step: 1 | -1,
  take: (reading: StreamReading) => boolean,
): Work<void> {
  const reader = new BlockReader(run, of, step);
  for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next()) {
    const readings = block.readings();
    const [start, end] = within(readings, of.from_ms, of.before_ms);
    for (let place = 0; place < end - start; place += 1)
      if (!take(readingAt(readings, step > 0 ? start + place : end - 1 - place))) return;
  }
}

interface BlockRow extends BlockHead {
  readonly readings: Uint8Array;
}

function blockOf({ series }: Pick<StreamSeries, "series">, { readings, ...head }: BlockRow): Block {
  const decoded = () => new DecodedBlock(series, readings);
  return { ...head, decoded, readings: () => decoded().readings() };
}
