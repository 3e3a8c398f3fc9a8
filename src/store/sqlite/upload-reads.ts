import { day_ms } from "../../base/time.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../domain/series.ts";
import type { ReadingColumns } from "../batch.ts";
import { type Batch, BatchColumns, batch_readings_max, digestText, readingDigest } from "../batch.ts";
import { arrays, type Database, objects, rowsOf, type Work } from "../database.ts";
import type { DayDigest } from "../exchange.ts";
import type { DayReadings, DigestRequest, EpochSpan } from "../gateway/upload-store.ts";
import { knownStream } from "../inventory/device-items.ts";
import { oneHome } from "../inventory/homes.ts";
import { readingAt } from "../series/block-codec.ts";
import { BlockReader, blocksNumbered } from "../series/blocks.ts";
import { dayDigests, readingsAfter } from "../series/readings.ts";
import { forEverySeries, quoted, valueColumns } from "../series/series-columns.ts";
import { placesOf } from "../series/streams.ts";
import { BatchDevices, devicesByStream } from "./device-health-reads.ts";
import { epochs } from "./role-and-epoch.ts";

/** The next readings of an epoch: see `UploadStore.batchAfter`. To be read at one moment. */
export function* batchAfter(request: {
  readonly epoch: string;
  readonly after_seq: number;
  readonly readings_max: number;
}): Work<Batch | undefined> {
  const span = yield* spanOf(request.epoch);
  if (span === undefined) return undefined;
  const { epoch, first_seq } = span;
  const from_seq = Math.max(request.after_seq + 1, first_seq);
  const to_seq = Math.min(from_seq + request.readings_max - 1, span.last_seq);
  if (to_seq < from_seq) return undefined;
  // The one before is read with them, for its digest.
  const first = Math.max(from_seq - 1, first_seq);
  let rows = yield* numberedReadings(first, to_seq);
  // Nothing is called lost because the heads of blocks say so.
  if (missingOf(rows, from_seq, to_seq).length > 0) rows = yield* numberedReadings(first, to_seq, true);
  const previous = takePrevious(rows, from_seq);
  const missing = missingOf(rows, from_seq, to_seq);
  return { epoch, first_seq, from_seq, to_seq, previous, missing, ...(yield* columnsOfBatch(rows)) };
}

/** The readings of one series of one device on one day: see `UploadStore.readingsOfDay`. To be read at one moment. */
export function* readingsOfDay(request: DayReadings): Work<Batch> {
  const { epoch, through_seq, series, day, after_seq } = request;
  const span = yield* spanOf(epoch);
  const stream = yield* knownStream(request, 0);
  const [first, last] = boundsOf(span, after_seq + 1, through_seq);
  const places = yield* placesOf(oneHome, { series, home: 0, streams: stream === undefined ? [] : [stream] });
  const rows: NumberedRow[] = [];
  for (const place of places.values()) {
    const of = { before_ms: (day + 1) * day_ms, limit: Number.MAX_SAFE_INTEGER };
    for (const [stamp_ms, seq, ...values] of yield* readingsAfter(place, { after: [day * day_ms, 0], ...of }))
      if (seq >= first && seq <= last) rows.push([seq, stamp_ms, place.stream, ...values]);
  }
  rows.sort(([one], [other]) => one - other);
  rows.length = Math.min(rows.length, batch_readings_max);
  const whole = rows.length < batch_readings_max;
  return {
    epoch,
    first_seq: span?.first_seq ?? 1,
    from_seq: after_seq + 1,
    to_seq: whole ? Math.max(through_seq, after_seq) : (rows.at(-1)?.[0] ?? through_seq),
    missing: [],
    ...(yield* columnsOfBatch({ [series]: rows })),
  };
}

/** Digests of a gateway's days: see `UploadStore.digests`. */
export async function digests(database: Database, request: DigestRequest): Promise<DayDigest[]> {
  const { epoch, through_seq, from_ms, before_ms } = request;
  const { bounds, runs } = await database.snapshot(function* () {
    const devices = new BatchDevices(yield* devicesByStream());
    const runs = (yield* streamsSince(from_ms)).map((run) => {
      return { ...run, device: devices.device(run.stream, seriesOf(run.series).kind) };
    });
    return { bounds: boundsOf(yield* spanOf(epoch), 1, through_seq), runs };
  });
  const [first, last] = bounds;
  const seqOf = (own: number) => (own >= first && own <= last ? own : undefined);
  return dayDigests(database, oneHome, runs, { home: 0, from_ms, before_ms, seqOf });
}

/** See `UploadStore.nextDay_ms`. */
export function* nextDay_ms(from_ms: number): Work<number | undefined> {
  let first_ms = Number.POSITIVE_INFINITY;
  for (const { series, stream } of yield* streamsSince(from_ms)) {
    const places = yield* placesOf(oneHome, { series, home: 0, streams: [stream] });
    for (const place of places.values()) {
      const of = { before_ms: Number.MAX_SAFE_INTEGER, limit: 1 };
      const [first] = yield* readingsAfter(place, { after: [from_ms, 0], ...of });
      first_ms = Math.min(first_ms, first?.[0] ?? first_ms);
    }
  }
  return Number.isFinite(first_ms) ? Math.floor(first_ms / day_ms) * day_ms : undefined;
}

/** The streams that have a reading from a time on, series by series. */
function* streamsSince(from_ms: number): Work<{ series: SeriesName; stream: number }[]> {
  return yield* rowsOf(
    objects("SELECT series, stream FROM totals WHERE newest_stamp >= $1 ORDER BY series, stream", from_ms),
  );
}

function* spanOf(epoch: string): Work<EpochSpan | undefined> {
  return (yield* epochs()).find((span) => span.epoch === epoch && !span.restored);
}

/** The readings with numbers from `from_seq` to `to_seq`, as a batch has them, without trust in the heads of blocks. */
export function* searchedColumns(from_seq: number, to_seq: number): Work<Pick<Batch, "devices" | "series">> {
  return yield* columnsOfBatch(yield* numberedReadings(from_seq, to_seq, true));
}

function* columnsOfBatch(rows: Partial<NumberedRows>): Work<Pick<Batch, "devices" | "series">> {
  const devices = new BatchDevices(yield* devicesByStream());
  const columns = new BatchColumns();
  for (const series of seriesNames) {
    const { kind } = seriesOf(series);
    for (const row of rows[series] ?? []) columns.add(series, devices.device(row[2], kind), row[0], row);
  }
  return columns.columns();
}

/** Takes the reading before `from_seq` out of the rows; its digest, where there is one. */
function takePrevious(rows: NumberedRows, from_seq: number): string | undefined {
  for (const series of seriesNames) {
    if (rows[series][0]?.[0] !== from_seq - 1) continue;
    const [seq, stamp_ms, , ...values] = rows[series].shift() as NumberedRow;
    return digestText(readingDigest(seq, stamp_ms, values));
  }
  return undefined;
}

/** Numbers from `from_seq` to `to_seq` that no reading has. */
function missingOf(rows: NumberedRows, from_seq: number, to_seq: number): [number, number][] {
  const present = new Uint8Array(to_seq - from_seq + 1);
  for (const series of seriesNames) for (const [seq] of rows[series]) present[seq - from_seq] = 1;
  const missing: [number, number][] = [];
  for (let place = present.indexOf(0); place >= 0; ) {
    const next = present.indexOf(1, place);
    const end = next < 0 ? present.length : next;
    missing.push([from_seq + place, from_seq + end - 1]);
    place = next < 0 ? -1 : present.indexOf(0, next);
  }
  return missing;
}

function boundsOf(
  span: EpochSpan | undefined,
  from_seq: number,
  through_seq: number,
): readonly [number, number] {
  if (span === undefined) return [1, 0];
  return [Math.max(from_seq, span.first_seq), Math.min(through_seq, span.last_seq)];
}

/**
 * The readings with numbers from `from_seq` to `to_seq`, each series in order of number. No index has numbers: rows are few, and each block says its lowest
 * and highest. `everywhere`: without trust in what blocks say.
 */
export function* numberedReadings(from_seq: number, to_seq: number, everywhere = false): Work<NumberedRows> {
  const found = noRows();
  for (const series of seriesNames) {
    const rows = found[series];
    const text = `SELECT ${columnsOf(series)} FROM ${series} WHERE seq BETWEEN $1 AND $2`;
    rows.push(...(yield* rowsOf(arrays<NumberedRow>(text, from_seq, to_seq))));
    const take = (stream: number, { seq, ...readings }: ReadingColumns) => {
      for (const [index, number] of seq.entries())
        if (number >= from_seq && number <= to_seq) {
          const [stamp_ms, , ...values] = readingAt({ seq, ...readings }, index);
          rows.push([number, stamp_ms, stream, ...values]);
        }
    };
    const streams = yield* rowsOf(
      arrays<[number]>("SELECT stream FROM totals WHERE series = $1 ORDER BY stream", series),
    );
    const kept = yield* placesOf(oneHome, { series, home: 0, streams: streams.flat() });
    if (!everywhere) {
      const bounds = { least: from_seq, most: to_seq };
      const of = { series, home: 0 };
      for (const block of yield* blocksNumbered(of, streams.flat(), bounds))
        take(block.stream, block.readings());
    } else
      for (const place of kept.values()) {
        const reader = new BlockReader(place, { from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER }, 1);
        for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next())
          take(place.stream, block.readings());
      }
    rows.sort(([one], [other]) => one - other);
  }
  return found;
}

/** A reading: its number, stamp in unix milliseconds and the key of its stream, then the other columns of the table, in their order. */
type NumberedRow = [seq: number, stamp_ms: number, stream: number, ...values: Value[]];
type NumberedRows = Record<SeriesName, NumberedRow[]>;

function columnsOf(series: SeriesName): string {
  return quoted(["seq", "stamp", "stream", ...valueColumns(series).map(({ name }) => name)]);
}

function noRows(): NumberedRows {
  return forEverySeries((): NumberedRow[] => []);
}
