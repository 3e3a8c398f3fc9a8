import { type SeriesName, seriesOf } from "../../domain/series.ts";
import type { ReadingColumns } from "../batch.ts";
import { columnOf, type ValueColumn } from "../batch.ts";
import { arrays, type Database, firstOf, type Work } from "../database.ts";
import type { Homes } from "../inventory/homes.ts";
import { type Downsampled, type DownsampledRequest, steps_max } from "../store.ts";
import { within } from "./block-codec.ts";
import { BlockReader } from "./blocks.ts";
import type { ReadingKey } from "./readings.ts";
import { quoted, type SeriesColumn, valueColumns } from "./series-columns.ts";
import { type PlacedSeries, placedSeriesOf } from "./streams.ts";

/**
 * See `Store.downsampled`. Readings are read in columns, from old to new, in parts between which others are served and events are stamped: ../README.md has what
 * was measured beside it.
 *
 * @throws RangeError where the request is none that can be answered
 */
export async function downsampled(
  database: Pick<Database, "page">,
  homes: Homes,
  request: DownsampledRequest,
): Promise<Downsampled> {
  const steps = new Steps(checked(request));
  let after: ReadingKey | undefined = [request.from_ms, 0];
  for (;;) {
    const from: ReadingKey = after;
    const part: Part = await database.page(() => partAfter(homes, request, from));
    for (const columns of part.columns) steps.add(columns);
    after = part.next;
    if (after === undefined) return steps;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function checked(request: DownsampledRequest): DownsampledRequest {
  const { series, from_ms, before_ms, step_ms, field, mask, only } = request;
  const { fields } = seriesOf(series);
  const sql = fields[field]?.sql;
  if (sql === undefined || sql === "TEXT")
    throw new RangeError(`${series} has no numbers in a field ${field}`);
  if (only !== undefined && fields[only.field] === undefined)
    throw new RangeError(`${series} has no field ${only.field}`);
  if (mask !== undefined && (sql !== "INTEGER" || !(Number.isInteger(mask) && mask > 0 && mask < 2 ** 31)))
    throw new RangeError(`${mask} is no mask of bits of ${field}`);
  if (![from_ms, before_ms, step_ms].every(Number.isSafeInteger) || step_ms < 1 || from_ms < 0)
    throw new RangeError("steps are of whole milliseconds, and begin in 1970 at the earliest");
  if (stepsOf(request) > steps_max) throw new RangeError(`more than ${steps_max} steps are too many`);
  return request;
}

function stepsOf({ from_ms, before_ms, step_ms }: DownsampledRequest): number {
  return Math.max(0, Math.ceil((before_ms - from_ms) / step_ms));
}

/** Some readings from old to new: the step that each is in, and the field that is asked for, null as NaN. */
interface Columns {
  readonly steps: ArrayLike<number>;
  readonly fields: ArrayLike<number>;
}

/** The steps of an answer, which readings are added to. */
class Steps implements Downsampled {
  readonly count: Uint32Array;
  readonly nonzero: Uint32Array;
  readonly least: Float64Array;
  readonly greatest: Float64Array;
  readonly sum: Float64Array;
  readonly last: Float64Array;
  readonly #mask: number | undefined;

  constructor(request: DownsampledRequest) {
    const steps = stepsOf(request);
    const none = () => new Float64Array(steps).fill(Number.NaN);
    [this.count, this.nonzero] = [new Uint32Array(steps), new Uint32Array(steps)];
    [this.least, this.greatest, this.sum, this.last] = [none(), none(), none(), none()];
    this.#mask = request.mask;
  }

  /** Adds readings that are later than all before. Where JavaScript is interpreted calls and arrays are what costs: those of a step are written at once. */
  add({ steps, fields }: Columns): void {
    const mask = this.#mask;
    const { count, nonzero, least, greatest, sum, last } = this;
    let index = 0;
    while (index < steps.length) {
      const step = steps[index] as number;
      const start = index;
      let some = 0;
      let low = Number.POSITIVE_INFINITY;
      let high = Number.NEGATIVE_INFINITY;
      let total = 0;
      let value = 0;
      do {
        const field = fields[index] as number;
        index += 1;
        if (Number.isNaN(field)) continue;
        value = mask === undefined ? field : field & mask;
        if (value !== 0) some += 1;
        if (value < low) low = value;
        if (value > high) high = value;
        total += value;
      } while (steps[index] === step);
      count[step] = (count[step] as number) + index - start;
      if (low > high) continue;
      nonzero[step] = (nonzero[step] as number) + some;
      last[step] = value;
      const before = sum[step] as number;
      const isFirst = Number.isNaN(before);
      sum[step] = isFirst ? total : before + total;
      if (isFirst || low < (least[step] as number)) least[step] = low;
      if (isFirst || high > (greatest[step] as number)) greatest[step] = high;
    }
  }
}

/** Some of the readings of a request. */
interface Part {
  readonly columns: readonly Columns[];
  /** How many have been read, those included that are not asked for. */
  readonly read: number;
  /** The last of them, where there may be more. */
  readonly next?: ReadingKey;
}

/** The readings of an item after one, stay by stay: up to `part_readings`, and as many as a block has more. To be read at one moment. */
function* partAfter(homes: Homes, request: DownsampledRequest, after: ReadingKey): Work<Part> {
  const columns: Columns[] = [];
  let read = 0;
  for (const run of (yield* placedSeriesOf(homes, request)).reverse()) {
    const from: ReadingKey = run.from_ms > after[0] ? [run.from_ms, 0] : after;
    const before_ms = Math.min(request.before_ms, run.before_ms);
    if (before_ms <= from[0]) continue;
    for (const kind of [blocksAfter, rowsAfter]) {
      const part: Part = yield* kind(run, request, { after: from, before_ms, limit: part_readings - read });
      columns.push(...part.columns);
      read += part.read;
      if (part.next !== undefined) return { columns, read, next: part.next };
    }
  }
  return { columns, read };
}

interface Asked {
  readonly after: ReadingKey;
  readonly before_ms: number;
  /** Readings, at least one: where so many have been read there may be more. */
  readonly limit: number;
}

/** Those of a run that are in blocks, whole blocks of them. */
function* blocksAfter(
  run: PlacedSeries,
  request: DownsampledRequest,
  { after, before_ms, limit }: Asked,
): Work<Part> {
  const [stamp_ms, number] = after;
  const columns: Columns[] = [];
  let read = 0;
  const walk = new BlockReader(run, { from_ms: stamp_ms, before_ms }, 1);
  for (let block = yield* walk.next(); block !== undefined; block = yield* walk.next()) {
    if (block.last_stamp === stamp_ms && block.max_seq <= number) continue;
    const readings = block.readings();
    let [start, end] = within(readings, stamp_ms, before_ms);
    while (start < end && readings.stamp_ms[start] === stamp_ms && (readings.seq[start] as number) <= number)
      start += 1;
    if (start === end) continue;
    columns.push(chosen(request, readings, start, end));
    read += end - start;
    const next: ReadingKey = [readings.stamp_ms[end - 1] as number, readings.seq[end - 1] as number];
    if (read >= limit) return { columns, read, next };
  }
  return { columns, read };
}

/** Readings of a block from one index up to another, as far as they are asked for. */
function chosen(
  { series, field, only, from_ms, step_ms }: DownsampledRequest,
  readings: ReadingColumns,
  start: number,
  end: number,
): Columns {
  const column = (name: string) => readings.values[placeOf(series, name)] as ValueColumn;
  const stepOf = (stamp_ms: number) => Math.floor((stamp_ms - from_ms) / step_ms);
  const steps = readings.stamp_ms.subarray(start, end).map(stepOf);
  const fields = (column(field) as Float64Array).subarray(start, end);
  if (only === undefined) return { steps, fields };
  const others = column(only.field);
  const isChosen = (_: number, index: number) => others[start + index] === only.value;
  return { steps: steps.filter(isChosen), fields: fields.filter(isChosen) };
}

function placeOf(series: SeriesName, name: string): number {
  return valueColumns(series).findIndex((column) => column.name === name);
}

/** Those of a run that are rows. The database makes text of each column, which is read several times as fast as rows are. */
function* rowsAfter(
  run: PlacedSeries,
  request: DownsampledRequest,
  { after, before_ms, limit }: Asked,
): Work<Part> {
  const { homes, series, stream, home, rows_from } = run;
  const { field, only, from_ms, step_ms } = request;
  if (before_ms <= rows_from) return { columns: [], read: 0 };
  const bounds = [stream, home, ...after, before_ms, limit, from_ms, step_ms];
  const given = only === undefined ? bounds : [...bounds, only.value];
  const row = yield* firstOf(arrays<PartRow>(partSql(homes, series, field, only?.field), ...given));
  const [read = 0, last_ms = 0, numbers = "", steps, values] = row ?? [];
  const parsed = (text: string | null | undefined) => JSON.parse(text ?? "[]") as number[];
  const { nullable } = valueColumns(series)[placeOf(series, field)] as SeriesColumn;
  const fields = nullable ? (columnOf("REAL", parsed(values)) as Float64Array) : parsed(values);
  const columns = [{ steps: parsed(steps), fields }];
  if (read < limit) return { columns, read };
  const last = Number(numbers?.slice(numbers.lastIndexOf(",") + 1, -1).replace("[", ""));
  return { columns, read, next: [last_ms ?? 0, last] };
}

/** How many there are, the stamp of the last, and lists in JSON: all numbers, then steps and fields of those that are asked for. Null is none. */
type PartRow = [
  read: number,
  last_ms: number | null,
  numbers: string | null,
  steps: string | null,
  fields: string | null,
];

function partSql(homes: Homes, series: SeriesName, field: string, only: string | undefined): string {
  const [choice, filter] =
    only === undefined ? ["", ""] : [`, ${quoted([only])} = $9 AS chosen`, " FILTER (WHERE chosen)"];
  // The bound on the stamp alone is what an index is searched by.
  return `SELECT count(*), max(stamp), json_agg(seq)::text, (json_agg(step)${filter})::text, (json_agg(field)${filter})::text
    FROM (
      SELECT stamp, seq, (stamp - $7) / $8 AS step, ${quoted([field])} AS field${choice} FROM ${series}
      WHERE stream = $1${homes.is("$2")} AND stamp >= $3 AND (stamp, seq) > ($3, $4) AND stamp < $5
      ORDER BY stamp, seq LIMIT $6
    ) AS part`;
}

/** Readings that are read without a pause: what a gateway stamps waits for so long. */
const part_readings = 10_000;
