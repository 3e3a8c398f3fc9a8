import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { constants, gzipSync, zstdCompressSync } from "node:zlib";
import { SystemClock } from "../../../../src/base/clock.ts";
import { lineLog } from "../../../../src/base/log.ts";
import { day_ms } from "../../../../src/base/time.ts";
import { appendHistory } from "../../../../src/demo/history.ts";
import type { SeriesName } from "../../../../src/domain/series.ts";
import {
  type Batch,
  batch_readings_max,
  readingsIn,
  type SeriesColumns,
  type ValueColumn,
  valuesAt,
} from "../../../../src/store/batch.ts";
import type { UploadStore } from "../../../../src/store/gateway/upload-store.ts";
import { valueColumns } from "../../../../src/store/series/series-columns.ts";
import { openGatewayStore, openUploadStore } from "../../../../src/store/sqlite/open-store.ts";
import { encodeBatch } from "../../../../src/transfer/batch-codec.ts";
import type { Report } from "../../api/report.ts";

/**
 * Bytes on the wire for each reading of the demo's 30 days, in one piece and night by night, beside gzip-6 and zstd-19 of the same readings
 * as plain JSON.
 */
export async function wire(report: Report): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-wire-"));
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock });
  try {
    const gateway = await openGatewayStore({ directory, clock, log });
    await appendHistory({
      store: gateway,
      from_ms: until_ms - days * day_ms,
      until_ms,
      seed: demo_seed,
      progress: () => {},
    });
    await gateway.close();
    const store = await openUploadStore({ directory, clock, log });
    await measure(store, report);
    await store.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(store: UploadStore, report: Report): Promise<void> {
  const epoch = (await store.epochs()).at(-1)?.epoch ?? "";
  const whole = await store.batchAfter({ epoch, after_seq: 0, readings_max: batch_readings_max });
  if (whole === undefined) throw new Error("the demo has no history");
  const count = readingsIn(whole);
  report.note(`${count} readings of ${whole.devices.length} devices in ${days} days of the demo`);
  compare("in one batch", [whole], report);
  report.bar("bytes on the wire for each reading", { value: bytesOf(whole) / count, most: 5 });
  compare("a batch for each night", nightsOf(whole), report);
}

function compare(what: string, batches: readonly Batch[], report: Report): void {
  const count = batches.reduce((sum, batch) => sum + readingsIn(batch), 0);
  const each = (bytes: (batch: Batch) => number) =>
    batches.reduce((total, batch) => total + bytes(batch), 0) / count;
  const zstd = { params: { [constants.ZSTD_c_compressionLevel]: 19 } };
  const ours = each(bytesOf);
  const beside = (name: string, bytes: (text: string) => number) =>
    report.beside(`bytes on the wire of a reading, ${what}`, ours, {
      name,
      figure: each((batch) => bytes(plainJson(batch))),
    });
  beside("zstd-19 of plain JSON", (text) => zstdCompressSync(text, zstd).length);
  beside("gzip-6 of plain JSON", (text) => gzipSync(text, { level: 6 }).length);
  beside("plain JSON", (text) => text.length);
}

function bytesOf(batch: Batch): number {
  return encodeBatch(batch)?.length ?? Number.NaN;
}

/** The readings that arrived between one upload and the next, at two in the morning. */
function nightsOf(whole: Batch): Batch[] {
  const nightOf = (stamp_ms: number) => Math.floor((stamp_ms - upload_hour * 3_600_000) / day_ms);
  const nights = new Map<number, number>();
  for (const { seq, stamp_ms } of Object.values(whole.series)) {
    for (const [row, number] of seq.entries()) {
      const night = nightOf(stamp_ms[row] as number);
      nights.set(night, Math.max(nights.get(night) ?? 0, number));
    }
  }
  const ends = [...nights.values()].sort((one, other) => one - other);
  return ends.map((to_seq, night) => cut(whole, (ends[night - 1] ?? 0) + 1, to_seq));
}

/** The readings of a batch numbered from one to another. */
function cut(batch: Batch, from_seq: number, to_seq: number): Batch {
  const series = Object.entries(batch.series).flatMap(([name, columns]) => {
    const first = columns.seq.findIndex((seq) => seq >= from_seq);
    const beyond = columns.seq.findIndex((seq) => seq > to_seq);
    const kept = mapped(columns, (column) => column.slice(first, beyond < 0 ? undefined : beyond));
    return first < 0 || kept.seq.length === 0 ? [] : [[name, kept]];
  });
  return { ...batch, from_seq, to_seq, previous: "0123456789abcdef", series: Object.fromEntries(series) };
}

function mapped(
  { seq, device, stamp_ms, values }: SeriesColumns,
  made: (column: ValueColumn) => ValueColumn,
): SeriesColumns {
  const [seqs, devices, stamps] = [seq, device, stamp_ms].map(made) as [
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  return { seq: seqs, device: devices, stamp_ms: stamps, values: values.map(made) };
}

function plainJson(batch: Batch): string {
  const readings = Object.entries(batch.series).flatMap(([series, columns]) => {
    const names = valueColumns(series as SeriesName).map(({ name }) => name);
    return Array.from(columns.seq, (seq, row) => {
      const values = valuesAt(columns, row);
      return {
        seq,
        series,
        device: batch.devices[columns.device[row] as number]?.address,
        stamp: columns.stamp_ms[row],
        ...Object.fromEntries(names.map((name, place) => [name, values[place]])),
      };
    });
  });
  return JSON.stringify(readings.sort((one, other) => one.seq - other.seq));
}

const days = 30;
const upload_hour = 2;
const demo_seed = 1942;
const until_ms = Date.UTC(2026, 10, 20, 12);
