import { day_ms } from "../../base/time.ts";
import type { SeriesName } from "../../domain/series.ts";
import { type Batch, BatchColumns, batch_readings_max, type SeriesColumns, valuesAt } from "../batch.ts";
import { arrays, change, hold, putReadings, rowsOf, type Work } from "../database.ts";
import { withoutErased } from "../erasure.ts";
import type { DayReadings } from "../gateway/upload-store.ts";
import { knownStream, streamsOf } from "../inventory/device-items.ts";
import type { Homes } from "../inventory/homes.ts";
import { countRefused, unkeptIn } from "../inventory/pausing.ts";
import { readingAt, type StreamReading } from "../series/block-codec.ts";
import { blocksNumbered, removeFromBlocks } from "../series/blocks.ts";
import { readingsAfter } from "../series/readings.ts";
import { quoted, readingColumns } from "../series/series-columns.ts";
import { placesOf, type StreamSeries } from "../series/streams.ts";
import { recount } from "../series/totals.ts";
import { refuseForeign } from "./batch-acceptance.ts";
import { BatchRefused, type Repaired, type Sender } from "./central-store.ts";
import { type HeldSource, holdSource, numbersOf, type OwnNumbers, sourceOf } from "./sources.ts";

/** Makes a day of a device what its gateway says it is, but removes nothing: see `CentralStore.repairDay`. */
export function* repairDay(homes: Homes, request: DayReadings, sent: Batch, sender: Sender): Work<Repaired> {
  const source = yield* holdSource(request.epoch, sender);
  yield* hold("inventory");
  const { batch, refused } = withoutErased(sent, yield* unkeptIn(sender.home));
  const erased = yield* countRefused(refused);
  const whole = daysColumns(request, sent).seq.length < batch_readings_max;
  const repaired = yield* repair(homes, request, batch, { source, sender, whole });
  return { ...repaired, ...(erased === 0 ? {} : { erased }) };
}

function* repair(
  homes: Homes,
  request: DayReadings,
  batch: Batch,
  { source, sender, whole }: { source: HeldSource; sender: Sender; whole: boolean },
): Work<Repaired> {
  const { series, day } = request;
  const columns = daysColumns(request, batch);
  refuseUnheld(source, columns, sender);
  // A stream that is unknown is made only where there is something to keep of it.
  const stream =
    columns.seq.length === 0
      ? yield* knownStream(request, sender.home)
      : (yield* streamsOf([{ device: request, heard_ms: columns.stamp_ms[0] ?? 0 }], sender.home))[0];
  if (stream === undefined) return { added: 0, corrected: 0, kept: 0 };
  const numbers = yield* numbersOf(source);
  const table = yield* tableOf(homes, series, sender);
  const held = yield* heldOn(table, stream, day);
  const changed = yield* take(table, columns, { held, numbers, stream, day });
  const through_seq = whole ? request.through_seq : batch.to_seq;
  const sent = new Set(columns.seq);
  const kept = [...held.keys()].filter((own) => {
    const seq = numbers.seqOf(own);
    return seq !== undefined && seq > request.after_seq && seq <= through_seq && !sent.has(seq);
  });
  return { ...changed, kept: kept.length };
}

/** The readings of an epoch that are held of one series of one device on one day: see `CentralStore.readingsOfDay`. To be read at one moment. */
export function* heldOfDay(homes: Homes, request: DayReadings, home: number): Work<Batch> {
  const { epoch, series, day, after_seq, through_seq } = request;
  const source = yield* sourceOf(epoch);
  const stream = source?.home === home ? yield* knownStream(request, home) : undefined;
  const numbered: [seq: number, row: Row][] = [];
  if (source !== undefined && stream !== undefined) {
    const numbers = yield* numbersOf(source);
    const held = yield* heldOn(yield* tableOf(homes, series, { home }), stream, day);
    for (const [own, row] of held) {
      const seq = numbers.seqOf(own);
      if (seq !== undefined && seq > after_seq && seq <= through_seq) numbered.push([seq, row]);
    }
  }
  numbered.sort(([one], [other]) => one - other);
  const whole = numbered.length < batch_readings_max;
  const rows = numbered.slice(0, batch_readings_max);
  const columns = new BatchColumns();
  const { kind, address, itemid } = request;
  const device = { kind, address, itemid };
  for (const [seq, row] of rows) columns.add(series, device, seq, row);
  const to_seq = whole ? Math.max(through_seq, after_seq) : (rows.at(-1)?.[0] ?? through_seq);
  const first_seq = source?.first_seq ?? 1;
  return { epoch, first_seq, from_seq: after_seq + 1, to_seq, missing: [], ...columns.columns() };
}

/** @throws BatchRefused where a day has readings of an epoch that are not held */
export function refuseUnheld(source: HeldSource | undefined, { seq }: SeriesColumns, sender: Sender): void {
  if (source !== undefined) refuseForeign(source.epoch, source, sender);
  const last_seq = seq[seq.length - 1] ?? 0;
  const held_seq = source?.held_seq ?? 0;
  if (source !== undefined && last_seq <= held_seq) return;
  throw new BatchRefused(
    `a day of home ${sender.home} was sent up to reading ${last_seq}, and ${held_seq} is the last that is held`,
    "upload first, then compare",
    "gap",
    held_seq,
  );
}

/** The columns of the one series that a day is of. */
export function daysColumns({ series }: DayReadings, batch: Batch): SeriesColumns {
  return batch.series[series] ?? { seq: none, device: none, stamp_ms: none, values: [] };
}

const none = new Float64Array();

/** Puts readings in the place of those of the same numbers, and adds those that are not here. */
function* take(
  table: Table,
  columns: SeriesColumns,
  of: { held: Rows; numbers: OwnNumbers; stream: number; day: number },
): Work<{ added: number; corrected: number }> {
  const { held, numbers } = of;
  const own = columns.seq.map((seq) => heldNumber(numbers, seq));
  const astray = yield* astrayOf(
    table,
    own.filter((number) => !held.has(number)),
  );
  const stream = new Float64Array(own.length);
  const order: number[] = [];
  const gone: Row[] = [];
  for (const [index, number] of own.entries()) {
    const row = held.get(number) ?? astray.get(number);
    if (row !== undefined && isSame(row, columns, index)) continue;
    if (row !== undefined) gone.push(row);
    // A reading that the inventory has given to another stream since stays there.
    stream[index] = row?.[0] ?? of.stream;
    order.push(index);
  }
  const astrayStreams = [...astray.values()].map(([key]) => key);
  const streams = [
    ...new Set([of.stream, ...order.map((index) => stream[index] as number), ...astrayStreams]),
  ];
  yield* remove(table, gone);
  const { homes, series, home } = table;
  yield* putReadings({ series, home, columns, order: Uint32Array.from(order), stream, own });
  // Whatever made the two differ may have left the totals wrong too.
  yield* recount(homes, { series, home, streams, changed: order.length > 0 });
  return { added: order.length - gone.length, corrected: gone.length };
}

function heldNumber(numbers: OwnNumbers, seq: number): number {
  const own = numbers.ownOf(seq);
  if (own === undefined) throw new Error(`reading ${seq} of the epoch has no number here`);
  return own;
}

/**
 * Readings of these own numbers that stand elsewhere: under another stamp, or under another stream of the home. Looks at everything,
 * because what moved them may have left the totals wrong.
 */
function* astrayOf({ homes, series, home, places }: Table, own: Float64Array): Work<Rows> {
  const found = new Map<number, Row>();
  if (own.length === 0) return found;
  const streams = [...places.keys()];
  const text = `SELECT ${quoted(readingColumns(series))} FROM ${series}
    WHERE stream = ANY ($1::bigint[])${homes.is("$2")} AND seq = ANY ($3::bigint[])`;
  for (const row of yield* rowsOf(arrays<Row>(text, streams, home, [...own]))) found.set(row[2], row);
  const wanted = new Set(own);
  const sorted = own.toSorted();
  const bounds = { least: sorted[0] as number, most: sorted.at(-1) as number };
  for (const block of yield* blocksNumbered({ series, home }, streams, bounds)) {
    if (!sorted.some((number) => number >= block.min_seq && number <= block.max_seq)) continue;
    const readings = block.readings();
    for (const [index, number] of readings.seq.entries())
      if (wanted.has(number)) found.set(number, [block.stream, ...readingAt(readings, index)]);
  }
  return found;
}

/** Removes readings, by their own numbers. */
function* remove({ homes, series, home, places }: Table, rows: readonly Row[]): Work<void> {
  const text = `DELETE FROM ${series}
    WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND stamp < $4 AND seq = ANY ($5::bigint[])`;
  for (const [stream, ofStream] of Map.groupBy(rows, ([stream]) => stream)) {
    const stamps_ms = ofStream.map(([, stamp_ms]) => stamp_ms).sort((one, other) => one - other);
    const of = { from_ms: stamps_ms[0] as number, before_ms: (stamps_ms.at(-1) as number) + 1 };
    const own = ofStream.map(([, , number]) => number);
    yield* change(text, stream, home, of.from_ms, of.before_ms, own);
    const place = places.get(stream);
    if (place !== undefined) yield* removeFromBlocks(place, of, new Set(own));
  }
}

/** A series of a home, and the places of all streams that the home has, also of those that have no totals. */
interface Table {
  readonly homes: Homes;
  readonly series: SeriesName;
  /** As the tables of readings have it. */
  readonly home: number;
  readonly places: ReadonlyMap<number, StreamSeries>;
}

function* tableOf(homes: Homes, series: SeriesName, sender: Pick<Sender, "home">): Work<Table> {
  const heard = yield* rowsOf(arrays<[number]>("SELECT key FROM streams WHERE home = $1", sender.home));
  const table = { homes, series, home: homes.of(sender.home) };
  const known = yield* placesOf(homes, { ...table, streams: heard.flat() });
  const places = heard.map(([stream]): [number, StreamSeries] => [
    stream,
    known.get(stream) ?? { ...table, stream, rows_from: 0 },
  ]);
  return { ...table, places: new Map(places) };
}

type Row = readonly [stream: number, ...reading: StreamReading];
/** By own number. */
type Rows = ReadonlyMap<number, Row>;

/** Readings that are held of a stream on a day. */
function* heldOn({ places }: Table, stream: number, day: number): Work<Rows> {
  const place = places.get(stream);
  if (place === undefined) return new Map();
  const limit = Number.MAX_SAFE_INTEGER;
  const found = yield* readingsAfter(place, {
    ...{ after: [day * day_ms, 0], before_ms: (day + 1) * day_ms, limit },
  });
  return new Map(found.map((reading) => [reading[1], [stream, ...reading]]));
}

function isSame([, stamp_ms, , ...values]: Row, columns: SeriesColumns, index: number): boolean {
  return (
    stamp_ms === columns.stamp_ms[index] &&
    JSON.stringify(values) === JSON.stringify(valuesAt(columns, index))
  );
}
