import { SystemClock } from "../../../../src/base/clock.ts";
import { seriesNames } from "../../../../src/domain/series.ts";
import type { Batch } from "../../../../src/store/batch.ts";
import { PostgresConnections } from "../../../../src/store/postgres/connections.ts";
import { copyIn, copyOf } from "../../../../src/store/postgres/copy.ts";
import { migrate } from "../../../../src/store/postgres/schema.ts";
import { byDevice } from "../../../../src/store/series/series-rows.ts";
import { postgresServer } from "../../../../testbed/postgres/server.ts";

/** The rows of a batch as they are stored, in the binary form of COPY: so copying them is all that is left. */
export type Ready = readonly { readonly statement: string; readonly chunks: readonly Buffer[] }[];

/** COPY into tables as central has them, with the same keys, and nothing else: no items, counts or watermarks. */
export class BareCopy implements AsyncDisposable {
  readonly #connections: PostgresConnections;
  readonly #drop: () => Promise<void>;

  private constructor(connections: PostgresConnections, drop: () => Promise<void>) {
    this.#connections = connections;
    this.#drop = drop;
  }

  static async open(): Promise<BareCopy> {
    const database = await (await postgresServer()).database();
    const connections = new PostgresConnections(database.url, new SystemClock());
    await migrate(connections, "bare");
    return new BareCopy(connections, async () => database[Symbol.asyncDispose]());
  }

  /** The rows sorted by stream, as central's are: that is the faster order for PostgreSQL. */
  async ready(batch: Batch): Promise<Ready> {
    const home = Number.parseInt(batch.epoch, 16);
    const ready = [];
    for (const series of seriesNames) {
      const columns = batch.series[series];
      if (columns === undefined) continue;
      const { statement, chunks } = copyOf({
        series,
        home,
        columns,
        order: byDevice(columns.device, 0, batch.devices.length),
        stream: Float64Array.from(columns.device, (place) => home * batch.devices.length + place),
        own: Float64Array.from(columns.seq, (seq) => home * 1e9 + seq),
      });
      ready.push({ statement, chunks: Array.from(chunks, (chunk) => Buffer.from(chunk)) });
    }
    return ready;
  }

  /** One transaction for each batch, one after the other on one connection. */
  async copy(batches: readonly Ready[]): Promise<void> {
    for (const batch of batches) {
      await this.#connections.write(async (sql) => {
        for (const { statement, chunks } of batch) await copyIn(sql, statement, chunks);
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connections.close();
    await this.#drop();
  }
}
