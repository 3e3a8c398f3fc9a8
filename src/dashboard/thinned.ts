import { type SeriesName, seriesOf } from "../series.ts";
import type { SeenStore } from "../store/seen-store.ts";
import { readingsIn } from "./pages/device/device-store.ts";

/** Readings of a field in steps of equal length. `least`, `greatest` and `last` are of values, NaN in a step without any. */
export interface Thinned {
  readonly count: Uint32Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly last: Float64Array;
}

/** @param of.mask bits of the field that count, all where absent */
export async function thinnedOf(
  store: SeenStore,
  of: {
    series: SeriesName;
    item: number;
    field: string;
    mask?: number;
    from_ms: number;
    before_ms: number;
    step_ms: number;
  },
): Promise<Thinned> {
  const { series, item, field, mask, from_ms, before_ms: to_ms, step_ms } = of;
  const steps = Math.ceil((to_ms - from_ms) / step_ms);
  const count = new Uint32Array(steps);
  const least = new Float64Array(steps).fill(Number.NaN);
  const greatest = new Float64Array(steps).fill(Number.NaN);
  const last = new Float64Array(steps).fill(Number.NaN);
  const at = Object.keys(seriesOf(series).fields).indexOf(field) + 1;
  for await (const rows of readingsIn(store, { series, item, span: { from_ms, to_ms } }))
    for (const row of rows) {
      const step = Math.floor((row[0] - from_ms) / step_ms);
      const value = mask === undefined ? Number(row[at]) : Number(row[at]) & mask;
      count[step] = (count[step] ?? 0) + 1;
      if (!((least[step] ?? Number.NaN) <= value)) least[step] = value;
      if (!((greatest[step] ?? Number.NaN) >= value)) greatest[step] = value;
      last[step] = value;
    }
  return { count, least, greatest, last };
}
