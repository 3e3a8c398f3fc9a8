import { RecentlyUsed } from "../../base/recently-used.ts";
import { day_ms } from "../../base/time.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Value } from "../../domain/series.ts";
import type { ReadingColumns } from "../batch.ts";
import { valueAt } from "../batch.ts";
import { arrays, firstOf, rowsOf, type Work } from "../database.ts";
import { oneHome } from "../inventory/homes.ts";
import { type Block, BlockReader } from "../series/blocks.ts";
import { valueColumns } from "../series/series-columns.ts";
import { placesOf, rowsBetween, type StreamSeries } from "../series/streams.ts";
import type { Between } from "../series/time-spans.ts";

/**
 * Whether readings of devices' buffers were here before this store began to number under its present name. A spare box reads a buffer on from the last whole
 * upload, and one that was cut off has sent more.
 */
export class ReadBefore {
  readonly #decoded = new RecentlyUsed<ReadingColumns>({ weight_max: blocks_max });

  /** `values`: those of the fields of the series. To be asked in the transaction that adds the reading. */
  *has(reading: Reading, stream: number, values: readonly Value[]): Work<boolean> {
    const { series, stamp_ms, deviceClock } = reading;
    if (deviceClock === undefined) return false;
    const row = yield* firstOf(arrays<[number]>("SELECT max(first_seq) FROM epochs"));
    const first_seq = row?.[0] ?? 1;
    // Numbers begin at 1: nothing was here before.
    if (first_seq === 1) return false;
    const names = valueColumns(series).map(({ name }) => name);
    const device_ms = names.indexOf("device_ms");
    if (device_ms < 0) return false;
    const isSame = (given: readonly Value[]) =>
      given[device_ms] === deviceClock.stamp_ms && values.every((value, place) => given[place] === value);
    const around = { from_ms: stamp_ms - again_ms_max, before_ms: stamp_ms + again_ms_max + 1 };
    const of = { series, home: 0, streams: [stream] };
    for (const run of (yield* placesOf(oneHome, of)).values())
      if (
        (yield* this.#inRows(run, around, first_seq, isSame)) ||
        (yield* this.#inBlocks(run, around, first_seq, isSame))
      )
        return true;
    return false;
  }

  *#inRows(run: StreamSeries, around: Between, first_seq: number, isSame: IsSame): Work<boolean> {
    const names = valueColumns(run.series).map(({ name }) => name);
    const rows = yield* rowsOf(
      rowsBetween<Value[]>(run, around, names.join(", "), " AND seq < $5", first_seq),
    );
    return rows.some(isSame);
  }

  *#inBlocks(run: StreamSeries, around: Between, first_seq: number, isSame: IsSame): Work<boolean> {
    const reader = new BlockReader(run, around, 1);
    for (let block = yield* reader.next(); block !== undefined; block = yield* reader.next()) {
      if (block.min_seq >= first_seq) continue;
      const { stamp_ms, seq, values } = this.#readingsOf(run, block);
      for (const [index, stamp] of stamp_ms.entries())
        if (stamp >= around.from_ms && stamp < around.before_ms && (seq[index] as number) < first_seq)
          if (isSame(values.map((column) => valueAt(column, index)))) return true;
    }
    return false;
  }

  /** A device's buffer is read in order: the same blocks are asked for again and again. */
  #readingsOf({ series, stream }: StreamSeries, block: Block): ReadingColumns {
    const { stamp, seq, count, max_seq } = block;
    const name = `${series} ${stream} ${stamp} ${seq} ${count} ${max_seq}`;
    const known = this.#decoded.get(name) ?? block.readings();
    this.#decoded.set(name, known, 1);
    return known;
  }
}

type IsSame = (values: readonly Value[]) => boolean;

/** Two dates of one event of a device's buffer lie nearer together: they differ by what its clock was found to be off at either time. */
const again_ms_max = day_ms;
const blocks_max = 8;
