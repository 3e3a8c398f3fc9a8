import { type SeriesName, seriesOf } from "../../series.ts";
import { valueAt } from "../batch.ts";
import { type ReadingColumns, within } from "../sealed-block.ts";
import type { Precision, SeriesRecord } from "../store.ts";
import type { StreamSeries } from "./run.ts";
import { BlockReader } from "./sealed-blocks.ts";
import { forEverySeries, quoted } from "./series-tables.ts";
import type { Between } from "./time-spans.ts";
import { arrays, firstOf, objects, rowsOf, type Work } from "./work.ts";

/** Some records of a run, in one direction of time. */
export interface RecordsAsked extends Between {
  readonly precision: Precision;
  readonly skip: number;
  readonly limit: number;
  /** In this second (its end not included) only numbers up to `last` count. */
  readonly second?: Between & { readonly last: number };
}

/** Records as they are served, stamp first, then the fields: newest first where `step` is -1, oldest first where it is 1. */
export function* recordsOf(run: StreamSeries, asked: RecordsAsked, step: 1 | -1): Work<SeriesRecord[]> {
  const { from_ms, before_ms, skip, limit } = asked;
  const { sealed_before } = run;
  if (sealed_before <= from_ms) return yield* rowRecords(run, asked, step);
  const sealed = { ...asked, before_ms: Math.min(before_ms, sealed_before) };
  if (before_ms <= sealed_before) return (yield* sealedRecords(run, sealed, step)).records;
  const unsealed = { ...asked, from_ms: sealed_before };
  if (step > 0) {
    const { records, passed } = yield* sealedRecords(run, sealed, step);
    if (records.length === limit) return records;
    const rest = { skip: skip - passed, limit: limit - records.length };
    return [...records, ...(yield* rowRecords(run, { ...unsealed, ...rest }, step))];
  }
  const records = yield* rowRecords(run, unsealed, step);
  if (records.length === limit) return records;
  // Where nothing came, all there was has been passed over: no more than `skip`.
  const passed = records.length > 0 || skip === 0 ? skip : yield* countRows(run, unsealed);
  const rest = { skip: skip - passed, limit: limit - records.length };
  return [...records, ...(yield* sealedRecords(run, { ...sealed, ...rest }, step)).records];
}

/** The database makes the objects and divides the stamps, which is faster than any way through rows. */
function* rowRecords(run: StreamSeries, asked: RecordsAsked, step: 1 | -1): Work<SeriesRecord[]> {
  const { homes, series, stream, home } = run;
  const { precision, limit, skip } = asked;
  const [condition, given] = conditionOf(asked);
  const text = pageTexts[series][precision](
    `stream = $1${homes.is("$2")} AND ${condition}`,
    given.length,
    step,
  );
  return yield* rowsOf(objects<SeriesRecord>(text, stream, home, ...given, limit, skip));
}

const pageTexts = forEverySeries((series) => ({
  s: pageSql(series, `${series}.stamp / 1000 AS stamp`),
  ms: pageSql(series, `${series}.stamp`),
}));

function pageSql(series: SeriesName, stamp: string) {
  const fields = quoted(Object.keys(seriesOf(series).fields));
  return (condition: string, parameters: number, step: 1 | -1): string => {
    const order = step > 0 ? "ASC" : "DESC";
    // Ordered by the column, not by what is served under its name: only then the key has the order.
    return `SELECT ${stamp}, ${fields} FROM ${series} WHERE ${condition}
      ORDER BY ${series}.stamp ${order}, ${series}.seq ${order} LIMIT $${parameters + 3} OFFSET $${parameters + 4}`;
  };
}

function* countRows({ homes, series, stream, home }: StreamSeries, asked: RecordsAsked): Work<number> {
  const [condition, given] = conditionOf(asked);
  const text = `SELECT count(*) FROM ${series} WHERE stream = $1${homes.is("$2")} AND ${condition}`;
  const row = yield* firstOf(arrays<[number]>(text, stream, home, ...given));
  return Number(row?.[0] ?? 0);
}

/** A condition on rows, and its parameters from `$3` on. */
function conditionOf({ from_ms, before_ms, second }: RecordsAsked): [condition: string, given: number[]] {
  const whole = "stamp >= $3 AND stamp < $4";
  if (second === undefined) return [whole, [from_ms, before_ms]];
  return [
    `${whole} AND (stamp < $5 OR stamp >= $6 OR seq <= $7)`,
    [from_ms, before_ms, second.from_ms, second.before_ms, second.last],
  ];
}

/** Sealed records, and how many were passed over before them. */
function* sealedRecords(
  run: StreamSeries,
  asked: RecordsAsked,
  step: 1 | -1,
): Work<{ records: SeriesRecord[]; passed: number }> {
  const { from_ms, before_ms, skip, limit, second } = asked;
  const record = recordMaker(run.series, asked.precision);
  const records: SeriesRecord[] = [];
  let passed = 0;
  const walk = new BlockReader(run, asked, step);
  while (records.length < limit) {
    const block = yield* walk.next();
    if (block === undefined) break;
    const isWhole = second === undefined && block.stamp >= from_ms && block.last_stamp < before_ms;
    if (isWhole && passed + block.count <= skip) {
      passed += block.count;
      continue;
    }
    const readings = block.readings();
    const [start, end] = within(readings, from_ms, before_ms);
    for (let place = 0; place < end - start && records.length < limit; place += 1) {
      const index = step > 0 ? start + place : end - 1 - place;
      if (!counts(readings, index, second)) continue;
      if (passed < skip) passed += 1;
      else records.push(record(readings, index));
    }
  }
  return { records, passed };
}

function counts({ stamp_ms, seq }: ReadingColumns, index: number, second: RecordsAsked["second"]): boolean {
  if (second === undefined) return true;
  const stamp = stamp_ms[index] as number;
  return stamp < second.from_ms || stamp >= second.before_ms || (seq[index] as number) <= second.last;
}

function recordMaker(
  series: SeriesName,
  precision: Precision,
): (readings: ReadingColumns, index: number) => SeriesRecord {
  const fields = Object.keys(seriesOf(series).fields);
  const divisor = precision === "ms" ? 1 : 1000;
  return ({ stamp_ms, values }, index) => {
    const record: Record<string, unknown> = { stamp: Math.floor((stamp_ms[index] as number) / divisor) };
    for (const [place, field] of fields.entries()) {
      const column = values[place];
      record[field] = column === undefined ? null : valueAt(column, index);
    }
    return record as SeriesRecord;
  };
}
