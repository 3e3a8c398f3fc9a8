import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import type { Reading } from "../../../src/domain/reading.ts";
import { below, seeded, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkTotals } from "./totals.ts";

test("totals count every reading once, whether it is a row or in a block", async () => {
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
    checkTotals(directory.path);
  }
  // A bulk of old readings, more than a block has.
  await store.append(
    Array.from({ length: 9_000 }, (_, n) => sensorEvent(sensor(1), start_ms - 9_000_000 + n, 48)),
  );
  checkTotals(directory.path);
  await store.close();
});

test("rows have their bound also where thousands of readings are of one millisecond", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  for (const after_ms of [0, 5, 5]) {
    await store.append(Array.from({ length: 1_500 }, () => sensorEvent(sensor(1), start_ms + after_ms, 48)));
    checkTotals(directory.path);
  }
  await store.close();
});

test("the newest readings stay rows, and one that comes before them goes among the blocks", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const events = (from_ms: number, count: number) =>
    Array.from({ length: count }, (_, n) => sensorEvent(sensor(1), from_ms + n, 48));
  await store.append(events(start_ms, 543));
  using database = new Database(databaseOf(directory.path), { readonly: true });
  const told = () =>
    database.query("SELECT rows_from, in_blocks, inserted, revision FROM totals").values()[0];
  expect(told()).toEqual([0, 0, 0, 0]);
  await store.append(events(start_ms + 543, 1));
  const rows_from = start_ms + 512;
  expect(told()).toEqual([rows_from, 512, 0, 0]);
  await store.append([-1, 0, 1].map((ms) => sensorEvent(sensor(1), rows_from + ms, 48)));
  checkTotals(directory.path);
  expect(told()).toEqual([rows_from, 513, 1, 0]);
  await store.close();
});

test("totals survive their writer: counting goes on where another process left it", async () => {
  using directory = temporaryDirectory();
  for (let time = 0; time < 3; time += 1) {
    const store = await openGateway(directory.path);
    const first = start_ms + time * 1_000_000;
    await store.append(Array.from({ length: 1_500 }, (_, n) => sensorEvent(sensor(1), first + n, 48)));
    await store.close();
    checkTotals(directory.path);
  }
});
