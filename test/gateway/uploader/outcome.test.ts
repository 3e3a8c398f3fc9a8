import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { OperatorError } from "../../../src/base/errors.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { type UploadOptions, type UploadProgress, upload } from "../../../src/gateway/uploader/upload.ts";
import { CentralClient } from "../../../src/transfer/central-client.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";
import { type Receiving, receive } from "../../central/receiver/receiving.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";
import { openUpload } from "../../store/upload/opening.ts";

/** When the uploads happen: two days after the first reading. */
const now_ms = start_ms + 2 * day_ms;
let receiving: Receiving;
beforeAll(async () => {
  receiving = await receive({ clock: new SettableClock(now_ms) });
});
afterAll(() => receiving[Symbol.asyncDispose]());

/** Events of a sensor, twelve hours apart. */
const events = (home: number, from: number, to: number): Reading[] =>
  Array.from({ length: to - from + 1 }, (_, index) =>
    sensorEvent(sensor(home), start_ms + ((from + index - 1) * day_ms) / 2, from + index),
  );

/** The box of a home, with some readings, that uploads to central. */
async function box(home: number, readings: readonly Reading[]) {
  const directory = temporaryDirectory();
  const gateway = await openGateway(directory.path);
  if (readings.length > 0) await gateway.append(readings);
  const store = await openUpload(directory.path);
  const { log, lines } = keptLog();
  const progress: UploadProgress[] = [];
  const token = await receiving.homeToken(home);
  return {
    gateway,
    store,
    lines,
    progress,
    upload: (options: Partial<UploadOptions> = {}) =>
      upload({
        store,
        connect: () =>
          new CentralClient({
            url: new URL(receiving.url).origin,
            token,
            bytes_per_s: 1e9,
            clock: new TravellingClock(),
            random: () => 0,
            stop: new AbortController().signal,
            onRetry: () => {},
          }),
        clock: new SettableClock(now_ms),
        log,
        stop: new AbortController().signal,
        everyDay: false,
        describe: async () => ({
          ...{ version: "0.1.0", now_ms, clock_synchronised: true, timezone: "UTC", last_seq: 0, waiting: 0 },
          ...{ disk_free_bytes: 1e9, bytes_on_disk: 1e6, dropped: {} },
        }),
        homeFiles: new Map(),
        onProgress: (one) => progress.push(one),
        ...options,
      }),
    /** Changes what it has on disk, behind its back. */
    change: (sql: string) => {
      using database = new Database(databaseOf(directory.path));
      database.run(sql);
    },
    /** The last report that central has of it. */
    report: async () => (await receiving.store.gateways([home]))[0]?.report,
    async [Symbol.asyncDispose]() {
      await store.close();
      await gateway.close();
      directory[Symbol.dispose]();
    },
  };
}

test("an upload tells how far it is, what it has sent, and is kept as one that went well", async () => {
  await using home = await box(60, events(60, 1, 3));
  const files = new Map([["zigbee.json", new Uint8Array([1, 2, 3])]]);
  const told: unknown[] = [];
  const takeHomeRecords = async () => {
    told.push((await home.report())?.["failure"]);
    return { changes: {}, clashes: [] };
  };
  expect(await home.upload({ homeFiles: files, takeHomeRecords })).toEqual({
    ...{ sent: 3, confirmed_seq: 3, differing_days: 0, repaired: 0, kept: 0, lost: 0, pruned: 0 },
    stopped: [],
  });
  expect(home.progress).toEqual([
    { sent: 0, total: 3, now: "sending" },
    { sent: 3, total: 3, now: "sending" },
    { sent: 3, total: 3, now: "comparing 2026-11-20" },
  ]);
  expect(await home.store.uploadState()).toMatchObject({
    ...{ confirmed_seq: 3, verified_seq: 3, verified_all_ms: now_ms, uploaded_ms: now_ms, failure: "" },
  });
  expect(await receiving.store.backups(60)).toEqual(files);
  expect(await home.report()).toMatchObject({ version: "0.1.0", differing_days: 0 });
  expect(await home.report()).not.toHaveProperty("failure");
  expect(told).toEqual([undefined]);
  // Nothing is new, and all was compared a moment ago.
  home.progress.length = 0;
  expect(await home.upload({ takeHomeRecords })).toMatchObject({ sent: 0, confirmed_seq: 3 });
  expect(home.lines).toEqual(["info  took in the records that central has for this home"]);
  expect(home.progress).toEqual([{ sent: 0, total: 0, now: "sending" }]);
  expect(await home.upload({ everyDay: true })).toMatchObject({ sent: 0 });
  expect(home.progress.at(-1)).toEqual({ sent: 0, total: 0, now: "comparing 2026-11-20" });
});

test("a failure is kept, told to central by the next upload, and gone after it", async () => {
  await using home = await box(61, events(61, 1, 2));
  const fails = () => {
    throw new OperatorError("x".repeat(300), "look at it");
  };
  expect(await home.upload({ connect: fails }).catch(String)).toStartWith("OperatorError: xxx");
  const { failed_ms, failure, uploaded_ms } = await home.store.uploadState();
  expect([failed_ms, failure, uploaded_ms]).toEqual([now_ms, `${"x".repeat(200)}…`, undefined]);
  const told: unknown[] = [];
  await home.upload({
    onProgress: () => {},
    takeHomeRecords: async () => {
      told.push((await home.report())?.["failure"]);
      return { changes: {}, clashes: [] };
    },
  });
  expect(told).toEqual(["x".repeat(200)]);
  expect(home.lines).toEqual(["info  took in the records that central has for this home"]);
  expect(await home.report()).not.toHaveProperty("failure");
  expect((await home.store.uploadState()).failure).toBe("");
});

test("an upload that is stopped rejects with the reason, and is kept as no failure", async () => {
  await using home = await box(62, events(62, 1, 2));
  const stop = AbortSignal.abort(new Error("the box is stopped"));
  expect(await home.upload({ stop }).catch(String)).toBe("Error: the box is stopped");
  expect(await home.store.uploadState()).not.toHaveProperty("failure");
});

test("records that cannot be taken hold up nothing else, and are reported at the end", async () => {
  await using home = await box(63, events(63, 1, 2));
  const takeHomeRecords = async () => {
    throw new OperatorError("the records do not fit", "correct them");
  };
  expect(await home.upload({ takeHomeRecords }).catch(String)).toContain("the records do not fit");
  expect(await home.report()).toMatchObject({ failure: "the records do not fit: correct them" });
  expect((await receiving.store.held([home.gateway.epoch]))[0]?.held_seq).toBe(2);
  expect((await home.store.uploadState()).failure).toContain("the records do not fit");
  expect(home.lines).toEqual([]);
  // A central that is asked too often ends the upload there: nothing more is sent.
  const later = async () => {
    throw new TryAgainLater("central is busy", "later");
  };
  const files = new Map([["zigbee.json", new Uint8Array([1])]]);
  expect(await home.upload({ takeHomeRecords: later, homeFiles: files }).catch(String)).toContain("is busy");
  expect((await receiving.store.backups(63)).size).toBe(0);
  // So does another error, which is one of the program.
  const broken = async () => {
    throw new TypeError("a fault of the program");
  };
  expect(await home.upload({ takeHomeRecords: broken }).catch(String)).toContain("a fault of the program");
});

test("what differed, what central alone had and what nobody has is told, and reported to central", async () => {
  await using home = await box(64, events(64, 1, 4));
  await home.upload();
  await home.gateway.append(events(64, 5, 7));
  // Event 4 is lost here, 3 is another one, and 6 is lost before central had it.
  home.change("DELETE FROM wirelesssensor_events WHERE event IN (4, 6)");
  home.change("UPDATE wirelesssensor_events SET event = 99 WHERE event = 3");
  expect(await home.upload({ everyDay: true })).toEqual({
    ...{ sent: 2, confirmed_seq: 7, differing_days: 2, repaired: 1, kept: 1, lost: 1, pruned: 0 },
    stopped: [],
  });
  expect(await home.report()).toMatchObject({ differing_days: 2 });
});
