import { seriesNames } from "../../series.ts";
import type { Batch } from "../batch.ts";
import { devicesFrom, digestAt, firstIndexFrom, firstNewSeq } from "../batch-acceptance.ts";
import type { Received, Sender } from "../central-store.ts";
import { Additions } from "../core/additions.ts";
import { homesApart } from "../core/homes.ts";
import { heardFrom, itemsOf, prepareItems } from "../core/items.ts";
import { byDevice, refuseMisfits } from "../core/series-rows.ts";
import { holdSource, noteHeld, sourceOf } from "../core/sources.ts";
import type { Connections, SqlRunner } from "./connection.ts";
import { type PostgresDatabase, run } from "./database.ts";
import { holdItems } from "./inventory-lock.ts";
import type { Partitions } from "./partitions.ts";

/** Takes in batches: see `CentralStore.receive`. */
export class Receiving {
  readonly #connections: Connections;
  readonly #partitions: Partitions;
  readonly #database: PostgresDatabase;

  constructor(options: { connections: Connections; partitions: Partitions; database: PostgresDatabase }) {
    this.#connections = options.connections;
    this.#partitions = options.partitions;
    this.#database = options.database;
  }

  async receive(batch: Batch, sender: Sender): Promise<Received> {
    const known = await this.#connections.read((sql) => run(sql, sourceOf(batch.epoch)));
    const from = firstNewSeq(batch, known, sender);
    if (from === undefined) return { held_seq: known?.held_seq ?? 0, taken: 0 };
    await this.#prepare(batch, from, sender);
    return this.#connections.write(async (sql) => {
      const source = await run(sql, holdSource(batch.epoch, sender));
      // Another connection may have brought some of it since.
      const from_seq = firstNewSeq(batch, source, sender);
      if (from_seq === undefined) return { held_seq: source.held_seq, taken: 0 };
      const { first_own, taken } = await this.#take(sql, batch, from_seq, sender);
      const { first_seq, to_seq } = batch;
      const digest = digestAt(batch, to_seq);
      const what = { first_seq, digest, at_ms: sender.at_ms };
      await run(sql, noteHeld(source, { first_own, from_seq, to_seq }, what));
      return { held_seq: to_seq, taken };
    });
  }

  /**
   * Makes the partitions and items that the batch needs, in short transactions of its own, so that no other transaction
   * waits for a long one.
   */
  async #prepare(batch: Batch, from_seq: number, { home }: Sender): Promise<void> {
    for (const series of seriesNames) {
      const columns = batch.series[series];
      if (columns === undefined) continue;
      const first = firstIndexFrom(columns.seq, from_seq);
      refuseMisfits(series, columns, first);
      await this.#partitions.make(series, columns.stamp_ms, first);
    }
    await prepareItems(this.#database, heardFrom(batch, from_seq), home);
  }

  async #take(
    sql: SqlRunner,
    batch: Batch,
    from_seq: number,
    { home }: Sender,
  ): Promise<{ first_own: number; taken: number }> {
    const heard = devicesFrom(batch, from_seq);
    const keys = await run(sql, itemsOf(heardFrom(batch, from_seq), home));
    const keyOf = new Float64Array(batch.devices.length);
    for (const [index, { place }] of heard.entries()) keyOf[place] = keys[index] as number;
    const first_own = await numbersFor(sql, keys, batch.to_seq - from_seq + 1);
    const additions = new Additions(homesApart({ distributed: false }));
    let taken = 0;
    for (const series of seriesNames) {
      const columns = batch.series[series];
      if (columns === undefined) continue;
      const { seq, device } = columns;
      const order = byDevice(device, firstIndexFrom(seq, from_seq), batch.devices.length);
      if (order.length === 0) continue;
      const item = device.map((place) => keyOf[place] as number);
      const own = seq.map((number) => first_own + number - from_seq);
      await run(sql, additions.put({ series, home, columns, order, item, own }));
      taken += order.length;
    }
    await run(sql, additions.settle());
    return { first_own, taken };
  }
}

/**
 * Takes consecutive numbers. A transaction with readings of one of the items waits here for the end of the one before it.
 * So of the readings of an item a lower number is never committed after a higher one, and a page that counts readings up
 * to a number stays right.
 */
async function numbersFor(sql: SqlRunner, items: readonly number[], amount: number): Promise<number> {
  const [, [taken]] = await Promise.all([
    holdItems(sql, items),
    sql<{ first: number }[]>`SELECT take_numbers(${amount}::bigint) AS first`,
  ]);
  return taken?.first as number;
}
