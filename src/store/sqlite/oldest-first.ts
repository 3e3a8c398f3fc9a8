import { seriesOf } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { OldestFirst, OldestFirstRequest, ReadingRow } from "../store.ts";
import type { Connection } from "./connection.ts";

/** Reads series from old to new, along the order in which they are clustered. */
export class OldestFirstReads {
  readonly #sql;

  constructor(database: Connection) {
    this.#sql = forEverySeries((series) =>
      database.keep(
        `SELECT ${["seq", "stamp", ...Object.keys(seriesOf(series).fields)].join(", ")} FROM ${series}
         WHERE item = ? AND (stamp, seq) > (?, ?) AND stamp < ? ORDER BY stamp, seq LIMIT ?`,
      ),
    );
  }

  read({ series, item, from_ms, before_ms, after, limit }: OldestFirstRequest): OldestFirst {
    // Numbers begin at 1, so that number 0 stands before every reading of its millisecond.
    const start = after ?? { stamp_ms: from_ms, seq: 0 };
    const read = this.#sql[series].values(item, start.stamp_ms, start.seq, before_ms, limit) as [
      seq: number,
      ...row: ReadingRow,
    ][];
    const last = read.at(-1);
    return {
      rows: read.map(([, ...row]) => row),
      ...(last === undefined || read.length < limit ? {} : { next: { stamp_ms: last[1], seq: last[0] } }),
    };
  }
}
