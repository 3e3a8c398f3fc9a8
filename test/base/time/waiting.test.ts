import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { Ingest } from "../../../src/gateway/ingest/ingest.ts";
import { keptLog, sensor, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedMachine } from "../../../testbed/simulated-machine.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";

test("what is acknowledged before the time is known survives restarts, unserved, and is numbered in order once it is", async () => {
  using directory = temporaryDirectory();
  const machine = new SimulatedMachine({ now_ms: start_ms });
  machine.start(0, 0);
  for (let life = 0; life < 3; life += 1) {
    await using gateway = await start(directory.path, machine);
    await gateway.accept(life * 2);
    await gateway.accept(life * 2 + 1);
    const { last_seq, waiting } = await gateway.store.overview();
    expect(last_seq).toBe(0);
    expect(waiting).toBeGreaterThanOrEqual((life + 1) * 2);
    expect(gateway.ingest.status().why).toContain("is not known to be right");
  }
  await using gateway = await start(directory.path, machine);
  machine.synchronise();
  await gateway.accept(6);
  expect(gateway.ingest.status()).toMatchObject({ waiting: 0, committed: 7 });
  expect(rows(directory.path)).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((event) => ({
      seq: event + 1,
      stamp: start_ms + event * 1_000,
      event,
      clock: event === 6 ? clockQuality.synchronised : clockQuality.corrected,
    })),
  );
});

test("readings of a boot that never learned the time are numbered before those of the next, between their neighbours", async () => {
  using directory = temporaryDirectory();
  const machine = new SimulatedMachine({ now_ms: start_ms });
  for (const [boot, learns] of [true, false, true].entries()) {
    machine.start(0, 0);
    if (learns) machine.synchronise();
    await using gateway = await start(directory.path, machine);
    await gateway.accept(boot);
    machine.advance(3_600_000);
  }
  const found = rows(directory.path);
  expect(found.map(({ event, clock }) => [event, clock])).toEqual([
    [0, clockQuality.synchronised],
    [1, clockQuality.bounded],
    [2, clockQuality.synchronised],
  ]);
  expect(found.map(({ stamp }) => stamp)).toEqual(found.map(({ stamp }) => stamp).sort());
});

test("what a device's own clock said is on disk beside the stamp that was made of it", async () => {
  using directory = temporaryDirectory();
  const machine = new SimulatedMachine({ now_ms: start_ms });
  machine.start(start_ms, 0);
  machine.synchronise();
  {
    await using gateway = await start(directory.path, machine);
    const { monotonic_ms } = machine.moment();
    await gateway.put({
      device: { kind: "pillboxes", address: "00:0d:6f:00:07:00", subtype: "polled" },
      series: "pillbox_events",
      stamp_ms: start_ms - 60_000,
      monotonic_ms: monotonic_ms - 60_000,
      clock: clockQuality.device,
      deviceClock: { stamp_ms: start_ms - 3_660_000, offset_ms: 3_600_000 },
      values: { event: 3 },
    });
  }
  using database = new Database(databaseOf(directory.path), { readonly: true });
  expect(
    database.query("SELECT stamp, event, clock, device_ms, offset_ms FROM pillbox_events").all(),
  ).toEqual([
    { stamp: start_ms - 60_000, event: 3, clock: 4, device_ms: start_ms - 3_660_000, offset_ms: 3_600_000 },
  ]);
});

/** A process of a gateway on the machine, as it now is. */
async function start(directory: string, machine: SimulatedMachine) {
  const store = await openGateway(directory);
  const clock = machine.startProcess();
  const ingest = new Ingest({ store, clock, log: keptLog().log });
  const put = async (reading: Reading) => {
    const taken = ingest.accept(reading);
    machine.advance(100);
    await taken;
  };
  return {
    store,
    ingest,
    put,
    /** Takes in an event that happens now; the next can happen a second later. */
    accept: async (event: number) => {
      const { unix_ms, monotonic_ms, quality } = machine.moment();
      const reading = { device: sensor(1), series: "wirelesssensor_events", values: { event } } as const;
      await put({ ...reading, stamp_ms: unix_ms, monotonic_ms, clock: quality });
      machine.advance(900);
    },
    async [Symbol.asyncDispose]() {
      machine.killProcess();
      await store.close();
    },
  };
}

function rows(directory: string): { seq: number; stamp: number; event: number; clock: number }[] {
  using database = new Database(databaseOf(directory), { readonly: true });
  return database
    .query("SELECT seq, stamp, event, clock FROM wirelesssensor_events ORDER BY seq")
    .all() as [];
}
