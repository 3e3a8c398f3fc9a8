import { day_ms } from "../../durations.ts";
import type { SeriesName, Value } from "../../series.ts";
import { type Batch, batch_readings_max, valuesAt } from "../batch.ts";
import { refuseForeign } from "../batch-acceptance.ts";
import { BatchRefused, type Repaired, type Sender } from "../central-store.ts";
import { recountDays } from "../core/count-spans.ts";
import { homesTogether } from "../core/homes.ts";
import { itemsOf, knownItem } from "../core/items.ts";
import { numbersOf, sourceOf } from "../core/sources.ts";
import type { OwnNumbers } from "../own-numbers.ts";
import type { DayReadings } from "../upload-store.ts";
import type { Connection } from "./connection.ts";
import type { Runner } from "./runner.ts";
import { insertSql, seriesColumns } from "./series-tables.ts";

/** Makes a day of a device what its gateway says it is, but removes nothing: see `CentralStore.repairDay`. Works inside the caller's transaction. */
export function repairDay(
  parts: { database: Connection; runner: Runner },
  request: DayReadings,
  batch: Batch,
  sender: Sender,
): Repaired {
  const source = parts.runner.run(sourceOf(request.epoch));
  if (source !== undefined) refuseForeign(request.epoch, source, sender);
  const columns = batch.series[request.series];
  const held_seq = source?.held_seq ?? 0;
  const last_seq = columns?.seq[columns.seq.length - 1] ?? 0;
  if (source === undefined || last_seq > held_seq) {
    throw new BatchRefused(
      `a day of home ${sender.home} was sent up to reading ${last_seq}, and ${held_seq} is the last that is held`,
      "upload first, then compare",
      "gap",
      held_seq,
    );
  }
  const from_ms = request.day * day_ms;
  if (columns === undefined || columns.seq.length === 0) {
    // Nothing to add; what is here stays.
    const item = parts.runner.run(knownItem(request));
    if (item === undefined) return { added: 0, corrected: 0, kept: 0 };
    const day = new Day(parts, {
      request,
      item,
      home: sender.home,
      numbers: parts.runner.run(numbersOf(source)),
    });
    return { added: 0, corrected: 0, kept: day.notAmong(new Set(), request.through_seq) };
  }
  const heard = [{ device: request, heard_ms: columns.stamp_ms[0] ?? from_ms }];
  const item = parts.runner.run(itemsOf(heard, sender.home))[0] as number;
  const day = new Day(parts, {
    request,
    item,
    home: sender.home,
    numbers: parts.runner.run(numbersOf(source)),
  });
  const sent = Array.from(columns.seq, (seq, index) => ({
    own: day.ownOf(seq),
    stamp: columns.stamp_ms[index] ?? 0,
    values: valuesAt(columns, index),
  }));
  const changed = day.take(sent);
  const through_seq = sent.length < batch_readings_max ? request.through_seq : batch.to_seq;
  return { ...changed, kept: day.notAmong(new Set(sent.map(({ own }) => own)), through_seq) };
}

/** Stored readings of one series of one item on one day. */
class Day {
  readonly #database: Connection;
  readonly #runner: Runner;
  readonly #series: SeriesName;
  readonly #item: number;
  readonly #home: number;
  readonly #numbers: OwnNumbers;
  readonly #after_seq: number;
  readonly #from_ms: number;
  /** By own number. */
  readonly #held: ReadonlyMap<number, Row>;

  constructor(
    { database, runner }: { database: Connection; runner: Runner },
    of: { request: DayReadings; item: number; home: number; numbers: OwnNumbers },
  ) {
    const { request, item } = of;
    this.#database = database;
    this.#runner = runner;
    this.#series = request.series;
    this.#item = item;
    this.#home = of.home;
    this.#numbers = of.numbers;
    this.#after_seq = request.after_seq;
    this.#from_ms = request.day * day_ms;
    const rows = this.#rows("item = ? AND stamp >= ? AND stamp < ?", item, this.#from_ms, this.#end_ms);
    this.#held = new Map(rows.map((row) => [row.own, row]));
  }

  get #end_ms(): number {
    return this.#from_ms + day_ms;
  }

  /** The own number of a number of the gateway, which is held. */
  ownOf(seq: number): number {
    const own = this.#numbers.ownOf(seq);
    if (own === undefined) throw new Error(`reading ${seq} of the epoch has no number here`);
    return own;
  }

  /** How many readings of the gateway, numbered up to `through_seq`, are held and not among these own numbers. */
  notAmong(sent: ReadonlySet<number>, through_seq: number): number {
    return [...this.#held.keys()].filter((own) => {
      const seq = this.#numbers.seqOf(own);
      return seq !== undefined && seq > this.#after_seq && seq <= through_seq && !sent.has(own);
    }).length;
  }

  take(sent: readonly Sent[]): { added: number; corrected: number } {
    const astray = this.#astray(sent.map(({ own }) => own).filter((own) => !this.#held.has(own)));
    let added = 0;
    let corrected = 0;
    for (const reading of sent) {
      const held = this.#held.get(reading.own) ?? astray.get(reading.own);
      if (held !== undefined && same(held, reading)) continue;
      if (held === undefined) added += 1;
      else {
        corrected += 1;
        this.#remove(held);
      }
      // A reading that the inventory has given to another item since stays there.
      const item = held?.item ?? this.#item;
      this.#put({ ...reading, item });
    }
    // Whatever made them differ may have left the counts wrong too.
    const days = new Map([[`${this.#item} ${this.#from_ms}`, [this.#item, this.#from_ms / day_ms] as const]]);
    for (const { item, stamp } of astray.values()) {
      const day = Math.floor(stamp / day_ms);
      days.set(`${item} ${day * day_ms}`, [item, day]);
    }
    const { series, home } = { series: this.#series, home: this.#home };
    const changed = added + corrected > 0;
    this.#runner.run(recountDays(homesTogether, { series, home, days: days.values(), changed }));
    return { added, corrected };
  }

  /**
   * Readings of these own numbers that stand elsewhere: under another stamp, or under another item that was heard in the home. Looks at everything,
   * because what moved them may have left the counts wrong.
   */
  #astray(own: readonly number[]): Map<number, Row> {
    if (own.length === 0) return new Map();
    const first = own.reduce((least, number) => Math.min(least, number));
    const last = own.reduce((most, number) => Math.max(most, number));
    const wanted = new Set(own);
    const rows = this.#rows(
      "item IN (SELECT item FROM item_homes WHERE home = ?) AND seq BETWEEN ? AND ?",
      this.#home,
      first,
      last,
    );
    return new Map(rows.filter((row) => wanted.has(row.own)).map((row) => [row.own, row]));
  }

  #rows(condition: string, ...parameters: number[]): Row[] {
    const columns = seriesColumns(this.#series).join(", ");
    const rows = this.#database
      .query(`SELECT ${columns} FROM ${this.#series} WHERE ${condition}`)
      .values(...parameters) as [number, number, number, ...Value[]][];
    return rows.map(([item, stamp, own, ...values]) => ({ item, stamp, own, values }));
  }

  #remove({ item, stamp, own }: Row): void {
    this.#database
      .query(`DELETE FROM ${this.#series} WHERE item = ? AND stamp = ? AND seq = ?`)
      .run(item, stamp, own);
  }

  #put({ item, stamp, own, values }: Row): void {
    this.#database.query(insertSql(this.#series)).run(item, stamp, own, ...values);
  }
}

interface Sent {
  readonly own: number;
  readonly stamp: number;
  /** As `seriesColumns` has them after the key. */
  readonly values: readonly Value[];
}

interface Row extends Sent {
  readonly item: number;
}

function same(held: Row, sent: Sent): boolean {
  return held.stamp === sent.stamp && JSON.stringify(held.values) === JSON.stringify(sent.values);
}
