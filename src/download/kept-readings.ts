import type { Database } from "bun:sqlite";
import type { HeldRow, Run } from "./held-readings.ts";
import { packed, unpacked } from "./packed-rows.ts";

/**
 * Readings that were received and are not among those that the server is known to have: it has cleared them away, or
 * they are about to be received again. They belong to what a download holds all the same.
 *
 * A reading is never both here and among the pages: whoever adds a page releases what it has, in one transaction.
 */
export class KeptReadings {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
    database.run(schema);
  }

  /** @param rows newest first */
  keep({ series, item }: Run, rows: readonly HeldRow[]): void {
    const [newest, oldest] = [rows[0], rows.at(-1)];
    if (newest === undefined || oldest === undefined) return;
    this.#database
      .query("INSERT INTO kept (series, item, count, oldest_ms, newest_ms, rows) VALUES (?, ?, ?, ?, ?, ?)")
      .run(series, item, rows.length, oldest[0], newest[0], packed(rows));
  }

  /** Lets go of readings equal to these, one for one. */
  release(run: Run, rows: readonly HeldRow[]): void {
    const [newest, oldest] = [rows[0], rows.at(-1)];
    if (newest === undefined || oldest === undefined) return;
    const beside = this.#database
      .query(
        "SELECT id, rows FROM kept WHERE series = ? AND item = ? AND oldest_ms <= ? AND newest_ms >= ? ORDER BY id",
      )
      .values(run.series, run.item, newest[0], oldest[0]);
    if (beside.length === 0) return;
    const wanted = new Map<string, number>();
    for (const row of rows) {
      const text = JSON.stringify(row);
      wanted.set(text, (wanted.get(text) ?? 0) + 1);
    }
    for (const [id, bytes] of beside) {
      const before = unpacked(bytes as Uint8Array);
      const after = before.filter((row) => {
        const text = JSON.stringify(row);
        const count = wanted.get(text) ?? 0;
        if (count > 0) wanted.set(text, count - 1);
        return count === 0;
      });
      if (after.length === before.length) continue;
      this.#database.query("DELETE FROM kept WHERE id = ?").run(Number(id));
      this.keep(run, after);
    }
  }

  count({ series, item }: Run): number {
    const [row] = this.#database
      .query("SELECT coalesce(sum(count), 0) FROM kept WHERE series = ? AND item = ?")
      .values(series, item);
    return Number(row?.[0]);
  }

  /** Everything of a run in order of time, a page or so at once. */
  *oldestFirst({ series, item }: Run): Generator<HeldRow[]> {
    const pages = this.#database
      .query("SELECT id, oldest_ms FROM kept WHERE series = ? AND item = ? ORDER BY oldest_ms, id")
      .values(series, item) as [id: number, oldest_ms: number][];
    // Pages may lie beside each other in time: a row is due once no later page can have an older one.
    let waiting: HeldRow[] = [];
    for (const [at, [id]] of pages.entries()) {
      const row = this.#database.query("SELECT rows FROM kept WHERE id = ?").values(id)[0];
      waiting.push(...unpacked(row?.[0] as Uint8Array).reverse());
      waiting.sort(([one], [other]) => one - other);
      const next_ms = pages[at + 1]?.[1] ?? Number.POSITIVE_INFINITY;
      const due = waiting.findIndex(([stamp_ms]) => stamp_ms >= next_ms);
      const rows = due === -1 ? waiting : waiting.slice(0, due);
      waiting = due === -1 ? [] : waiting.slice(due);
      if (rows.length > 0) yield rows;
    }
  }
}

const schema = `
CREATE TABLE IF NOT EXISTS kept (
  id INTEGER PRIMARY KEY, series TEXT NOT NULL, item INTEGER NOT NULL, count INTEGER NOT NULL,
  oldest_ms INTEGER NOT NULL, newest_ms INTEGER NOT NULL, rows BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS kept_in_time ON kept (series, item, oldest_ms)`;
