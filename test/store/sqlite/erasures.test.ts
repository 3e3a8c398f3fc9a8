import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { openGatewayStore, openStoreBeside, openUploadStore } from "../../../src/store/sqlite/open-store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { erasuresAgree } from "../erasure-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";
import { checkTotals } from "./totals.ts";

erasuresAgree("central on SQLite", async () => {
  const central = await temporaryCentral();
  return {
    store: central.store,
    async [Symbol.asyncDispose]() {
      checkTotals(central.directory);
      await central[Symbol.asyncDispose]();
    },
  };
});

describe("a gateway", () => {
  const clock = new SystemClock();
  const { log } = keptLog();
  const target = { home: 12 };
  const id = "ab".repeat(16);

  test("that is erased while it runs takes nothing of the erased time any more, and what comes after it", async () => {
    using directory = temporaryDirectory();
    const of = { directory: directory.path, clock, log };
    const running = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
    const device = sensor(1);
    const readings = (from: number, count: number) =>
      Array.from({ length: count }, (_, index) =>
        sensorEvent(device, start_ms + (from + index) * 1000, from + index),
      );
    const gap = { device, from_ms: start_ms, to_ms: start_ms + 1, reason: "missed_window" } as const;
    const states = [{ device, heard_ms: start_ms + 1, listener: "zigbee" }];
    await running.append(readings(0, 10), { states, gaps: [gap] });
    const beside = await openStoreBeside(of);
    expect(await beside.erase({ target: { home: 13 }, id, at_ms: start_ms })).toBeUndefined();
    const at_ms = start_ms + 100_000;
    expect(await beside.erase({ target, id, at_ms })).toMatchObject({
      readings: [{ home: 0, readings: 10 }],
    });
    await beside.close();
    expect((await running.overview()).items).toEqual([]);
    // As of a device that hands over what its buffer has.
    expect(
      await running.append([...readings(20, 5), ...readings(100, 5)], { states, gaps: [gap] }),
    ).toMatchObject({
      first_seq: 11,
      last_seq: 20,
    });
    const { items, dropped } = await running.overview();
    expect(dropped).toEqual({ "of an erased time": 5 });
    expect(items).toMatchObject([{ gaps: 0, series: [{ count: 5 }] }]);
    const upload = await openUploadStore(of);
    const [{ epoch } = { epoch: "" }] = await upload.epochs();
    expect((await upload.batchAfter({ epoch, after_seq: 0, readings_max: 100 }))?.missing).toEqual([[1, 15]]);
    expect(await upload.erasures()).toMatchObject([{ home: 0, own: 1, readings: 10 }]);
    await upload.close();
    await running.close();
    checkTotals(directory.path);
  });

  test("that is erased while it hears loses nothing that came after, and keeps nothing that came before", async () => {
    using directory = temporaryDirectory();
    const of = { directory: directory.path, clock, log };
    const running = await openGatewayStore({ ...of, home: 12, ...writerOfTests() });
    const event = (number: number) => sensorEvent(sensor(1), start_ms + number * 1000, number);
    await running.append(Array.from({ length: 20_000 }, (_, index) => event(index)));
    const beside = await openStoreBeside(of);
    let heard = 0;
    let over = false;
    const hearing = (async () => {
      for (; !over || heard < 100; heard += 1) await running.append([event(100_000 + heard)]);
    })();
    const done = await beside.erase({ target, id, at_ms: start_ms + 50_000_000 });
    over = true;
    await hearing;
    await running.append([event(100_000 + heard)]);
    heard += 1;
    const { before_ms = 0, readings: removed = 0 } = done?.readings[0] ?? {};
    const left = Array.from({ length: heard }, (_, index) => event(100_000 + index)).filter(
      ({ stamp_ms }) => stamp_ms >= before_ms,
    );
    expect(removed + left.length).toBe(20_000 + heard);
    expect((await running.overview()).items).toMatchObject([{ series: [{ count: left.length }] }]);
    await beside.close();
    await running.close();
    checkTotals(directory.path);
  });

  test("gets rid of the bytes of an erasure that was interrupted with the next one", async () => {
    using directory = temporaryDirectory();
    const of = { directory: directory.path, clock, log };
    const store = await openStoreBeside({ ...of, create: true });
    const mark = "MARKED".repeat(20);
    await store.importRecords([[{ type: "subjects", record: { subjectid: 7, lname: mark } }]]);
    // What a process that is killed between the two has done.
    const database = new Database(databaseOf(directory.path));
    database.run("DELETE FROM records");
    database.run("INSERT INTO meta VALUES ('purge', 1)");
    database.close();
    const bytes = () =>
      readdirSync(directory.path)
        .map((name) => readFileSync(join(directory.path, name), "latin1"))
        .join("");
    expect(bytes()).toContain("MARKED");
    await store.takeErasures([]);
    expect(bytes()).not.toContain("MARKED");
    await store.close();
  });
});
