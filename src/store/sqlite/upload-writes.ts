import { OperatorError } from "../../base/errors.ts";
import { day_ms } from "../../base/time.ts";
import { identityOf, numberOf } from "../../domain/records/record-table.ts";
import { type SeriesName, seriesNames } from "../../domain/series.ts";
import { type Batch, firstIndexFrom, type SeriesColumns } from "../batch.ts";
import { change, objects, putReadings, rowsOf, type Work } from "../database.ts";
import { withoutErased } from "../erasure.ts";
import type { EpochSpan, UploadState } from "../gateway/upload-store.ts";
import { homesOnSqlite, oneHome } from "../inventory/homes.ts";
import type { ImportedRecord } from "../inventory/record-store.ts";
import { recount, recountDays } from "../series/counts.ts";
import { undivided_max, widths_ms } from "../series/time-spans.ts";
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
      const { batch } = withoutErased(given, this.erased.spans());
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
      const { batch } = withoutErased(given, this.erased.spans());
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
      const { batch } = withoutErased(given, this.erased.spans());
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
    const has = this.database.query(`SELECT 1 FROM ${series} WHERE stream = ? AND stamp = ? AND seq = ?`);
    const order = Uint32Array.from(
      [...seq.keys()].filter((index) => {
        const number = seq[index] as number;
        const own = number >= first_seq && number <= last_seq;
        return own && has.values(stream[index] as number, stamp_ms[index] as number, number).length === 0;
      }),
    );
    const days = Array.from(order, (index): [number, number] => [
      stream[index] as number,
      Math.floor((stamp_ms[index] as number) / day_ms),
    ]);
    this.runner.run(putReadings({ series, home: 0, columns, order, stream, own: seq }));
    const each = new Map(days.map((day) => [day.join(" "), day])).values();
    this.runner.run(recountDays(homesOnSqlite, { series, home: 0, days: each, changed: true }));
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
    for (const series of seriesNames) this.#insert(series, batch, held_seq);
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

  #insert(series: SeriesName, batch: Batch, after_seq: number): void {
    const columns = batch.series[series];
    if (columns === undefined) return;
    const order = Uint32Array.from(columns.seq.keys()).subarray(firstIndexFrom(columns.seq, after_seq + 1));
    const stream = this.#streamsOf(batch, columns, order);
    this.runner.run(this.additions.put({ series, home: 0, columns, order, stream, own: columns.seq }));
  }
}

/** Removes the oldest readings by whole spans of counts that are not divided, and not the newest: see `UploadStore.prune`. The work of one transaction. */
export function* prune({
  before_ms,
  through_seq,
  readings_max,
}: PruneRequest): Work<{ pruned: number; more: boolean }> {
  let pruned = 0;
  const runs = yield* rowsOf(
    objects<PrunedStream>(
      "SELECT series, stream, newest_stamp, tail_from FROM totals WHERE total > 0 ORDER BY series, stream",
    ),
  );
  for (const run of runs) {
    for (;;) {
      const end_ms = Math.min(before_ms, run.tail_from, run.newest_stamp);
      const spans = yield* removable(run, end_ms, through_seq);
      if (spans.length === 0) break;
      // A call always gets on, however little it may remove.
      const most = pruned === 0 ? Math.max(readings_max, spans[0]?.count ?? 0) : readings_max - pruned;
      const removed = yield* remove(run, spans, most);
      if (removed === 0) return { pruned, more: true };
      pruned += removed;
    }
  }
  return { pruned, more: false };
}

/** The oldest spans of a run that may go. */
function* removable(
  { series, stream }: PrunedStream,
  before_ms: number,
  through_seq: number,
): Work<PrunableSpan[]> {
  const oldest = yield* rowsOf(
    objects<PrunableSpan & { max_seq: number }>(
      `SELECT start + width AS before_ms, count, max_seq FROM counts
       WHERE stream = $1 AND series = $2 AND (count <= ${undivided_max} OR width = ${widths_ms.at(-1)})
       ORDER BY start LIMIT ${spans_per_look}`,
      stream,
      series,
    ),
  );
  const stays = oldest.findIndex((span) => span.before_ms > before_ms || span.max_seq > through_seq);
  return stays < 0 ? oldest : oldest.slice(0, stays);
}

/** Removes spans from the oldest on, as many as have at most `most` readings together; answers how many those were. */
function* remove(
  { series, stream }: PrunedStream,
  spans: readonly PrunableSpan[],
  most: number,
): Work<number> {
  let removed = 0;
  let before_ms = 0;
  for (const span of spans) {
    if (removed + span.count > most) break;
    removed += span.count;
    before_ms = span.before_ms;
  }
  if (removed === 0) return 0;
  yield* change(`DELETE FROM ${series} WHERE stream = $1 AND stamp < $2`, stream, before_ms);
  yield* change(
    "DELETE FROM late WHERE stream = $1 AND series = $2 AND stamp < $3",
    stream,
    series,
    before_ms,
  );
  yield* change(
    "UPDATE totals SET total = total - $3, pruned = pruned + $3 WHERE stream = $1 AND series = $2",
    stream,
    series,
    removed,
  );
  const run = { homes: oneHome, series, stream, home: 0, sealed_before: 0 };
  yield* recount(run, { from_ms: 0, before_ms, changed: false });
  return removed;
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
  readonly tail_from: number;
}

interface PrunableSpan {
  readonly before_ms: number;
  readonly count: number;
}

const spans_per_look = 64;
