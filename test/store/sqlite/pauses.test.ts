import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clockQuality, SystemClock } from "../../../src/base/clock.ts";
import { hour_ms } from "../../../src/base/time.ts";
import { addNote } from "../../../src/store/note-requests.ts";
import { pauseOpen_ms } from "../../../src/store/pause.ts";
import { openGatewayStore, openStoreBeside } from "../../../src/store/sqlite/open-store.ts";
import { keptLog, sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf } from "../../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { consentAgrees } from "../consent-conformance.ts";
import { pausesAgree } from "../pause-conformance.ts";
import { restrictionsAgree } from "../restriction-conformance.ts";
import { temporaryCentral } from "./temporary-central.ts";
import { checkTotals } from "./totals.ts";

pausesAgree("central on SQLite", temporaryCentral);
consentAgrees("consent at central on SQLite", temporaryCentral);
restrictionsAgree("restrictions at central on SQLite", temporaryCentral);

describe("a gateway", () => {
  const clock = new SystemClock();
  const { log } = keptLog();
  const device = sensor(1);
  const id = "ab".repeat(16);
  const open = {
    id,
    home: 12,
    own: 1,
    at_ms: start_ms,
    from_ms: start_ms + hour_ms,
    before_ms: pauseOpen_ms,
  } as const;
  const at = (hours: number, event: number) => sensorEvent(device, start_ms + hours * hour_ms, event);
  const box = { kind: "pillboxes", address: "00:00:00:00:00:01" } as const;
  /** A status whose firmware is found in the bytes of a file. */
  const status = (hours: number, firmwarerevsion: string) => ({
    device: box,
    series: "pillbox_status" as const,
    stamp_ms: start_ms + hours * hour_ms,
    clock: clockQuality.synchronised,
    values: {
      ...{
        devicestamp: 1,
        voltage: 1,
        powersource: "battery",
        eventcount: 1,
        batteryseconds: "1",
        firmwarerevsion,
      },
      ...{ macaddress: "a", nextpanicstart: 1, nextpanicstop: 1 },
    },
  });
  const opened = ({ path }: { path: string }) =>
    openGatewayStore({ directory: path, clock, log, home: 12, ...writerOfTests() });

  test("that is paused while it runs counts what comes and keeps nothing of it, moves cursors on, and goes on when it is resumed", async () => {
    using directory = temporaryDirectory();
    const of = { directory: directory.path, clock, log };
    const running = await opened(directory);
    const heard = (hours: number) => ({ device, heard_ms: start_ms + hours * hour_ms, listener: "zigbee" });
    const listening = { listener: "zigbee", from_ms: start_ms, to_ms: start_ms + 5 * hour_ms };
    await running.append([at(0, 1)], { states: [heard(0)], listening: [listening] });
    const beside = await openStoreBeside(of);
    expect(await beside.takePauses([open])).toBe(0);
    const cursors = [{ name: "box", value: "7" }];
    await running.append([at(2, 2), at(3, 3)], { states: [heard(3)], cursors });
    expect(await running.cursor("box")).toBe("7");
    expect((await running.overview()).dropped).toEqual({ "while recording was paused": 2 });
    // Neither silence nor need.
    expect((await running.itemOverviews())[0]).toMatchObject({ overdue: false, heard_ms: start_ms });
    await beside.takePauses([{ ...open, before_ms: start_ms + 4 * hour_ms }]);
    // As of a device that hands over what its buffer has: what lies in the pause is not kept.
    await running.append([at(3.5, 4), at(4, 5)], { states: [heard(4)] });
    const [overview] = await running.itemOverviews();
    const item = (await running.item("wirelesssensors", overview?.record.itemname ?? ""))?.key ?? 0;
    const request = {
      series: "wirelesssensor_events",
      item,
      before_ms: pauseOpen_ms,
      skip: 0,
      limit: 9,
      precision: "s",
    } as const;
    expect((await running.page(request)).records.map(({ event }) => event)).toEqual([5, 1]);
    const coverage = await running.coverage({ item, before_ms: pauseOpen_ms, skip: 0, limit: 9 });
    expect(
      coverage.map(({ start_ms: from_ms, stop_ms, state }) => [
        (from_ms - start_ms) / hour_ms,
        (stop_ms - start_ms) / hour_ms,
        state,
      ]),
    ).toEqual([
      [1, 4, "paused"],
      [0, 1, "covered"],
    ]);
    await beside.close();
    await running.close();
    checkTotals(directory.path);
  });

  test("removes what it has recorded in a pause that it hears of later, and its bytes from the file", async () => {
    using directory = temporaryDirectory();
    const store = await opened(directory);
    await store.append([status(0, "FIRMWARE-KEPT"), status(2, "FIRMWARE-PAUSED")]);
    expect(await store.takePauses([open])).toBe(1);
    await store.close();
    const bytes = readFileSync(databaseOf(directory.path), "latin1");
    expect([bytes.includes("FIRMWARE-KEPT"), bytes.includes("FIRMWARE-PAUSED")]).toEqual([true, false]);
    checkTotals(directory.path);
  });

  test("keeps nothing that may be of a pause, because its time is only bounded", async () => {
    using directory = temporaryDirectory();
    const store = await opened(directory);
    await store.takePauses([{ ...open, before_ms: start_ms + 3 * hour_ms }]);
    const bounded = (hours: number, event: number) => ({
      ...at(hours, event),
      clock: clockQuality.bounded,
      unsure_ms: hour_ms,
    });
    await store.append([bounded(-1, 1), bounded(0.5, 2), bounded(3.5, 3), bounded(4.5, 4)]);
    const { dropped } = await store.overview();
    expect(dropped).toEqual({ "while recording was paused": 2 });
    await store.close();
  });

  test("that is restricted removes what a clock ahead has stamped, and its bytes from the file", async () => {
    using directory = temporaryDirectory();
    const store = await opened(directory);
    await store.append([status(0, "FIRMWARE-KEPT"), status(2, "FIRMWARE-PAUSED")]);
    const restriction = { target: { home: 12 }, at_ms: start_ms + hour_ms, who: "lea", reason: "a letter" };
    expect(await store.restrict(restriction)).toEqual([0]);
    await store.close();
    const bytes = readFileSync(databaseOf(directory.path), "latin1");
    expect([bytes.includes("FIRMWARE-KEPT"), bytes.includes("FIRMWARE-PAUSED")]).toEqual([true, false]);
    checkTotals(directory.path);
  });

  test("drops what has waited for its time and lies in a pause, and its bytes from the files, also those of its log", async () => {
    using directory = temporaryDirectory();
    const store = await opened(directory);
    await store.takePauses([{ ...open, before_ms: start_ms + 3 * hour_ms }]);
    const measure = (hours: number, unit: string) => ({
      ...at(hours, 0),
      series: "wirelesssensor_measures" as const,
      values: { quantity: "mark", value: 1, unit },
    });
    const held = [measure(2, "IN-THE-PAUSE"), measure(4, "AFTER-IT")];
    await store.append([], {
      boots: [{ boot: "one", seen_ms: 1 }],
      held: held.map((reading) => ({ boot: "one", monotonic_ms: 1, fact: { reading } })),
    });
    const waiting = await store.waiting(9);
    const readings = waiting.flatMap(({ fact }) => ("reading" in fact ? [fact.reading] : []));
    await store.append(readings, { released: waiting.map((row) => row.id) });
    const files = [databaseOf(directory.path), `${databaseOf(directory.path)}-wal`];
    const bytes = files.map((file) => readFileSync(file, "latin1")).join("");
    expect([bytes.includes("IN-THE-PAUSE"), bytes.includes("AFTER-IT")]).toEqual([false, true]);
    await store.close();
    checkTotals(directory.path);
  });

  test("takes the bytes of a note that somebody removes from its files, with the next upload", async () => {
    using directory = temporaryDirectory();
    const store = await opened(directory);
    const words = "a sister from Maine";
    const { noteid } = await addNote(store, {
      ...{ homeid: 12, itemid: null, subjectid: null, kind: "visitor", words, source: "home" },
      ...{ start: start_ms / 1000, stop: null, said: null },
    });
    const left = () =>
      readdirSync(directory.path).filter((name) => readFileSync(join(directory.path, name)).includes(words));
    expect(left()).not.toEqual([]);
    await store.changeNotes(12, { kept: [], removed: [noteid] });
    await store.takeErasures([]);
    expect(left()).toEqual([]);
    await store.close();
  });

  test("keeps nothing that has no time yet and comes in a pause that is not over, but what a device's own clock has stamped", async () => {
    using directory = temporaryDirectory();
    const store = await opened(directory);
    await store.takePauses([open]);
    const held = (fact: object) => ({
      boot: "one",
      monotonic_ms: 1,
      fact: fact as { reading: ReturnType<typeof at> },
    });
    const own = { ...at(0, 2), deviceClock: { stamp_ms: 5, offset_ms: 0 } };
    await store.append([], {
      boots: [{ boot: "one", seen_ms: 1 }],
      held: [held({ reading: at(0, 1) }), held({ reading: own })],
    });
    expect(
      (await store.waiting(9)).map(({ fact }) => "reading" in fact && fact.reading.values["event"]),
    ).toEqual([2]);
    expect((await store.overview()).dropped).toEqual({ "while recording was paused": 1 });
    await store.close();
  });
});
