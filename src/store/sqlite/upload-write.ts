import { day_ms } from "../../durations.ts";
import { OperatorError } from "../../errors.ts";
import { identityOf, numberOf } from "../../records/record-table.ts";
import { type SeriesName, seriesNames } from "../../series.ts";
import type { Batch, SeriesColumns } from "../batch.ts";
import { firstIndexFrom } from "../batch-acceptance.ts";
import { recountDays } from "../core/count-spans.ts";
import { homesOnSqlite } from "../core/homes.ts";
import { putReadings } from "../core/work.ts";
import { withoutErased } from "../erasure.ts";
import type { ImportedRecord } from "../record-store.ts";
import type { EpochSpan, UploadState } from "../upload-store.ts";
import { epochs } from "./epochs.ts";
import { type PruneRequest, prune } from "./pruning.ts";
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
