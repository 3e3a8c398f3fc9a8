import { expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { StoreOutage } from "../../src/base/errors.ts";
import { startCentral } from "../../src/central/central.ts";
import { AlertKeeper } from "../../src/central/fleet/alert-keeper.ts";
import { Pulling } from "../../src/central/pull/pull-turns.ts";
import { mintToken } from "../../src/domain/token.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

/** Of a cluster one worker is away, and stays away. */
const part = { name: "worker 10.0.0.2:5432", back: new Promise<number>(() => {}) };
const away = () =>
  new StoreOutage("worker 10.0.0.2:5432 of database lintel is away", "start it", "unreachable", { part });
const hour_ms = 3_600_000;

test("gateways of homes on a worker that is away are named as one outage, while others are read", async () => {
  const clock = new SettableClock(0);
  const { log, lines } = keptLog("info");
  let read = 0;
  const pulls = [1, 2, 3, 4].map((home) => ({
    gateway: { home },
    turn: async () => {
      if (home % 2 === 1) throw away();
      read += 1;
      return { more: false };
    },
    noteFailure: async () => {},
  }));
  const pulling = new Pulling({ pulls, every_ms: hour_ms, clock, log, random: () => 0.5 });
  pulling.start();
  for (let minute = 0; minute < 240; minute += 1) await pass(clock, 60_000);
  await pulling.stop();
  expect(read).toBeGreaterThan(6);
  expect(lines).toEqual([
    "error worker 10.0.0.2:5432 of database lintel is away: start it (gateways of homes on it are not read until then)",
  ]);
});

test("alerts that cannot be kept because a worker is away are said once, and kept again when it is back", async () => {
  const clock = new SettableClock(0);
  const { log, lines } = keptLog("info");
  let isAway = true;
  let looked = 0;
  const asked = async () => {
    looked += 1;
    if (isAway) throw away();
    return [];
  };
  const store = {
    gateways: asked,
    itemHealth: async () => ({ items: new Map(), doubtful: [] }),
    unplaced: async () => [],
  };
  const empty = {
    erasures: async () => [],
    recordsWith: async () => [],
    records: async () => [],
    tokens: async () => [],
    pauses: async () => [],
    retentionNotices: async () => [],
  };
  const keeper = new AlertKeeper({ store: { ...store, ...empty } as unknown as CentralStore, clock, log });
  keeper.start();
  for (let quarter = 0; quarter < 8; quarter += 1) await pass(clock, hour_ms / 4);
  expect(lines).toEqual([
    "warn  alerts could not be kept: worker 10.0.0.2:5432 of database lintel is away: start it (said once; it is tried again every 15 minutes)",
  ]);
  isAway = false;
  await pass(clock, hour_ms / 4);
  isAway = true;
  await pass(clock, hour_ms / 4);
  expect(lines).toHaveLength(2);
  expect(looked).toBeGreaterThan(8);
  await keeper.stop();
});

test("central starts while a worker is away, whether it reads gateways or not, and serves what it can of its metrics", async () => {
  using directory = temporaryDirectory();
  const { log, lines } = keptLog("warn");
  for (const gateways of [undefined, { every_ms: hour_ms, gateways: [], warnings: [] }]) {
    const store = await openCentralStore({
      directory: directory.path,
      clock: new SystemClock(),
      log,
      ...writerOfTests(),
    });
    const { token, text } = mintToken({ name: "reader", scope: "read", clock: new SystemClock() });
    await store.addToken(token);
    const central = await startCentral({
      store: { ...store, gateways: async () => Promise.reject(away()) },
      listen: { hostname: "127.0.0.1", port: 0 },
      settings: { address: "--listen", port: "--port", certificate: "--tls-certificate", key: "--tls-key" },
      realm: "lintel",
      metrics: true,
      ...(gateways === undefined ? {} : { gateways }),
      clock: new SystemClock(),
      log,
    });
    const headers = { authorization: `bearer ${text}` };
    const metrics = await fetch(`${central.origin}/metrics`, { headers });
    expect([metrics.status, await metrics.text()]).toEqual([200, expect.stringContaining("lintel_memory")]);
    await central.stop();
  }
  expect(lines.filter((line) => line.includes("pull: "))).toEqual([
    "warn  pull: worker 10.0.0.2:5432 of database lintel is away: start it (days of listed gateways are compared once more)",
  ]);
});

/** Lets time pass, and what it wakes be done. */
async function pass(clock: SettableClock, ms: number): Promise<void> {
  clock.advance(ms);
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
}
