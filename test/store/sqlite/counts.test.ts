import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { below, seeded, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";
import { checkCounts } from "./counts.ts";

test("spans count every reading below the tail once, and those of more than 1,000 in narrower spans too", async () => {
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
  // A bulk of old readings, more than a span may have undivided.
  await store.append(
    Array.from({ length: 9_000 }, (_, n) => sensorEvent(sensor(1), start_ms - 9_000_000 + n, 48)),
  );
  checkCounts(directory.path);
  await store.close();
});

test("a tail has its bound also where thousands of readings are of one millisecond", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  for (const after_ms of [0, 5, 5]) {
    await store.append(Array.from({ length: 1_500 }, () => sensorEvent(sensor(1), start_ms + after_ms, 48)));
    checkCounts(directory.path);
  }
  await store.close();
});

test("a span of just a thousand is not divided, and a reading of the millisecond in which a tail begins is one of it", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const events = (from_ms: number) =>
    Array.from({ length: 1_000 }, (_, n) => sensorEvent(sensor(1), from_ms + n, 48));
  await store.append(events(start_ms));
  await store.append(events(start_ms + 40 * day_ms));
  checkCounts(directory.path);
  using database = new Database(databaseOf(directory.path), { readonly: true });
  const [[tail_from]] = database.query("SELECT tail_from FROM totals").values() as [[number]];
  expect(tail_from).toBe(start_ms + 40 * day_ms + 900);
  await store.append([-1, 0, 1].map((ms) => sensorEvent(sensor(1), tail_from + ms, 48)));
  checkCounts(directory.path);
  await store.close();
});

test("totals survive their writer: counting goes on where another process left it", async () => {
  using directory = temporaryDirectory();
  for (let time = 0; time < 3; time += 1) {
    const store = await openGateway(directory.path);
    const first = start_ms + time * 1_000_000;
    await store.append(Array.from({ length: 1_500 }, (_, n) => sensorEvent(sensor(1), first + n, 48)));
    await store.close();
    checkCounts(directory.path);
  }
});
