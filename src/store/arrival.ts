import { seriesOf, type Value } from "../series.ts";
import type { ArrivalPosition, Arrivals, ArrivalsRequest, SeriesRecord } from "./store.ts";

/** State of a store and of one series of one item, in one snapshot. */
export interface ArrivalState {
  readonly epoch: string;
  /** No reading of the series of the item has a higher number. */
  readonly last_seq: number;
  /** How often its readings have been changed or joined with others. */
  readonly revision: number;
}

/** The place that a request goes on from; undefined where it names one that does not hold here. */
export function arrivedBefore(
  { after, span }: ArrivalsRequest,
  { epoch, last_seq, revision }: ArrivalState,
): ArrivalPosition | undefined {
  // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
  if (after === undefined) return { epoch, revision, seq: 0, stamp_ms: span.from_ms };
  const holds = after.epoch === epoch && after.revision === revision && after.seq <= last_seq;
  return holds ? after : undefined;
}

/** A reading: its number, its stamp in unix milliseconds, then the values in the order of the series' fields. */
export type ArrivalRow = [seq: number, stamp_ms: number, ...values: Value[]];

/**
 * A page of arrivals from two lists that each have the order of numbers: readings that came in order of time, and late ones. Each has the
 * `limit` readings that follow `from`, or all there are.
 */
export function arrivalsFrom(
  { series, limit, precision }: ArrivalsRequest,
  from: ArrivalPosition,
  inOrder: readonly ArrivalRow[],
  late: readonly ArrivalRow[],
): Arrivals {
  const fields = Object.keys(seriesOf(series).fields);
  const records: SeriesRecord[] = [];
  let { seq, stamp_ms } = from;
  let [ordered, belated] = [0, 0];
  while (records.length < limit) {
    const [one, other] = [inOrder[ordered], late[belated]];
    const isLate = one === undefined || (other !== undefined && other[0] < one[0]);
    const next = isLate ? other : one;
    if (next === undefined) break;
    if (isLate) belated += 1;
    else {
      ordered += 1;
      stamp_ms = next[1];
    }
    seq = next[0];
    records.push(recordOf(fields, next, precision === "ms" ? 1 : 1000));
  }
  return { records, position: { ...from, seq, stamp_ms } };
}

function recordOf(
  fields: readonly string[],
  [, stamp_ms, ...values]: ArrivalRow,
  divisor: number,
): SeriesRecord {
  const record: Record<string, Value> & { stamp: number } = { stamp: Math.floor(stamp_ms / divisor) };
  for (const [place, field] of fields.entries()) record[field] = values[place] ?? null;
  return record;
}
