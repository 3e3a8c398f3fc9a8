import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { databaseOf } from "./opening.ts";

/** Compares every block with the rows that it says it counts. */
export function checkCounts(directory: string): void {
  using database = new Database(databaseOf(directory), { readonly: true });
  const blocks = database
    .query(
      `SELECT item, start_stamp, start_seq, count, min_seq, max_seq, 0 AS open FROM blocks
       UNION ALL SELECT item, start_stamp, start_seq, count, min_seq, max_seq, 1 FROM heads
       ORDER BY item, start_stamp, start_seq`,
    )
    .all() as Block[];
  const rows = database
    .query("SELECT item, stamp, seq FROM wirelesssensor_events ORDER BY item, stamp, seq")
    .all() as Row[];
  const counted = blocks.map((block, index) => {
    const next = blocks[index + 1];
    const within = rows.filter(
      (row) => row.item === block.item && from(row, block) && !(next?.item === block.item && from(row, next)),
    );
    const numbers = within.map(({ seq }) => seq);
    return { ...block, count: within.length, min_seq: Math.min(...numbers), max_seq: Math.max(...numbers) };
  });
  expect(blocks).toEqual(counted);
  for (const { count, open } of blocks) {
    expect(count).toBeLessThanOrEqual(1_024);
    if (!open) expect(count).toBeGreaterThanOrEqual(512);
  }
  const heads = database.query("SELECT item, total, newest_stamp FROM heads ORDER BY item").values();
  expect(heads).toEqual(
    database
      .query("SELECT item, count(*), max(stamp) FROM wirelesssensor_events GROUP BY item ORDER BY item")
      .values(),
  );
}

function from(row: Row, block: Block): boolean {
  return row.stamp > block.start_stamp || (row.stamp === block.start_stamp && row.seq >= block.start_seq);
}

interface Row {
  readonly item: number;
  readonly stamp: number;
  readonly seq: number;
}

interface Block {
  readonly item: number;
  readonly start_stamp: number;
  readonly start_seq: number;
  readonly count: number;
  readonly min_seq: number;
  readonly max_seq: number;
  readonly open: number;
}
