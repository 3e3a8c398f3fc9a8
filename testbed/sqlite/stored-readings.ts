import type { Database } from "bun:sqlite";
import { zstdDecompressSync } from "node:zlib";

/** An event as it is on disk. */
export interface StoredEvent {
  readonly stream: number;
  readonly stamp: number;
  readonly seq: number;
  readonly event: number;
  readonly clock: number;
}

/** The events of a series in a database, rows and those in blocks, read past the program: in order of stream, stamp and number. */
export function storedEvents(database: Database, series: string): StoredEvent[] {
  const rows = database
    .query(`SELECT stream, stamp, seq, event, clock FROM ${series}`)
    .all() as StoredEvent[];
  const columns = database.query(`PRAGMA table_info(${series})`).values() as [number, string][];
  // In a block are columns, first those of stamps and numbers, which are differences.
  const place = (name: string) => columns.findIndex(([, column]) => column === name) - 1;
  const blocks = database.query("SELECT stream, readings FROM blocks WHERE series = ?").values(series);
  for (const [stream, bytes] of blocks as [number, Uint8Array][]) {
    const block = JSON.parse(zstdDecompressSync(bytes).toString()) as number[][];
    const valueIn = (name: string, index: number) => {
      const column = block[place(name)] ?? [];
      return Number(column[column.length === 1 ? 0 : index]);
    };
    let [stamp, seq] = [0, 0];
    for (const [index, difference] of (block[0] ?? []).entries()) {
      stamp += difference;
      seq += block[1]?.[index] ?? 0;
      rows.push({ stream, stamp, seq, event: valueIn("event", index), clock: valueIn("clock", index) });
    }
  }
  return rows.sort(
    (one, other) => one.stream - other.stream || one.stamp - other.stamp || one.seq - other.seq,
  );
}
