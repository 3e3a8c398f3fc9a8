import { day_ms } from "../../durations.ts";
import type { SeriesName } from "../../series.ts";
import { type Batch, batch_readings_max, type SeriesColumns, valuesAt } from "../batch.ts";
import { refuseForeign } from "../batch-acceptance.ts";
import { BatchRefused, type Repaired, type Sender } from "../central-store.ts";
import { recountDays } from "../core/count-spans.ts";
import { homesApart } from "../core/homes.ts";
import { itemsOf, knownItem } from "../core/items.ts";
import { refuseMisfits } from "../core/series-rows.ts";
import { holdSource, numbersOf, type Source, sourceOf } from "../core/sources.ts";
import type { OwnNumbers } from "../own-numbers.ts";
import type { DayReadings } from "../upload-store.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { copyReadings } from "./copy-readings.ts";
import { run } from "./database.ts";
import { holdItems } from "./inventory-lock.ts";

import type { Partitions } from "./partitions.ts";
import { rowColumns, type StoredRow } from "./reading-rows.ts";

/** Makes a day of a device what its gateway says it is, but removes nothing: see `CentralStore.repairDay`. */
export class Mending {
  readonly #connections: Connections;
  readonly #partitions: Partitions;

  constructor(options: { connections: Connections; partitions: Partitions }) {
    this.#connections = options.connections;
    this.#partitions = options.partitions;
  }

  async repairDay(request: DayReadings, batch: Batch, sender: Sender): Promise<Repaired> {
    const { series, epoch } = request;
    const columns = batch.series[series] ?? nothing;
    const source = await this.#connections.read((sql) => run(sql, sourceOf(epoch)));
    refuseUnheld(source, request, columns, sender);
    refuseMisfits(series, columns, 0);
    await this.#partitions.make(series, columns.stamp_ms, 0);
    return this.#connections.write(async (sql) => {
      const held = await run(sql, holdSource(epoch, sender));
      const item = await this.#itemOf(sql, request, columns, sender);
      if (item === undefined) return { added: 0, corrected: 0, kept: 0 };
      const day = await Day.read(sql, {
        request,
        item,
        home: sender.home,
        numbers: await run(sql, numbersOf(held)),
      });
      const changed = await day.take(columns);
      const through_seq = columns.seq.length < batch_readings_max ? request.through_seq : batch.to_seq;
      return { ...changed, kept: day.notAmong(columns.seq, through_seq) };
    });
  }

  /** The item of the day's device; one that is unknown is made only where there is something to keep of it. */
  async #itemOf(
    sql: SqlRunner,
    request: DayReadings,
    columns: SeriesColumns,
    { home }: Sender,
  ): Promise<number | undefined> {
    if (columns.seq.length === 0) return run(sql, knownItem(request));
    const heard = [{ device: request, heard_ms: columns.stamp_ms[0] ?? 0 }];
    return (await run(sql, itemsOf(heard, home)))[0];
  }
}

function refuseUnheld(
  source: Source | undefined,
  { epoch }: DayReadings,
  { seq }: SeriesColumns,
  sender: Sender,
): asserts source is Source {
  if (source !== undefined) refuseForeign(epoch, source, sender);
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

/** Stored readings of one series of one item on one day, inside the transaction that mends it. */
class Day {
  readonly #sql: SqlRunner;
  readonly #request: DayReadings;
  readonly #item: number;
  readonly #home: number;
  readonly #numbers: OwnNumbers;
  /** By own number. */
  readonly #held: ReadonlyMap<number, StoredRow>;

  static async read(sql: SqlRunner, of: DayOf): Promise<Day> {
    const from_ms = of.request.day * day_ms;
    const held = await rowsOf(
      sql,
      of.request.series,
      "item = $1 AND home = $2 AND stamp >= $3 AND stamp < $4",
      [...[of.item, of.home], ...[from_ms, from_ms + day_ms]],
    );
    return new Day(sql, of, held);
  }

  private constructor(sql: SqlRunner, { request, item, home, numbers }: DayOf, held: readonly StoredRow[]) {
    this.#sql = sql;
    this.#request = request;
    this.#item = item;
    this.#home = home;
    this.#numbers = numbers;
    this.#held = byOwn(held);
  }

  /** How many readings of the gateway, numbered up to `through_seq`, are held and not among those that were sent. */
  notAmong(sent: Float64Array, through_seq: number): number {
    const known = new Set(sent);
    return [...this.#held.keys()].filter((own) => {
      const seq = this.#numbers.seqOf(own);
      return seq !== undefined && seq > this.#request.after_seq && seq <= through_seq && !known.has(seq);
    }).length;
  }

  async take(columns: SeriesColumns): Promise<{ added: number; corrected: number }> {
    const own = columns.seq.map((seq) => this.#ownOf(seq));
    const astray = await this.#astray(own.filter((number) => !this.#held.has(number)));
    const item = new Float64Array(own.length);
    const order: number[] = [];
    const gone: StoredRow[] = [];
    for (const [index, number] of own.entries()) {
      const held = this.#held.get(number) ?? astray.get(number);
      if (held !== undefined && same(held, columns, index)) continue;
      if (held !== undefined) gone.push(held);
      // A reading that the inventory has given to another item since stays there.
      item[index] = held?.[0] ?? this.#item;
      order.push(index);
    }
    const { series } = this.#request;
    const items = [...new Set([this.#item, ...order.map((index) => item[index] as number)])];
    await holdItems(this.#sql, items);
    await this.#remove(gone);
    await copyReadings(this.#sql, {
      series,
      home: this.#home,
      columns,
      order: Uint32Array.from(order),
      item,
      own,
    });
    await this.#recount([...astray.values()], order.length > 0);
    return { added: order.length - gone.length, corrected: gone.length };
  }

  #ownOf(seq: number): number {
    const own = this.#numbers.ownOf(seq);
    if (own === undefined) throw new Error(`reading ${seq} of the epoch has no number here`);
    return own;
  }

  /** Readings of these own numbers that stand elsewhere: under another stamp, or under another item that was heard in the home. */
  async #astray(own: Float64Array): Promise<Map<number, StoredRow>> {
    if (own.length === 0) return new Map();
    const { series } = this.#request;
    const heard = await this.#sql<{ item: number }[]>`
      SELECT item FROM totals WHERE home = ${this.#home} AND series = ${series}`;
    const rows = await rowsOf(
      this.#sql,
      series,
      "item = ANY ($1::bigint[]) AND home = $2 AND seq = ANY ($3::bigint[])",
      [heard.map(({ item }) => item), this.#home, [...own]],
    );
    return byOwn(rows);
  }

  async #remove(rows: readonly StoredRow[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#sql.unsafe(
      `DELETE FROM ${this.#request.series} USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS gone (i, t, n)
       WHERE item = i AND stamp = t AND seq = n AND home = $4`,
      [rows.map(([item]) => item), rows.map(([, stamp]) => stamp), rows.map(([, , own]) => own), this.#home],
    );
  }

  /** Counts anew: whatever made the two differ may have left the counts wrong too. */
  async #recount(astray: readonly StoredRow[], changed: boolean): Promise<void> {
    const { series, day } = this.#request;
    const days = new Map([[`${this.#item} ${day}`, [this.#item, day] as const]]);
    for (const [item, stamp_ms] of astray) {
      const other = Math.floor(stamp_ms / day_ms);
      days.set(`${item} ${other}`, [item, other]);
    }
    const of = { series, home: this.#home, days: days.values(), changed };
    await run(this.#sql, recountDays(homesApart({ distributed: false }), of));
  }
}

interface DayOf {
  readonly request: DayReadings;
  readonly item: number;
  readonly home: number;
  readonly numbers: OwnNumbers;
}

async function rowsOf(
  sql: SqlRunner,
  series: SeriesName,
  condition: string,
  parameters: (number | readonly number[])[],
): Promise<StoredRow[]> {
  const text = `SELECT ${rowColumns[series]} FROM ${series} WHERE ${condition}`;
  const rows = await sql.unsafe(text, parameters as number[]).values();
  return rows as unknown as StoredRow[];
}

function byOwn(rows: readonly StoredRow[]): Map<number, StoredRow> {
  return new Map(rows.map((row) => [row[2], row]));
}

function same([, stamp_ms, , ...values]: StoredRow, columns: SeriesColumns, index: number): boolean {
  return (
    stamp_ms === columns.stamp_ms[index] &&
    JSON.stringify(values) === JSON.stringify(valuesAt(columns, index))
  );
}

const none = new Float64Array();
const nothing: SeriesColumns = { seq: none, device: none, stamp_ms: none, values: [] };
