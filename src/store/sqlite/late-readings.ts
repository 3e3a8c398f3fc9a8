import type { SeriesName } from "../../series.ts";
import { forEverySeries } from "../core/series-tables.ts";
import type { Connection } from "./connection.ts";

/**
 * Keeps the list of late readings: those with a stamp below one that their series of their item had when they came. Without them a run of
 * the key is in the order of arrival. Works inside the caller's transaction.
 */
export class LateReadings {
  readonly #add;
  readonly #clear;
  readonly #find;

  constructor(database: Connection) {
    this.#add = database.keep("INSERT OR IGNORE INTO late (series, item, seq, stamp) VALUES (?, ?, ?, ?)");
    this.#clear = database.keep("DELETE FROM late WHERE series = ? AND item = ?");
    this.#find = forEverySeries((series) =>
      database.keep(
        `INSERT INTO late (series, item, seq, stamp)
         SELECT '${series}', item, seq, stamp FROM (
           SELECT item, seq, stamp, min(seq) OVER (
             ORDER BY stamp DESC, seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least_newer
           FROM ${series} WHERE item = ?)
         WHERE least_newer < seq`,
      ),
    );
  }

  add(series: SeriesName, item: number, seq: number, stamp: number): void {
    this.#add.run(series, item, seq, stamp);
  }

  /** Makes the list of a series of an item anew from its rows, walking all of them. */
  findAgain(series: SeriesName, item: number): void {
    this.#clear.run(series, item);
    this.#find[series].run(item);
  }
}
