import { pick, type ReadingColumns } from "../sealed-block.ts";
import type { StreamSeries } from "./run.ts";
import { addCompressed } from "./sealed-blocks.ts";
import type { SeriesRows } from "./series-rows.ts";
import { putReadings, type Work } from "./work.ts";

/** Puts readings where their runs have them: among the sealed ones below `sealed_before`, else into the table of their series. */
export function* putWhereKept(
  rows: SeriesRows,
  placeOf: (stream: number) => StreamSeries | undefined,
  meanwhile?: () => void,
): Work<void> {
  const { columns, order, stream, own } = rows;
  const late = new Map<StreamSeries, number[]>();
  const places = new Map<number, StreamSeries | undefined>();
  const kept = order.filter((index) => {
    const of = stream[index] as number;
    if (!places.has(of)) places.set(of, placeOf(of));
    const place = places.get(of);
    if (place === undefined || (columns.stamp_ms[index] as number) >= place.sealed_before) return true;
    const indexes = late.get(place) ?? [];
    late.set(place, indexes);
    indexes.push(index);
    return false;
  });
  yield* putReadings({ ...rows, order: kept }, late.size === 0 ? meanwhile : undefined);
  if (late.size === 0) return;
  const readings: ReadingColumns = { ...columns, seq: own };
  for (const [place, indexes] of late) yield* addCompressed(place, pick(readings, indexes));
  meanwhile?.();
}
