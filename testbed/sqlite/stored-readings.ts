import type { Database } from "bun:sqlite";
import { columnsOfBlock } from "./block-decoder.ts";

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
  // A block has all columns of the table but the stream.
  const place = (name: string) => columns.findIndex(([, column]) => column === name) - 1;
  const blocks = database.query("SELECT stream, readings FROM blocks WHERE series = ?").values(series);
  for (const [stream, bytes] of blocks as [number, Uint8Array][]) {
    const block = columnsOfBlock(bytes, columns.length - 1);
    const at = (name: string, index: number) => Number(block[place(name)]?.[index]);
    for (const index of (block[0] ?? []).keys())
      rows.push({
        stream,
        ...{ stamp: at("stamp", index), seq: at("seq", index) },
        ...{ event: at("event", index), clock: at("clock", index) },
      });
  }
  return rows.sort(
    (one, other) => one.stream - other.stream || one.stamp - other.stamp || one.seq - other.seq,
  );
}
