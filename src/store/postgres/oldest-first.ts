import { seriesOf } from "../../series.ts";
import { forEverySeries, quoted } from "../core/series-tables.ts";
import type { OldestFirst, OldestFirstRequest, ReadingRow } from "../store.ts";
import type { AmongHomes } from "./citus.ts";
import type { Connections } from "./connection.ts";

/** Reads series from old to new, along their index. */
export class OldestFirstReads {
  readonly #connections: Connections;
  readonly #amongHomes: AmongHomes;

  constructor(connections: Connections, amongHomes: AmongHomes) {
    this.#connections = connections;
    this.#amongHomes = amongHomes;
  }

  async read({ series, item, from_ms, before_ms, after, limit }: OldestFirstRequest): Promise<OldestFirst> {
    // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
    const start = after ?? { stamp_ms: from_ms, seq: 0 };
    const parameters = [item, start.stamp_ms, start.seq, before_ms, limit];
    const read: unknown[] = await this.#connections.readPage(async (sql) => {
      const text = texts[series](await this.#amongHomes(sql, item));
      return await sql.unsafe(text, parameters, { prepare: true }).values();
    });
    const rows = read as Row[];
    const last = rows.at(-1);
    return {
      rows: rows.map(([, ...row]) => row),
      ...(last === undefined || read.length < limit ? {} : { next: { stamp_ms: last[1], seq: last[0] } }),
    };
  }
}

type Row = [seq: number, ...row: ReadingRow];

const texts = forEverySeries((series) => {
  const columns = quoted(["seq", "stamp", ...Object.keys(seriesOf(series).fields)]);
  // The bound on the stamp alone tells which partitions are in question.
  return (among: string) => `SELECT ${columns} FROM ${series}
    WHERE item = $1${among} AND stamp >= $2 AND (stamp, seq) > ($2, $3) AND stamp < $4 ORDER BY stamp, seq LIMIT $5`;
});
