import { day_ms } from "../../durations.ts";
import type { Item } from "../../records/items.ts";
import { type SeriesName, seriesNames, seriesOf } from "../../series.ts";
import type { Batch, BatchDevice } from "../batch.ts";
import { BatchColumns } from "../batch-columns.ts";
import type { CentralStore, HistoryPosition } from "../central-store.ts";
import { deviceOfItem } from "../provisional-item.ts";
import type { SqlRunner } from "./connection.ts";
import { spanStart } from "./count-spans.ts";
import { rowColumns, type StoredRow } from "./reading-rows.ts";

/**
 * Reads what the items of a home have ever told, old to new: see `CentralStore.history`. To be read in one snapshot. `epoch` is the name
 * that the readings are numbered under.
 */
export async function history(
  sql: SqlRunner,
  epoch: string,
  { home, from_ms, after, readings_max }: Parameters<CentralStore["history"]>[0],
): Promise<{ batch: Batch; position: HistoryPosition } | undefined> {
  const items = await sql<ItemRow[]>`
    SELECT key, record, provisional FROM items WHERE currenthomeid = ${home} ORDER BY key`;
  const start: Position = after === undefined ? [from_ms, 0] : positionOf(after.at);
  const keys = items.map(({ key }) => key);
  const before_ms = await endOf(sql, keys, start[0], readings_max);
  const read = await Promise.all(
    seriesNames.map(async (series) => {
      const rows = await rowsOf(sql, { series, keys, start, before_ms, readings_max });
      return rows.map((row) => ({ series, row }));
    }),
  );
  const readings = read
    .flat()
    .sort(({ row: one }, { row: other }) => one[1] - other[1] || one[2] - other[2])
    .slice(0, readings_max);
  const last = readings.at(-1);
  if (last === undefined) return undefined;
  const from_seq = (after?.seq ?? 0) + 1;
  const to_seq = from_seq + readings.length - 1;
  const columns = new BatchColumns();
  const devices = new Devices(items);
  for (const [index, { series, row }] of readings.entries()) {
    columns.add(series, devices.of(row[0], series), from_seq + index, row);
  }
  const batch = { epoch, first_seq: 1, from_seq, to_seq, missing: [], ...columns.columns() };
  return { batch, position: { seq: to_seq, at: `${last.row[1]} ${last.row[2]}` } };
}

/** A stamp up to which there are about as many readings as are wanted, so that no more has to be sorted; by whole days. */
async function endOf(
  sql: SqlRunner,
  items: readonly number[],
  from_ms: number,
  readings_max: number,
): Promise<number> {
  const first = spanStart(from_ms, day_ms);
  const [end] = await sql<{ start: number | null }[]>`
    SELECT min(start) AS start FROM (
      SELECT start, sum(sum(count)) OVER (ORDER BY start) AS passed FROM counts
      WHERE item = ANY (${[...items]}::bigint[]) AND width = ${day_ms} AND start >= ${first}
      GROUP BY start
    ) AS days
    WHERE start > ${first} AND passed >= ${readings_max}::bigint + coalesce((
      SELECT sum(count) FROM counts WHERE item = ANY (${[...items]}::bigint[]) AND width = ${day_ms} AND start = ${first}), 0)`;
  return end?.start == null ? Number.MAX_SAFE_INTEGER : end.start + day_ms;
}

async function rowsOf(
  sql: SqlRunner,
  of: {
    series: SeriesName;
    keys: readonly number[];
    start: Position;
    before_ms: number;
    readings_max: number;
  },
): Promise<StoredRow[]> {
  const { series, keys, start, before_ms, readings_max } = of;
  const rows = await sql
    .unsafe(
      `SELECT ${rowColumns[series]} FROM ${series}
       WHERE item = ANY ($1::bigint[]) AND stamp >= $2 AND (stamp, seq) > ($2, $3) AND stamp < $4
       ORDER BY stamp, seq LIMIT $5`,
      [[...keys], ...start, before_ms, readings_max],
      { prepare: true },
    )
    .values();
  return rows as unknown as StoredRow[];
}

/** The devices of readings: the same object for the same device, as `BatchColumns` asks. */
class Devices {
  readonly #rows: ReadonlyMap<number, ItemRow>;
  readonly #made = new Map<string, BatchDevice>();

  constructor(items: readonly ItemRow[]) {
    this.#rows = new Map(items.map((row) => [row.key, row]));
  }

  of(item: number, series: SeriesName): BatchDevice {
    // Of the readings, whatever the inventory has made of the item since.
    const { kind } = seriesOf(series);
    const name = `${item} ${kind}`;
    const made = this.#made.get(name);
    if (made !== undefined) return made;
    const { record, provisional } = this.#rows.get(item) as ItemRow;
    const device = { ...deviceOfItem(JSON.parse(record) as Item, provisional), kind };
    this.#made.set(name, device);
    return device;
  }
}

interface ItemRow {
  readonly key: number;
  readonly record: string;
  readonly provisional: boolean;
}

type Position = readonly [stamp_ms: number, own: number];

function positionOf(at: string): Position {
  const [stamp_ms, own] = at.split(" ").map(Number);
  if (!Number.isSafeInteger(stamp_ms) || !Number.isSafeInteger(own)) {
    throw new RangeError(`${at} is no position in a history`);
  }
  return [stamp_ms as number, own as number];
}
