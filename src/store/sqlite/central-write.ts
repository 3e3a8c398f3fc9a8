import { type SeriesName, seriesNames } from "../../series.ts";
import type { Batch, SeriesColumns } from "../batch.ts";
import { devicesFrom, digestAt, firstIndexFrom, firstNewSeq } from "../batch-acceptance.ts";
import type { Received, Repaired, Sender } from "../central-store.ts";
import { heardFrom, itemsOf } from "../core/items.ts";
import { byDevice, refuseMisfits } from "../core/series-rows.ts";
import { holdSource, noteHeld } from "../core/sources.ts";
import type { DayReadings } from "../upload-store.ts";
import { repairDay } from "./central-mend.ts";
import type { Connection } from "./connection.ts";
import { Writing } from "./write.ts";

/** Everything that changes the database of central: see `CentralStore` for what each call does. */
export class CentralWriting extends Writing {
  constructor(options: { path: string; database: Connection }) {
    super(options);
    const { database } = options;
    database.run(`PRAGMA cache_size = -${write_cache_kib}`);
  }

  receive(batch: Batch, sender: Sender): Received {
    return this.transaction(() => {
      const source = this.runner.run(holdSource(batch.epoch, sender));
      const from_seq = firstNewSeq(batch, source, sender);
      if (from_seq === undefined) return { held_seq: source.held_seq, taken: 0 };
      const items = this.#itemsOf(batch, from_seq, sender);
      const first_own = Number(this.readSeq.values()[0]?.[0]) + 1;
      let taken = 0;
      for (const series of seriesNames) {
        const columns = batch.series[series];
        if (columns !== undefined) taken += this.#insert(series, columns, { from_seq, first_own, items });
      }
      this.runner.run(this.additions.settle());
      this.writeSeq.run(first_own + batch.to_seq - from_seq);
      const { first_seq, to_seq } = batch;
      const what = { first_seq, digest: digestAt(batch, to_seq), at_ms: sender.at_ms };
      this.runner.run(noteHeld(source, { first_own, from_seq, to_seq }, what));
      return { held_seq: to_seq, taken };
    });
  }

  repairDay(request: DayReadings, readings: Batch, sender: Sender): Repaired {
    const { database, runner } = this;
    const parts = { database, runner };
    return this.transaction(() => repairDay(parts, request, readings, sender));
  }

  /** Keys of the items that readings are of from a number on, by the place of their device. */
  #itemsOf(batch: Batch, from_seq: number, { home }: Sender): readonly number[] {
    const keys = this.runner.run(itemsOf(heardFrom(batch, from_seq), home));
    const items: number[] = [];
    for (const [index, { place }] of devicesFrom(batch, from_seq).entries())
      items[place] = keys[index] as number;
    return items;
  }

  /** Answers how many rows that were. */
  #insert(
    series: SeriesName,
    columns: SeriesColumns,
    { from_seq, first_own, items }: { from_seq: number; first_own: number; items: readonly number[] },
  ): number {
    const { seq, device } = columns;
    const first = firstIndexFrom(seq, from_seq);
    refuseMisfits(series, columns, first);
    const order = byDevice(device, first, items.length);
    const item = device.map((place) => items[place] ?? 0);
    const own = seq.map((number) => first_own + number - from_seq);
    this.runner.run(this.additions.put({ series, home: 0, columns, order, item, own }));
    return order.length;
  }
}

/** A batch touches the newest page of every run that it has readings of: they stay in memory until the commit. */
const write_cache_kib = 64 * 1024;
