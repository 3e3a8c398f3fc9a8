import { OperatorError } from "../../base/errors.ts";
import { identityOf, numberOf } from "../../domain/records/record-table.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../domain/series.ts";
import { type Batch, firstIndexFrom, type SeriesColumns } from "../batch.ts";
import { arrays, change, objects, putReadings, rowsOf, type Work } from "../database.ts";
import { withoutErased } from "../erasure.ts";
import type { EpochSpan, UploadState } from "../gateway/upload-store.ts";
import { homesOnSqlite, oneHome } from "../inventory/homes.ts";
import type { ImportedRecord } from "../inventory/record-store.ts";
import { removeFromBlocks } from "../series/blocks.ts";
import { eachReading, readingsAfter } from "../series/readings.ts";
import type { SeriesRows } from "../series/series-rows.ts";
import { placesOf, type StreamSeries } from "../series/streams.ts";
import { recount } from "../series/totals.ts";
import { epochs } from "./role-and-epoch.ts";
import { StoreWriting } from "./write.ts";

/** Writes of an uploader in a gateway's database, besides those of any command: see `UploadStore`. */
export class UploadWriting extends StoreWriting {
  noteUpload(state: UploadState): void {
    this.transaction(() => {
      const put = this.database.query("INSERT OR REPLACE INTO upload_state VALUES (?, ?)");
      for (const [name, value] of Object.entries(state)) if (value !== undefined) put.run(name, value);
    });
  }

  prune(request: PruneRequest): { pruned: number; more: boolean } {
    return this.transaction(() => this.runner.run(prune(request)));
  }

  forgetRecords(records: readonly ImportedRecord[]): void {
    this.transaction(() => {
      const remove = this.database.query("DELETE FROM records WHERE type = ? AND number = ? AND id = ?");
      for (const { type, record } of records)
        if (type !== "items") remove.run(type, numberOf(type, record), identityOf(type, record));
    });
  }

  restoreReadings(given: Batch): void {
    this.transaction(() => {
      const { batch } = withoutErased(given, this.unkept.spans());
      const own = this.runner.run(epochs()).at(-1);
      const held_seq = Number(this.readSeq.values()[0]?.[0]);
      if (own === undefined || own.last_seq >= own.first_seq) {
        throw new OperatorError(
          "this store has numbered readings of its own",
          "restore into a data directory that no gateway has run on",
        );
      }
      if (batch.to_seq <= held_seq) return;
      this.#put(batch, held_seq);
      this.#extend(batch, own.first_seq);
    });
  }

  takeLater(given: Batch): void {
    this.transaction(() => {
      const { batch } = withoutErased(given, this.unkept.spans());
      const held_seq = Number(this.readSeq.values()[0]?.[0]);
      if (this.runner.run(epochs()).at(-1)?.epoch !== batch.epoch)
        throw new OperatorError(
          "the readings were numbered by another store",
          "give those that this one has numbered",
        );
      if (batch.to_seq > held_seq) this.#put(batch, held_seq);
    });
  }

  takeBack(given: Batch): number {
    return this.transaction(() => {
      const { batch } = withoutErased(given, this.unkept.spans());
      const span = this.runner
        .run(epochs())
        .find(({ epoch, restored }) => epoch === batch.epoch && !restored);
      if (span === undefined) return 0;
      return seriesNames.reduce((sum, series) => sum + this.#takeLost(series, batch, span), 0);
    });
  }

  /** Inserts those that the stream has not, of numbers that were given. */
  #takeLost(series: SeriesName, batch: Batch, { first_seq, last_seq }: EpochSpan): number {
    const columns = batch.series[series];
    if (columns === undefined) return 0;
    const { seq, stamp_ms } = columns;
    const stream = this.#streamsOf(batch, columns, seq.keys());
    const own = [...seq.keys()].filter((index) => {
      const number = seq[index] as number;
      return number >= first_seq && number <= last_seq;
    });
    const streams = [...new Set(own.map((index) => stream[index] as number))];
    const here = new Set<string>();
    for (const place of this.runner.run(placesOf(oneHome, { series, home: 0, streams })).values()) {
      const stamps = own
        .filter((index) => stream[index] === place.stream)
        .map((index) => stamp_ms[index] ?? 0);
      const [first, last] = bounds(stamps);
      const work = eachReading(place, { from_ms: first, before_ms: last + 1 }, ([stamp, number]) => {
        here.add(`${place.stream} ${stamp} ${number}`);
      });
      this.runner.run(work);
    }
    const order = Uint32Array.from(
      own.filter((index) => !here.has(`${stream[index]} ${stamp_ms[index]} ${seq[index]}`)),
    );
    const lost = [...new Set(Array.from(order, (index) => stream[index] as number))];
    this.runner.run(putReadings({ series, home: 0, columns, order, stream, own: seq }));
    this.runner.run(recount(homesOnSqlite, { series, home: 0, streams: lost, changed: true }));
    return order.length;
  }

  /** The keys of the streams of readings of a batch. */
  #streamsOf(batch: Batch, columns: SeriesColumns, order: Iterable<number>): Float64Array {
    const stream = new Float64Array(columns.seq.length);
    for (const index of order) {
      const device = batch.devices[columns.device[index] as number];
      if (device === undefined)
        throw new Error(`a batch names device ${columns.device[index]} of ${batch.devices.length}`);
      stream[index] = this.streams.keyOf(device, columns.stamp_ms[index] as number, []);
    }
    return stream;
  }

  #put(batch: Batch, held_seq: number): void {
    if (batch.from_seq > held_seq + 1) {
      throw new OperatorError(
        `readings from ${batch.from_seq} on cannot follow number ${held_seq}`,
        `restore those from ${held_seq + 1} on first`,
      );
    }
    const added = seriesNames.flatMap((series) => this.#rowsOf(series, batch, held_seq) ?? []);
    this.runner.run(
      this.additions.begin([
        ...new Set(
          added.flatMap(({ stream, order }) => Array.from(order, (index) => stream[index] as number)),
        ),
      ]),
    );
    for (const rows of added) this.runner.run(this.additions.put(rows));
    this.runner.run(this.additions.settle());
    this.writeSeq.run(batch.to_seq);
  }

  /** Extends the span of restored readings to the batch's end; this store's own numbers begin after it. */
  #extend({ epoch, to_seq }: Batch, first_seq: number): void {
    const [before] = this.runner.run(epochs()).slice(-2, -1);
    this.database.query("UPDATE epochs SET first_seq = ? WHERE first_seq = ?").run(to_seq + 1, first_seq);
    if (before?.restored === true && before.epoch === epoch) return;
    this.database
      .query("INSERT INTO epochs (first_seq, epoch, restored) VALUES (?, ?, 1)")
      .run(first_seq, epoch);
  }

  /** The readings of a batch above a number; undefined where the series has none. */
  #rowsOf(series: SeriesName, batch: Batch, after_seq: number): SeriesRows | undefined {
    const columns = batch.series[series];
    if (columns === undefined) return undefined;
    const order = Uint32Array.from(columns.seq.keys()).subarray(firstIndexFrom(columns.seq, after_seq + 1));
    const stream = this.#streamsOf(batch, columns, order);
    return { series, home: 0, columns, order, stream, own: columns.seq };
  }
}

/** Removes the oldest readings of each stream, and never the newest. See `UploadStore.prune`. The work of one transaction. */
export function* prune({
  before_ms,
  through_seq,
  readings_max,
}: PruneRequest): Work<{ pruned: number; more: boolean }> {
  let pruned = 0;
  const runs = yield* rowsOf(
    objects<PrunedStream>(
      "SELECT series, stream, newest_stamp FROM totals WHERE total > 0 ORDER BY series, stream",
    ),
  );
  for (const { series, stream, newest_stamp } of runs) {
    const run = (yield* placesOf(oneHome, { series, home: 0, streams: [stream] })).get(stream);
    if (run === undefined || (yield* mayBeReadAgain(run, newest_stamp))) continue;
    for (;;) {
      const stamps = yield* goingFirst(run, Math.min(before_ms, newest_stamp), through_seq);
      if (stamps.length === 0) break;
      const most = firstOfMillisecond(stamps, Math.max(0, readings_max - pruned));
      // A call always gets on, however little it may remove.
      const count = most === 0 && pruned === 0 ? firstIndexFrom(stamps, (stamps[0] ?? 0) + 1) : most;
      if (count === 0) return { pruned, more: true };
      yield* remove(run, count, stamps[count - 1] ?? 0);
      pruned += count;
    }
  }
  return { pruned, more: false };
}

/**
 * Whether the buffer of a device may still have readings that came back from central: a spare box reads it again, and knows them by what it has. Once it has
 * told something newer it has been read to there.
 */
function* mayBeReadAgain(run: StreamSeries, newest_stamp: number): Work<boolean> {
  if (seriesOf(run.series).deviceClock !== true) return false;
  const [own] = yield* rowsOf(arrays<[number]>("SELECT max(first_seq) FROM epochs"));
  const of = { after: [newest_stamp, 0], before_ms: newest_stamp + 1, limit: readings_per_look } as const;
  return (yield* readingsAfter(run, of)).every(([, seq]) => seq < (own?.[0] ?? 1));
}

/** The stamps of the oldest readings that may go, as far as these are looked at. All of a millisecond go or stay. */
function* goingFirst(run: StreamSeries, before_ms: number, through_seq: number): Work<number[]> {
  const of = { after: [0, 0], before_ms: Number.MAX_SAFE_INTEGER, limit: readings_per_look } as const;
  const readings = yield* readingsAfter(run, of);
  const stamps = readings.map(([stamp_ms]) => stamp_ms);
  const stays = readings.findIndex(([stamp_ms, seq]) => stamp_ms >= before_ms || seq > through_seq);
  if (stays < 0 && readings.length < readings_per_look) return stamps;
  return stamps.slice(0, firstOfMillisecond(stamps, stays < 0 ? readings.length - 1 : stays));
}

/** The place of the first of the millisecond that a place lies in; their number where there is no such place. */
function firstOfMillisecond(stamps: readonly number[], place: number): number {
  const stamp_ms = stamps[place];
  return stamp_ms === undefined ? stamps.length : firstIndexFrom(stamps, stamp_ms);
}

/** Removes the oldest readings of a run, which are so many, up to a stamp. */
function* remove(run: StreamSeries, removed: number, last_ms: number): Work<void> {
  const { series, stream } = run;
  yield* removeFromBlocks(run, { from_ms: 0, before_ms: last_ms + 1 });
  yield* change(`DELETE FROM ${series} WHERE stream = $1 AND stamp <= $2`, stream, last_ms);
  yield* change(
    "DELETE FROM late WHERE stream = $1 AND series = $2 AND stamp <= $3",
    stream,
    series,
    last_ms,
  );
  yield* change(
    "UPDATE totals SET total = total - $3, pruned = pruned + $3 WHERE stream = $1 AND series = $2",
    ...[stream, series, removed],
  );
  yield* recount(oneHome, { series, home: 0, streams: [stream], changed: false });
}

interface PruneRequest {
  readonly before_ms: number;
  readonly through_seq: number;
  readonly readings_max: number;
}

interface PrunedStream {
  readonly series: SeriesName;
  readonly stream: number;
  readonly newest_stamp: number;
}

/** More than a block has. Those of a millisecond that has so many stay. */
const readings_per_look = 4_096;

/** The least and the greatest of some numbers. */
function bounds(numbers: readonly number[]): [least: number, greatest: number] {
  let [least, greatest] = [numbers[0] ?? 0, numbers[0] ?? 0];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > greatest) greatest = number;
  }
  return [least, greatest];
}
