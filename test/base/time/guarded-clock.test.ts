import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockQuality, stamp_end_ms } from "../../../src/base/clock.ts";
import { GuardedClock, knownTimeFile, requireBelievedClock } from "../../../src/base/guarded-clock.ts";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { Ingest } from "../../../src/gateway/ingest/ingest.ts";
import { keptLog, sensor, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedMachine } from "../../../testbed/simulated-machine.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let machine: SimulatedMachine;
beforeEach(() => {
  directory = temporaryDirectory();
  machine = new SimulatedMachine({ now_ms: start_ms });
  machine.start(0, 0);
});
afterEach(() => directory[Symbol.dispose]());

/** The clock as a new process has it. */
const guarded = () => new GuardedClock({ clock: machine.startProcess(), directory: directory.path });
const believes = (clock: GuardedClock) => clock.now().quality === clockQuality.synchronised;
const spoofed_ms = Date.UTC(2038, 0, 20);
/** A time server that lies. */
const spoof = (unix_ms = spoofed_ms) => machine.synchronise(unix_ms - machine.now_ms);
/** Lets time pass until a commit is done: it may have to wait for the pause after the one before. */
async function passing(taken: Promise<unknown>): Promise<void> {
  let isDone = false;
  const done = taken.finally(() => {
    isDone = true;
  });
  while (!isDone) {
    machine.advance(1);
    await new Promise((resume) => setImmediate(resume));
  }
  await done;
}
/** A gateway that ran for a day by a right clock. */
function ranADay(): void {
  machine.synchronise();
  const stop = guarded().keep(() => {});
  machine.advance(day_ms);
  stop();
}

describe("a clock that a time service has set", () => {
  test.each([
    ["on the first start, in the year of the release", Date.UTC(2026, 5, 1), true],
    ["on the first start, years after it", Date.UTC(2029, 5, 1), true],
    ["on the first start, in 2038", spoofed_ms, false],
    ["on the first start, at the end of time", stamp_end_ms + 1, false],
    ["on the first start, before the program was made", Date.UTC(2025, 5, 1), false],
  ])("%s is believed or not", (_, unix_ms, believed) => {
    spoof(unix_ms);
    expect(believes(guarded())).toBe(believed);
  });

  test.each([
    ["a year in a cupboard", 365 * day_ms, true],
    ["an hour before, by a clock chip", -hour_ms, true],
    ["two years later", 730 * day_ms, false],
    ["in 2038", spoofed_ms - start_ms, false],
    ["a week before the last time that was surely so", -7 * day_ms, false],
  ])("%s after a day of work is believed or not, in the next boot", (_, by_ms, believed) => {
    ranADay();
    machine.start(0, 0);
    spoof(machine.now_ms + by_ms);
    expect(believes(guarded())).toBe(believed);
  });

  test("that leaps by less than the bound again and again takes the known time along only once for each boot", () => {
    ranADay();
    const clock = guarded();
    const stop = clock.keep(() => {});
    for (let leap = 1; leap <= 5; leap += 1) {
      spoof(machine.now_ms + leap * 390 * day_ms);
      machine.advance(2 * hour_ms);
    }
    expect(believes(clock)).toBe(false);
    stop();
    spoof(machine.now_ms + 390 * day_ms);
    expect(believes(guarded())).toBe(true);
    machine.synchronise();
    expect(believes(guarded())).toBe(true);
  });

  test("is doubted in one sentence that has the date, and a remedy that is a command", () => {
    ranADay();
    spoof();
    const doubt = guarded().doubt();
    expect(doubt?.what).toMatch(
      /^The clock of this machine shows 2038-01-20, and no time after 2027-12-2\d is believed unasked: readings are kept without a date\.$/,
    );
    expect(doubt?.remedy).toContain("lintel clock --confirm");
    expect(() => requireBelievedClock(guarded())).toThrow("2038-01-20");
    machine.synchronise();
    expect(guarded().doubt()).toBeUndefined();
    expect(() => requireBelievedClock(guarded())).not.toThrow();
  });
});

test("a running process heeds within seconds what another confirms, and then believes no other date while the machine runs", () => {
  ranADay();
  spoof();
  const clock = guarded();
  expect(believes(clock)).toBe(false);
  guarded().confirm(machine.now_ms);
  machine.advance(20_000);
  expect(believes(clock)).toBe(false);
  machine.synchronise();
  expect(believes(clock)).toBe(true);
  // Within a year, but not what the monotonic clock says.
  spoof(machine.now_ms + 100 * day_ms);
  expect(believes(clock)).toBe(false);
});

test("what is no known time in its place takes nothing of what is known, and is never followed", () => {
  ranADay();
  const path = join(directory.path, knownTimeFile);
  const kept = readFileSync(path, "utf8");
  spoof();
  for (const text of ["", "{}", "[", '{"unix_ms": 1e300}', kept.replace(/\d+/, "-1"), "x".repeat(9_999)]) {
    const clock = guarded();
    expect(believes(clock)).toBe(false);
    writeFileSync(path, text);
    machine.advance(20_000);
    expect(believes(clock)).toBe(false);
    writeFileSync(path, kept);
  }
  Bun.spawnSync(["rm", path]);
  const secret = join(directory.path, "secret");
  symlinkSync(secret, path);
  machine.synchronise();
  guarded().confirm(machine.now_ms);
  expect(existsSync(secret)).toBe(false);
});

test("readings wait without a date while the clock is not believed, and get their time once it is right: also those of a gateway that was restarted meanwhile", async () => {
  ranADay();
  const began_ms = machine.now_ms;
  let event = 0;
  const process = async (use: (accept: () => Promise<void>) => Promise<void>) => {
    const store = await openGateway(directory.path);
    const clock = guarded();
    const ingest = new Ingest({ store, clock, log: keptLog().log });
    await use(async () => {
      const { unix_ms, monotonic_ms, quality } = clock.now();
      const reading = {
        device: sensor(1),
        series: "wirelesssensor_events",
        values: { event: event++ },
      } as const;
      const taken = ingest.accept({ ...reading, stamp_ms: unix_ms, monotonic_ms, clock: quality });
      await passing(taken);
      machine.advance(899_900);
    });
    const { last_seq } = await store.overview();
    const { why } = ingest.status();
    machine.killProcess();
    await store.close();
    return { last_seq, why };
  };
  expect((await process(async (accept) => accept())).last_seq).toBe(1);
  spoof();
  for (let life = 0; life < 2; life += 1) {
    const { last_seq, why } = await process(async (accept) => {
      await accept();
      await accept();
    });
    expect(last_seq).toBe(1);
    expect(why).toContain("lintel clock --confirm");
  }
  // A machine that is started again believes it no sooner.
  machine.start(0, 0);
  spoof();
  expect((await process(async (accept) => accept())).last_seq).toBe(1);
  machine.synchronise();
  await process(async (accept) => {
    await accept();
    await accept();
  });
  using database = new Database(databaseOf(directory.path), { readonly: true });
  const stamps = database
    .query("SELECT stamp FROM wirelesssensor_events ORDER BY seq")
    .values()
    .flat() as number[];
  expect(stamps).toHaveLength(8);
  expect(stamps.toSorted((one, other) => one - other)).toEqual(stamps);
  expect(stamps[0]).toBe(began_ms);
  for (const stamp of stamps) expect(stamp).toBeLessThan(machine.now_ms);
});

test("a wrong date that was believed at the start is corrected by central's time: what has waited since is dated by that", async () => {
  spoof(start_ms + 300 * day_ms);
  const store = await openGateway(directory.path);
  const clock = guarded();
  const ingest = new Ingest({ store, clock, log: keptLog().log });
  const accept = async (event: number) => {
    const { unix_ms, monotonic_ms, quality } = clock.now();
    const reading = { device: sensor(1), series: "wirelesssensor_events", values: { event } } as const;
    const taken = ingest.accept({ ...reading, stamp_ms: unix_ms, monotonic_ms, clock: quality });
    await passing(taken);
    machine.advance(20_000);
  };
  await accept(0);
  clock.confirm(machine.now_ms);
  const waited_ms = machine.now_ms;
  await accept(1);
  expect((await store.overview()).last_seq).toBe(1);
  machine.synchronise();
  await accept(2);
  using database = new Database(databaseOf(directory.path), { readonly: true });
  expect(database.query("SELECT stamp FROM wirelesssensor_events WHERE event = 1").values()).toEqual([
    [waited_ms],
  ]);
  machine.killProcess();
  await store.close();
});
