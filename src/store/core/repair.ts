import { day_ms } from "../../durations.ts";
import type { SeriesName, Value } from "../../series.ts";
import { type Batch, batch_readings_max, type SeriesColumns, valuesAt } from "../batch.ts";
import { refuseForeign } from "../batch-acceptance.ts";
import { BatchRefused, type Repaired, type Sender } from "../central-store.ts";
import { withoutErased } from "../erasure.ts";
import type { OwnNumbers } from "../own-numbers.ts";
import type { DayReadings } from "../upload-store.ts";
import { recountDays } from "./count-spans.ts";
import { countRefused, erasedIn } from "./erasures.ts";
import type { Homes } from "./homes.ts";
import { knownStream, streamsOf } from "./items.ts";
import { quoted, readingColumns } from "./series-tables.ts";
import { holdSource, numbersOf, type Source } from "./sources.ts";
import { arrays, change, hold, type Parameter, putReadings, rowsOf, type Work } from "./work.ts";

/** Makes a day of a device what its gateway says it is, but removes nothing: see `CentralStore.repairDay`. */
export function* repairDay(homes: Homes, request: DayReadings, sent: Batch, sender: Sender): Work<Repaired> {
  const source = yield* holdSource(request.epoch, sender);
  yield* hold("inventory");
  const { batch, refused } = withoutErased(sent, yield* erasedIn(sender.home));
  const erased = yield* countRefused(refused);
  const whole = daysColumns(request, sent).seq.length < batch_readings_max;
  const repaired = yield* repair(homes, request, batch, { source, sender, whole });
  return { ...repaired, ...(erased === 0 ? {} : { erased }) };
}

function* repair(
  homes: Homes,
  request: DayReadings,
  batch: Batch,
  { source, sender, whole }: { source: Source; sender: Sender; whole: boolean },
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
  const table = { homes, series, home: homes.of(sender.home) };
  const span = "stream = $2 AND stamp >= $3 AND stamp < $4";
  const held = yield* readings(table, span, stream, day * day_ms, (day + 1) * day_ms);
  const changed = yield* take(table, columns, { held, numbers, stream, day, sender });
  const through_seq = whole ? request.through_seq : batch.to_seq;
  const sent = new Set(columns.seq);
  const kept = [...held.keys()].filter((own) => {
    const seq = numbers.seqOf(own);
    return seq !== undefined && seq > request.after_seq && seq <= through_seq && !sent.has(seq);
  });
  return { ...changed, kept: kept.length };
}

/** @throws BatchRefused where a day has readings of an epoch that are not held */
export function refuseUnheld(source: Source | undefined, { seq }: SeriesColumns, sender: Sender): void {
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
  of: { held: Rows; numbers: OwnNumbers; stream: number; day: number; sender: Sender },
): Work<{ added: number; corrected: number }> {
  const { held, numbers, sender } = of;
  const own = columns.seq.map((seq) => heldNumber(numbers, seq));
  const astray = yield* astrayOf(
    table,
    own.filter((number) => !held.has(number)),
    sender,
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
  const streams = [...new Set([of.stream, ...order.map((index) => stream[index] as number)])];
  yield* remove(table, gone);
  yield* putReadings({ ...table, columns, order: Uint32Array.from(order), stream, own });
  // Whatever made the two differ may have left the counts wrong too.
  const days = [...streams.map((changed) => [changed, of.day] as const), ...[...astray.values()].map(dayOf)];
  const { homes, series } = table;
  yield* recountDays(homes, {
    series,
    home: table.home,
    days: new Map(days.map((day) => [day.join(" "), day])).values(),
    changed: order.length > 0,
  });
  return { added: order.length - gone.length, corrected: gone.length };
}

function heldNumber(numbers: OwnNumbers, seq: number): number {
  const own = numbers.ownOf(seq);
  if (own === undefined) throw new Error(`reading ${seq} of the epoch has no number here`);
  return own;
}

/**
 * Readings of these own numbers that stand elsewhere: under another stamp, or under another stream of the home. Looks at everything,
 * because what moved them may have left the counts wrong.
 */
function* astrayOf(table: Table, own: Float64Array, { home }: Sender): Work<Rows> {
  if (own.length === 0) return new Map();
  const heard = yield* rowsOf(arrays<[number]>("SELECT key FROM streams WHERE home = $1", home));
  return yield* readings(table, "stream = ANY ($2::bigint[]) AND seq = ANY ($3::bigint[])", heard.flat(), [
    ...own,
  ]);
}

/** Removes readings, by their own numbers. */
function* remove({ homes, series, home }: Table, rows: readonly Row[]): Work<void> {
  if (rows.length === 0) return;
  const stamps_ms = rows.map(([, stamp_ms]) => stamp_ms).sort((one, other) => one - other);
  yield* change(
    `DELETE FROM ${series} WHERE stream = ANY ($2::bigint[]) AND stamp >= $3 AND stamp <= $4
       AND seq = ANY ($5::bigint[])${homes.is("$1")}`,
    home,
    [...new Set(rows.map(([stream]) => stream))],
    stamps_ms[0] as number,
    stamps_ms.at(-1) as number,
    rows.map(([, , own]) => own),
  );
}

/** The table of a series, and under which home its rows of a home stand. */
interface Table {
  readonly homes: Homes;
  readonly series: SeriesName;
  readonly home: number;
}

type Row = readonly [stream: number, stamp_ms: number, own: number, ...values: Value[]];
/** By own number. */
type Rows = ReadonlyMap<number, Row>;

/** Readings that a condition holds for, whose parameters are numbered from `$2` on. */
function* readings({ homes, series, home }: Table, condition: string, ...given: Parameter[]): Work<Rows> {
  const text = `SELECT ${quoted(readingColumns(series))} FROM ${series} WHERE ${condition}${homes.is("$1")}`;
  const rows = yield* rowsOf(arrays<Row>(text, home, ...given));
  return new Map(rows.map((row) => [row[2], row]));
}

function dayOf([stream, stamp_ms]: Row): readonly [stream: number, day: number] {
  return [stream, Math.floor(stamp_ms / day_ms)];
}

function isSame([, stamp_ms, , ...values]: Row, columns: SeriesColumns, index: number): boolean {
  return (
    stamp_ms === columns.stamp_ms[index] &&
    JSON.stringify(values) === JSON.stringify(valuesAt(columns, index))
  );
}
