import { expect, test } from "bun:test";
import type { Reading } from "../../../src/domain/reading.ts";
import { databasePath, openForReading } from "../../../src/store/sqlite/connection.ts";
import { epochs } from "../../../src/store/sqlite/role-and-epoch.ts";
import { Runner } from "../../../src/store/sqlite/sqlite-database.ts";
import { batchAfter, numberedReadings, searchedColumns } from "../../../src/store/sqlite/upload-reads.ts";
import {
  below,
  reading,
  seeded,
  sensor,
  sensorEvent,
  start_ms,
  temporaryDirectory,
} from "../../../testbed/sample.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

test("readings that are found by what blocks say of themselves are those that looking at everything finds, each once", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const random = seeded(3);
  const readings: Reading[] = [];
  const measure = { quantity: "temperature", value: 21.5, unit: "°C" };
  // Tens of days, seconds of a thousand readings, and late ones before both.
  for (let at = 0; at < 60; at += 1) {
    const count = at === 20 || at === 40 ? 2_500 : 20;
    const from_ms = start_ms + at * 86_400_000;
    for (let n = 0; n < count; n += 1) {
      const late_ms = random() < 0.02 ? below(random, 20) * 86_400_000 : 0;
      readings.push(sensorEvent(sensor(1 + (n % 5 === 0 ? 1 : 0)), from_ms + n * 2 - late_ms, 48));
      if (n % 10 === 0) readings.push(reading(sensor(1), "wirelesssensor_measures", from_ms + n, measure));
    }
  }
  for (let at = 0; at < readings.length; at += 700) await gateway.append(readings.slice(at, at + 700));
  using database = openForReading(databasePath(directory.path));
  const runner = new Runner(database);
  const ends = [
    [1, 1],
    [1, readings.length],
    [readings.length, readings.length],
    [readings.length + 1, 1e9],
  ];
  // The first and the last number of each block.
  for (const [least, most] of database.query("SELECT min_seq, max_seq FROM blocks").values())
    ends.push([Number(least), Number(least)], [Number(most), Number(most)]);
  for (let round = 0; round < 60; round += 1) {
    const from = 1 + below(random, readings.length);
    ends.push([from, from + below(random, round % 2 === 0 ? 5 : 2_000)]);
  }
  for (const [from_seq, to_seq] of ends as [number, number][]) {
    const found = runner.run(numberedReadings(from_seq, to_seq));
    expect(found).toEqual(runner.run(numberedReadings(from_seq, to_seq, true)));
  }
  await gateway.close();
});

test("readings that are looked up without what blocks say of themselves have the columns that a batch of them has", async () => {
  using directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  const readings = Array.from({ length: 30 }, (_, n) => sensorEvent(sensor(n % 3), start_ms + n, 48));
  await gateway.append(readings);
  using database = openForReading(databasePath(directory.path));
  const runner = new Runner(database);
  const epoch = runner.run(epochs()).at(-1)?.epoch ?? "";
  const { devices, series } = runner.run(batchAfter({ epoch, after_seq: 4, readings_max: 20 })) ?? {};
  expect(devices).toHaveLength(3);
  expect(runner.run(searchedColumns(5, 24))).toEqual({ devices, series } as never);
  await gateway.close();
});
