import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { homesOnSqlite } from "../../../src/store/inventory/homes.ts";
import { compressSome, dueAfterReport } from "../../../src/store/series/stream-rewrites.ts";
import { databasePath, openForWriting } from "../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { rowsAndSealed } from "../sealed-central.ts";
import { temporaryCentral } from "./temporary-central.ts";

/** A central with so many readings of each of some sensors of home 12, each `apart_ms` after the one before. */
async function centralWith(counts: readonly number[], apart_ms: number) {
  const made = await temporaryCentral();
  const gateway = new SimulatedGateway(12, "one");
  for (const [place, count] of counts.entries())
    for (let index = 0; index < count; index += 1)
      gateway.add({
        device: sensor(place + 1),
        series: "wirelesssensor_events",
        stamp_ms: start_ms + index * apart_ms,
        fields: [index],
      });
  await made.store.receive(gateway.all(), gateway.sender);
  const database = openForWriting(databasePath(made.directory));
  const runner = new Runner(database);
  return {
    ...made,
    seal: (before_ms: number) => runner.run(compressSome(homesOnSqlite, 12, before_ms)),
    async [Symbol.asyncDispose]() {
      database.close();
      await made[Symbol.asyncDispose]();
    },
  };
}

const ever = Number.MAX_SAFE_INTEGER;

test("a transaction seals some thousand readings, of one stream after the other, and says whether there are more", async () => {
  await using made = await centralWith([10_000, 7_000], 1_000);
  expect(made.seal(ever)).toEqual({ sealed: 16_384, more: true });
  expect(await rowsAndSealed(made.ask)).toEqual({ rows: 616, sealed: 16_384 });
  expect(made.seal(ever)).toEqual({ sealed: 616, more: false });
  expect(made.seal(ever)).toEqual({ sealed: 0, more: false });
});

test("where one stream has all that a transaction seals, the next one waits", async () => {
  await using made = await centralWith([16_384, 2], 1_000);
  expect(made.seal(ever)).toEqual({ sealed: 16_384, more: true });
  expect(made.seal(ever)).toEqual({ sealed: 2, more: false });
});

test("readings of one millisecond are sealed together, however many they are", async () => {
  await using made = await centralWith([17_000], 0);
  expect(made.seal(ever)).toEqual({ sealed: 17_000, more: true });
  expect(made.seal(ever)).toEqual({ sealed: 0, more: false });
});

test("what is younger stays rows, and where nothing is sealed no moment is kept", async () => {
  await using made = await centralWith([4, 2], 1_000);
  const moments = async () =>
    (await made.ask("SELECT sealed_before FROM totals ORDER BY stream")).map((row) => row["sealed_before"]);
  expect(made.seal(start_ms)).toEqual({ sealed: 0, more: false });
  expect(await moments()).toEqual([0, 0]);
  expect(made.seal(start_ms + 2_500)).toEqual({ sealed: 5, more: false });
  // No further than there is something.
  expect(await moments()).toEqual([start_ms + 2_001, start_ms + 1_001]);
  expect(made.seal(start_ms + 2_900)).toEqual({ sealed: 0, more: false });
  expect(await moments()).toEqual([start_ms + 2_001, start_ms + 1_001]);
});

test("a third of the homes is sealed each night, and each of them every third night", () => {
  const due = (night: number) =>
    [1, 2, 3, 4].filter((home) => dueAfterReport(home, night * day_ms + 7) !== undefined);
  expect([6, 7, 8, 9].map(due)).toEqual([[3], [2], [1, 4], [3]]);
  expect(dueAfterReport(3, 6 * day_ms + 7)).toBe(day_ms + 7);
});
