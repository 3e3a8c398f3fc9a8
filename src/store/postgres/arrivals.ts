import { seriesOf } from "../../series.ts";
import { type ArrivalRow, arrivalsFrom, arrivedBefore } from "../arrival.ts";
import { forEverySeries, quoted } from "../core/series-tables.ts";
import type { Arrivals, ArrivalsRequest } from "../store.ts";
import type { AmongHomes } from "./citus.ts";
import type { Connections } from "./connection.ts";
import { headOf } from "./ranks.ts";

/** Reads a series of an item in order of arrival: see ../README.md. */
export class ArrivalReads {
  readonly #connections: Connections;
  readonly #amongHomes: AmongHomes;
  readonly #epoch: string;

  constructor(options: { connections: Connections; amongHomes: AmongHomes; epoch: string }) {
    this.#connections = options.connections;
    this.#amongHomes = options.amongHomes;
    this.#epoch = options.epoch;
  }

  read(request: ArrivalsRequest): Promise<Arrivals | undefined> {
    const { series, item, span, limit } = request;
    return this.#connections.snapshotPage(async (sql) => {
      const among = await this.#amongHomes(sql, item);
      const head = await headOf({ sql, series, item, among });
      const state = { epoch: this.#epoch, last_seq: head?.newest_number ?? 0, revision: head?.revision ?? 0 };
      const from = arrivedBefore(request, state);
      if (from === undefined) return undefined;
      const text = texts[series];
      const [inOrder, late] = await Promise.all([
        sql
          .unsafe(text.inOrder(among), [item, from.stamp_ms, from.seq, span.before_ms, limit], {
            prepare: true,
          })
          .values(),
        sql
          .unsafe(text.late(among), [item, from.seq, span.from_ms, span.before_ms, limit], { prepare: true })
          .values(),
      ]);
      return arrivalsFrom(request, from, inOrder as unknown as ArrivalRow[], late as unknown as ArrivalRow[]);
    });
  }
}

const texts = forEverySeries((series) => {
  const columns = quoted(["seq", "stamp", ...Object.keys(seriesOf(series).fields)]);
  return {
    // The bound on the stamp alone tells which partitions are in question.
    inOrder: (among: string) => `SELECT ${columns} FROM ${series} AS reading
      WHERE item = $1${among} AND stamp >= $2 AND (stamp, seq) > ($2, $3) AND stamp < $4 AND NOT EXISTS (
        SELECT 1 FROM late WHERE late.series = '${series}'
          AND late.item = reading.item AND late.seq = reading.seq AND late.home = reading.home)
      ORDER BY stamp, seq LIMIT $5`,
    late: (among: string) => `SELECT ${columns} FROM (
        SELECT * FROM late WHERE series = '${series}' AND item = $1${among} AND seq > $2 AND stamp >= $3 AND stamp < $4
        ORDER BY seq LIMIT $5) AS listed
      JOIN ${series} AS reading USING (item, stamp, seq, home) ORDER BY listed.seq`,
  };
});
