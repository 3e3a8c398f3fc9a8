import { day_ms } from "../../durations.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../series.ts";
import type { Batch } from "../batch.ts";
import { BatchColumns } from "../batch-columns.ts";
import { dayDigests } from "../core/day-digests.ts";
import { homesTogether } from "../core/homes.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { DayDigest } from "../day-digest.ts";
import { digestText, readingDigest } from "../reading-digest.ts";
import type { DayReadings, DigestRequest, EpochSpan } from "../upload-store.ts";
import { BatchDevices, Items } from "./batch-devices.ts";
import type { Connection } from "./connection.ts";
import type { SqliteDatabase } from "./database.ts";
import { readEpochs } from "./epochs.ts";
import {
  columnsOf,
  type NumberedRow,
  type NumberedRows,
  numberedReadings,
  searchedReadings,
} from "./numbered-readings.ts";
import { Runner } from "./runner.ts";

/** Reads what a gateway uploads: see `UploadStore` for what each call answers. Every call is to be one transaction of the caller's. */
export class UploadReads {
  readonly #database: Connection;
  readonly #reads: SqliteDatabase;
  readonly #runner: Runner;
  readonly #items: Items;
  readonly #runs;
  readonly #ofDay;

  constructor(database: Connection, reads: SqliteDatabase) {
    this.#database = database;
    this.#reads = reads;
    this.#runner = new Runner(database);
    this.#items = new Items(database);
    this.#runs = database.keep(
      "SELECT series, item FROM totals WHERE newest_stamp >= ? ORDER BY series, item",
    );
    this.#ofDay = forEverySeries((series) =>
      database.keep(
        `SELECT ${columnsOf(series)} FROM ${series}
         WHERE item = ? AND stamp >= ? AND stamp < ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`,
      ),
    );
  }

  batchAfter(request: { epoch: string; after_seq: number; readings_max: number }): Batch | undefined {
    const span = this.#span(request.epoch);
    if (span === undefined) return undefined;
    const from_seq = Math.max(request.after_seq + 1, span.first_seq);
    const to_seq = Math.min(from_seq + request.readings_max - 1, span.last_seq);
    if (to_seq < from_seq) return undefined;
    // The one before is read with them, for its digest.
    const first = Math.max(from_seq - 1, span.first_seq);
    let rows = this.#runner.run(numberedReadings(first, to_seq));
    // Nothing is called lost because counts say so.
    if (missingOf(rows, from_seq, to_seq).length > 0)
      rows = this.#runner.run(searchedReadings(first, to_seq));
    const previous = takePrevious(rows, from_seq);
    return {
      epoch: span.epoch,
      first_seq: span.first_seq,
      from_seq,
      to_seq,
      ...(previous === undefined ? {} : { previous }),
      missing: missingOf(rows, from_seq, to_seq),
      ...this.#columns(rows),
    };
  }

  readingsOfDay(request: DayReadings, readings_max: number): Batch {
    const { epoch, through_seq, series, day, after_seq } = request;
    const span = this.#span(epoch);
    const item = this.#items.find(request);
    const bounds = boundsOf(span, after_seq + 1, through_seq);
    const found =
      item === undefined
        ? []
        : this.#ofDay[series].values(item, day * day_ms, (day + 1) * day_ms, ...bounds, readings_max);
    const rows = found as NumberedRow[];
    return {
      epoch,
      first_seq: span?.first_seq ?? 1,
      from_seq: after_seq + 1,
      to_seq:
        rows.length < readings_max ? Math.max(through_seq, after_seq) : (rows.at(-1)?.[0] ?? through_seq),
      missing: [],
      ...this.#columns({ [series]: rows }),
    };
  }

  async digests(request: DigestRequest): Promise<DayDigest[]> {
    const { epoch, through_seq, from_ms, before_ms } = request;
    const { bounds, runs } = await this.#reads.direct(() => ({
      bounds: boundsOf(this.#span(epoch), 1, through_seq),
      runs: (this.#runs.values(from_ms) as [SeriesName, number][]).map(([series, item]) => {
        return { series, item, of: this.#items.device(item) };
      }),
    }));
    const [first, last] = bounds;
    const seqOf = (own: number) => (own >= first && own <= last ? own : undefined);
    const digests: DayDigest[] = [];
    for (const { series, item, of: found } of runs) {
      const { address, itemid } = found;
      const device = { series, kind: seriesOf(series).kind, address, itemid };
      const of = { series, item, home: 0, from_ms, before_ms, seqOf };
      const days = await dayDigests(this.#reads, homesTogether, of);
      for (const [day, { count, hash }] of days) digests.push({ ...device, day, count, hash });
    }
    return digests;
  }

  #span(epoch: string): EpochSpan | undefined {
    return readEpochs(this.#database).find((span) => span.epoch === epoch && !span.restored);
  }

  #columns(rows: Partial<NumberedRows>): Pick<Batch, "devices" | "series"> {
    const devices = new BatchDevices(this.#items);
    const columns = new BatchColumns();
    for (const series of seriesNames) {
      const { kind } = seriesOf(series);
      for (const row of rows[series] ?? []) columns.add(series, devices.device(row[2], kind), row[0], row);
    }
    return columns.columns();
  }
}

/** Takes the reading before `from_seq` out of the rows; its digest, where there is one. */
function takePrevious(rows: NumberedRows, from_seq: number): string | undefined {
  for (const series of seriesNames) {
    if (rows[series][0]?.[0] !== from_seq - 1) continue;
    const row = rows[series].shift() as NumberedRow;
    return digestText(digestOf(row));
  }
  return undefined;
}

function digestOf([seq, stamp_ms, , ...values]: NumberedRow): bigint {
  return readingDigest(seq, stamp_ms, values);
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
