import type { Batch, SeriesColumns } from "../../batch.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../series.ts";
import type { CarriedBatch, CarriedColumns } from "../batch-acceptance.ts";

/** A batch with its numbers in typed arrays, which travel to the writer's thread without being copied. */
export function carried(batch: Batch): CarriedBatch {
  const series: Partial<Record<SeriesName, CarriedColumns>> = {};
  for (const name of seriesNames) {
    const columns = batch.series[name];
    if (columns !== undefined) series[name] = packed(name, columns);
  }
  return { ...batch, series };
}

/** The memory of the columns of a carried batch: handed over with it. */
export function columnBuffers(batch: CarriedBatch): ArrayBuffer[] {
  return Object.values(batch.series).flatMap(({ fields, ...columns }) =>
    [...Object.values(columns), ...fields].flatMap((column) =>
      column instanceof Float64Array ? [column.buffer as ArrayBuffer] : [],
    ),
  );
}

function packed(series: SeriesName, columns: SeriesColumns): CarriedColumns {
  const definitions = Object.values(seriesOf(series).fields);
  const { device_ms, offset_ms } = columns;
  return {
    seq: Float64Array.from(columns.seq),
    device: Float64Array.from(columns.device),
    stamp_ms: Float64Array.from(columns.stamp_ms),
    clock: Float64Array.from(columns.clock),
    ...(device_ms === undefined
      ? {}
      : { device_ms: numeric(device_ms) ? Float64Array.from(device_ms) : device_ms }),
    ...(offset_ms === undefined
      ? {}
      : { offset_ms: numeric(offset_ms) ? Float64Array.from(offset_ms) : offset_ms }),
    fields: columns.fields.map((column, index) =>
      definitions[index]?.sql !== "TEXT" && numeric(column) ? Float64Array.from(column) : column,
    ),
  };
}

/** Texts and null travel as they are. */
function numeric(column: readonly Value[]): column is readonly number[] {
  return column.every((value) => typeof value === "number");
}
