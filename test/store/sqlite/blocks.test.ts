import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Reading } from "../../../src/reading.ts";
import { below, seeded, sensor, sensorEvent, start_ms, temporaryDirectory } from "../sample.ts";
import { databaseOf, openGateway } from "./opening.ts";

test("blocks cover every reading once, count them right and stay between 512 and 1,024", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const random = seeded(7);
  let stamp_ms = start_ms;
  for (let round = 0; round < 30; round += 1) {
    const readings: Reading[] = Array.from({ length: 1 + below(random, 900) }, () => {
      stamp_ms += below(random, 3) * below(random, 500);
      const late_ms = random() < 0.1 ? below(random, 4_000_000) : 0;
      return sensorEvent(sensor(1 + below(random, 2)), stamp_ms - late_ms, 48);
    });
    await store.append(readings);
    checkCounts(directory.path);
  }
  // A bulk of old readings that is many blocks long, and lands in one.
  await store.append(
    Array.from({ length: 9_000 }, (_, n) => sensorEvent(sensor(1), start_ms - 9_000_000 + n, 48)),
  );
  checkCounts(directory.path);
  await store.close();
});

test("a head survives its writer: counting goes on where another process left it", async () => {
  using directory = temporaryDirectory();
  for (let time = 0; time < 3; time += 1) {
    const store = await openGateway(directory.path);
    const first = start_ms + time * 1_000_000;
    await store.append(Array.from({ length: 1_500 }, (_, n) => sensorEvent(sensor(1), first + n, 48)));
    await store.close();
    checkCounts(directory.path);
  }
});

/** Compares every block with the rows that it says it counts. */
function checkCounts(directory: string): void {
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
