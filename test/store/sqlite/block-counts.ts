import { Database } from "bun:sqlite";
import { expect } from "bun:test";
import { seriesNames } from "../../../src/series.ts";
import { databaseOf } from "./opening.ts";

/**
 * Compares every block of counts in a data directory with the rows that it says it counts. Between them the blocks of a run cover everything,
 * none has more than 1,024 readings and, but for the newest, none has fewer than `least`.
 */
export function checkCounts(directory: string, least = 512): void {
  using database = new Database(databaseOf(directory), { readonly: true });
  for (const series of seriesNames) {
    const blocks = database
      .query(
        `SELECT item, start_stamp, start_seq, count, min_seq, max_seq, 0 AS open FROM blocks WHERE series = ?1
         UNION ALL SELECT item, start_stamp, start_seq, count, min_seq, max_seq, 1 FROM heads WHERE series = ?1
         ORDER BY item, start_stamp, start_seq`,
      )
      .all(series) as Block[];
    const rows = database
      .query(`SELECT item, stamp, seq FROM ${series} ORDER BY item, stamp, seq`)
      .all() as Row[];
    expect(blocks).toEqual(countedAgain(blocks, rows));
    expect(blocks.reduce((sum, { count }) => sum + count, 0)).toBe(rows.length);
    const firsts = blocks.filter(({ item }, index) => blocks[index - 1]?.item !== item);
    expect(firsts.filter(({ start_stamp, start_seq }) => start_stamp !== 0 || start_seq !== 0)).toEqual([]);
    expect(blocks.filter(({ count, open }) => count > 1_024 || (!open && count < least))).toEqual([]);
    expect(
      database
        .query("SELECT item, total, newest_stamp FROM heads WHERE series = ? ORDER BY item")
        .values(series),
    ).toEqual(
      database.query(`SELECT item, count(*), max(stamp) FROM ${series} GROUP BY item ORDER BY item`).values(),
    );
  }
}

function countedAgain(blocks: readonly Block[], rows: readonly Row[]): Block[] {
  let next = 0;
  return blocks.map((block, index) => {
    const follower = blocks[index + 1];
    const first = next;
    while (next < rows.length && isOf(rows[next] as Row, block, follower)) next += 1;
    const numbers = rows.slice(first, next).map(({ seq }) => seq);
    return { ...block, count: numbers.length, min_seq: Math.min(...numbers), max_seq: Math.max(...numbers) };
  });
}

function isOf(row: Row, block: Block, follower: Block | undefined): boolean {
  return (
    row.item === block.item && from(row, block) && !(follower?.item === block.item && from(row, follower))
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
