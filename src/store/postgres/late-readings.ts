import type { SeriesName } from "../../series.ts";
import type { SeriesRows } from "../core/series-rows.ts";
import type { SqlRunner } from "./connection.ts";

/**
 * Lists the late ones of readings that come: those with a stamp below one that their series of their item has already. Without them a run
 * of the key is in the order of arrival. The items are locked, so that nobody else adds to them meanwhile.
 */
export async function addLate(sql: SqlRunner, rows: SeriesRows): Promise<void> {
  const { series, home, order, item, own, columns } = rows;
  const newest = await newestOf(sql, series, [
    ...new Set(Array.from(order, (index) => item[index] as number)),
  ]);
  const late: { item: number[]; seq: number[]; stamp: number[] } = { item: [], seq: [], stamp: [] };
  // `order` is by device; what counts is the order of numbers.
  for (const index of order.toSorted()) {
    const of = item[index] as number;
    const stamp_ms = columns.stamp_ms[index] as number;
    if (stamp_ms >= (newest.get(of) ?? 0)) newest.set(of, stamp_ms);
    else {
      late.item.push(of);
      late.seq.push(own[index] as number);
      late.stamp.push(stamp_ms);
    }
  }
  if (late.item.length === 0) return;
  await sql`
    INSERT INTO late (item, series, seq, home, stamp)
    SELECT item, ${series}, seq, ${home}::bigint, stamp
    FROM unnest(${late.item}::bigint[], ${late.seq}::bigint[], ${late.stamp}::bigint[]) AS late (item, seq, stamp)`;
}

/** Rebuilds the list of a series of some items from all their rows, after other changes than additions. */
export async function findLateAgain(
  sql: SqlRunner,
  series: SeriesName,
  items: readonly number[],
): Promise<void> {
  await sql`DELETE FROM late WHERE series = ${series} AND item = ANY (${[...items]}::bigint[])`;
  await sql.unsafe(
    `INSERT INTO late (item, series, seq, home, stamp)
     SELECT item, $1, seq, home, stamp FROM (
       SELECT item, seq, home, stamp, min(seq) OVER (
         PARTITION BY item ORDER BY stamp DESC, seq DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least_newer
       FROM ${series} WHERE item = ANY ($2::bigint[])) AS reading
     WHERE least_newer < seq`,
    [series, [...items] as unknown as number],
  );
}

/** The newest stamp of a series of items, by item. */
async function newestOf(
  sql: SqlRunner,
  series: SeriesName,
  items: readonly number[],
): Promise<Map<number, number>> {
  const rows = await sql<{ item: number; newest: number }[]>`
    SELECT item, max(newest_stamp) AS newest FROM heads
    WHERE series = ${series} AND item = ANY (${[...items]}::bigint[]) GROUP BY item`;
  return new Map(rows.map(({ item, newest }) => [item, newest]));
}
