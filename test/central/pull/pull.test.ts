import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../../src/base/errors.ts";
import { day_ms } from "../../../src/base/time.ts";
import type { CentralPlace } from "../../../src/cli/store-place.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { uploadFrom } from "../../../src/gateway/uploader/uploader.ts";
import { beginEpochIn } from "../../../src/store/sqlite/role-and-epoch.ts";
import { TryAgainLater } from "../../../src/web/client/http-request.ts";
import { FaultyProxy } from "../../../testbed/faulty-proxy.ts";
import { homeReadings } from "../../../testbed/home-readings.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { postgresServer } from "../../../testbed/postgres/server.ts";
import { keptLog, seeded, sensor, sensorEvent } from "../../../testbed/sample.ts";
import { testAtNight } from "../../at-night.ts";
import { changeBehind, daysOfEvents, Programme } from "../../gateway/uploader/programme.ts";
import { drain, PulledHome, rowsAt } from "./pulled-home.ts";

const from_ms = Date.UTC(2026, 10, 1);
const never = new AbortController().signal;

async function expectOnce(home: PulledHome, programme: Programme, count: number): Promise<void> {
  const { here, there } = await home.bothSides(programme.store);
  expect(there).toEqual(here);
  expect(await rowsAt(programme.store)).toBe(count);
}

async function faultOf(turn: Promise<unknown>): Promise<Error> {
  return (await turn.then(
    () => new Error("it went well"),
    (fault) => fault,
  )) as Error;
}

/** The next readings; the source stays open. */
function next(source: Iterator<Reading>, count: number): Reading[] {
  return Array.from({ length: count }, () => source.next().value);
}

/** Runs a test on each of central's stores. */
function onBothStores(
  name: string,
  run: (programme: Programme, place?: CentralPlace) => Promise<void>,
): void {
  test(`${name} (SQLite)`, async () => {
    await using programme = new Programme();
    await programme.start();
    await run(programme);
  });
  testAtNight(`${name} (PostgreSQL)`, async () => {
    await using database = await (await postgresServer()).database();
    await using programme = new Programme();
    await programme.startOn({ database: database.url });
    await run(programme);
  });
}

test("the states of more devices than one report holds are read in several", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(12, programme.clock);
  const states = Array.from({ length: 900 }, (_, number) => ({
    device: sensor(number),
    heard_ms: from_ms + number,
  }));
  await home.gateway.store.append([], { states });
  expect(await drain(await home.pull(programme.store))).toBe(1);
  const { items } = await programme.store.overview();
  expect(items.map(({ heard_ms = 0 }) => heard_ms - from_ms).toSorted((one, other) => one - other)).toEqual(
    states.map((_, number) => number),
  );
});

onBothStores(
  "a gateway is read whole, once, with its report, its condition and its files",
  async (programme) => {
    await using home = await PulledHome.start(12, programme.clock);
    const device = sensor(1);
    await home.append(daysOfEvents({ from_ms, days: 3, count: 9_000 }));
    await home.gateway.store.append([sensorEvent(device, from_ms + 4 * day_ms, 1)], {
      listening: [{ listener: "zigbee", from_ms, to_ms: from_ms + 4 * day_ms }],
      states: [{ device, heard_ms: from_ms + 4 * day_ms, listener: "zigbee", battery_percent: 70 }],
      gaps: [
        { device, from_ms: from_ms + 100_000, to_ms: from_ms + 120_000, reason: "overwritten", lost: 4 },
      ],
    });
    const pull = await home.pull(programme.store);
    expect(await drain(pull)).toBe(1);
    await expectOnce(home, programme, 9_001);
    const [gateway] = await programme.store.gateways();
    const { epoch } = home.gateway.store;
    expect(gateway).toMatchObject({ home: 12, epoch, held_seq: 9_001, rivals: [] });
    expect(gateway?.report).toMatchObject({
      last_seq: 9_001,
      differing_days: 0,
      pulled: { verified_seq: 9_001 },
    });
    const { items } = await programme.store.overview();
    expect(items.reduce((sum, { gaps }) => sum + gaps, 0)).toBe(1);
    expect(items.map(({ battery_percent }) => battery_percent)).toContain(70);
    expect([...(await programme.store.backups(12)).keys()]).toEqual([
      "admitted.json",
      "cursors.json",
      "given-names.json",
    ]);

    // The next turn takes the new readings alone; a central that has started again goes on from there too.
    await home.append([sensorEvent(device, from_ms + 5 * day_ms, 0)]);
    await drain(pull);
    await home.append([sensorEvent(device, from_ms + 6 * day_ms, 0)]);
    await drain(await home.pull(programme.store));
    await expectOnce(home, programme, 9_003);
    expect(home.lines).toEqual([]);
  },
);

onBothStores(
  "a line that fails at random bytes and a gateway that goes away lose and repeat nothing",
  async (programme) => {
    const random = seeded(11);
    await using home = await PulledHome.start(3, programme.clock);
    const source = homeReadings(random, from_ms);
    const [readings, faults_least, bytes_max] = nightly ? [30_000, 25, 60_000] : [10_000, 12, 30_000];
    const proxy = new FaultyProxy({ port: home.port, random, bytes_max });
    let appended = 0;
    let pull = await home.pull(programme.store, { url: `http://127.0.0.1:${proxy.port}` });
    for (let round = 0; round < 100 && (proxy.faults < faults_least || appended < readings); round += 1) {
      if (appended < readings) {
        await home.append(next(source, readings / 10));
        appended += readings / 10;
      }
      const turn = pull.turn(never).catch((thrown) => {
        if (!(thrown instanceof TryAgainLater)) throw thrown;
      });
      if (round % 7 === 3) {
        await home.stop();
        await home.start();
      }
      await turn;
      // As if central had started again.
      if (round % 5 === 4) pull = await home.pull(programme.store, { url: `http://127.0.0.1:${proxy.port}` });
    }
    proxy.calm = true;
    await drain(pull);
    proxy.stop();
    expect(proxy.faults).toBeGreaterThanOrEqual(faults_least);
    expect(appended).toBe(readings);
    await expectOnce(home, programme, appended);
  },
);

test("a backlog of months is taken in several turns, so that others have theirs, and compared at the end", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(4, programme.clock);
  const source = homeReadings(seeded(8), from_ms - 40 * day_ms);
  await home.append(next(source, 10_000));
  const pull = await home.pull(programme.store, { turn_batches_max: 2 });
  expect(await pull.turn(never)).toEqual({ more: true });
  const [before] = await programme.store.gateways();
  expect(before?.held_seq).toBe(2 * 4_096);
  expect(before?.report).toMatchObject({ last_seq: 10_000, pulled: { verified_seq: 0 } });
  // A spare box that got the files of these readings would believe to have them.
  expect((await programme.store.backups(4)).size).toBe(0);
  expect(await pull.turn(never)).toEqual({ more: false });
  await expectOnce(home, programme, 10_000);
  const [after] = await programme.store.gateways();
  expect(after?.report).toMatchObject({ pulled: { verified_seq: 10_000 } });
});

test("a box that was restored goes on under another epoch, and both are held", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(4, programme.clock);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 300 }));
  const pull = await home.pull(programme.store);
  await drain(pull);
  await home.stop();
  beginEpochIn(home.directory, "e".repeat(32));
  await home.start();
  await home.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 200 }));
  await drain(pull);
  await expectOnce(home, programme, 500);
  const [gateway] = await programme.store.gateways();
  expect(gateway).toMatchObject({ home: 4, epoch: home.gateway.store.epoch, held_seq: 500, rivals: [] });
  expect(gateway?.report).toMatchObject({ pulled: { epoch: home.gateway.store.epoch, verified_seq: 500 } });
});

test("a gateway that uploads while it is read has every reading at central once", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(5, programme.clock);
  const { token } = await programme.box(5, "unused");
  const tokenFile = join(home.directory, "..", "token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const push = () =>
    uploadFrom(
      {
        data: home.directory,
        timezone: "UTC",
        target: { url: programme.url, token_file: tokenFile, at: "", bytes_per_s: 1e9 },
      },
      { everyDay: false, stop: never, clock: programme.clock, log: keptLog("error").log },
    );
  const pull = await home.pull(programme.store);
  const source = homeReadings(seeded(2), from_ms);
  for (let round = 1; round <= 4; round += 1) {
    await home.append(next(source, 2_000));
    const [pushed] = await Promise.all([push(), drain(pull)]);
    expect(pushed).toMatchObject({ confirmed_seq: round * 2_000, differing_days: 0 });
  }
  await drain(pull);
  await expectOnce(home, programme, 8_000);
  expect((await programme.store.gateways()).find(({ home: at }) => at === 5)?.rivals).toEqual([]);
  expect(home.lines).toEqual([]);
});

test("what central has otherwise is repaired: on the days that were touched, and once a week on all", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(12, programme.clock);
  await home.append(daysOfEvents({ from_ms, days: 10, count: 5_000 }));
  await drain(await home.pull(programme.store));
  await programme.stop();
  programme.changeEvents(
    (stamp_ms) => stamp_ms < from_ms + day_ms / 50,
    (event) => event + 1,
  );
  await programme.start();
  const pull = await home.pull(programme.store);
  await drain(pull);
  expect((await home.bothSides(programme.store)).there).not.toEqual(
    (await home.bothSides(programme.store)).here,
  );
  programme.clock.travel(7 * day_ms);
  await drain(pull);
  await expectOnce(home, programme, 5_000);
  expect(home.lines).toEqual([
    expect.stringMatching(
      /^warn {2}1 days of the gateway of home 12 at .* differed from central's: \d+ readings were sent again$/,
    ),
  ]);
  const differing = async () => (await programme.store.gateways())[0]?.report["differing_days"];
  expect(await differing()).toBe(1);
  // Until all days are compared again.
  await home.append(daysOfEvents({ from_ms: from_ms + 20 * day_ms, days: 1, count: 10 }));
  await drain(pull);
  expect(await differing()).toBe(1);
  programme.clock.travel(7 * day_ms);
  await drain(pull);
  expect(await differing()).toBe(0);
});

test("what a pull that was cut off has taken and not compared is compared by the next", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(12, programme.clock);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 100 }));
  await drain(await home.pull(programme.store));
  await home.append(daysOfEvents({ from_ms: from_ms + 2 * day_ms, days: 1, count: 100 }));
  // The readings come, and the digests do not.
  const between = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => {
      const { pathname, search } = new URL(request.url);
      if (pathname.endsWith("/digests")) return new Response(null, { status: 503 });
      return fetch(`http://127.0.0.1:${home.port}${pathname}${search}`, {
        headers: request.headers,
        decompress: false,
      });
    },
  });
  const cut = await home.pull(programme.store, { url: `http://127.0.0.1:${between.port}` });
  expect(await faultOf(cut.turn(never))).toBeInstanceOf(TryAgainLater);
  await between.stop(true);
  expect(await rowsAt(programme.store)).toBe(200);
  await programme.stop();
  programme.changeEvents(
    (stamp_ms) => stamp_ms > from_ms + 2 * day_ms,
    (event) => event + 1,
  );
  await programme.start();
  await drain(await home.pull(programme.store));
  await expectOnce(home, programme, 200);
});

test("what a gateway has cleared away by its policy is no difference", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(5, programme.clock);
  await home.append(daysOfEvents({ from_ms: from_ms - 60 * day_ms, days: 60, count: 20_000 }));
  const { token } = await programme.box(5, "unused");
  const tokenFile = join(home.directory, "..", "token");
  writeFileSync(tokenFile, token, { mode: 0o600 });
  const site = {
    data: home.directory,
    timezone: "UTC",
    target: { url: programme.url, token_file: tokenFile, at: "", bytes_per_s: 1e9, keep_days: 30 },
  };
  const { pruned } = await uploadFrom(site, {
    everyDay: false,
    stop: never,
    clock: programme.clock,
    log: keptLog("error").log,
  });
  expect(pruned).toBeGreaterThan(0);
  await drain(await home.pull(programme.store));
  expect(await rowsAt(programme.store)).toBe(20_000);
  expect(home.lines).toEqual([]);
});

test("a gateway of another home, by its word or by central's, is refused before anything is taken", async () => {
  await using programme = new Programme();
  await programme.start();
  await using stranger = await PulledHome.start(12, programme.clock, 13);
  await stranger.append(daysOfEvents({ from_ms, days: 1, count: 10 }));
  const admin = await stranger.mint("admin");
  const fault = await faultOf((await stranger.pull(programme.store, { token: admin })).turn(never));
  expect(fault.message).toContain(
    "is in home 13, and is listed for home 12: correct home or url (gateways.toml line 3), or [home] id at the gateway",
  );
  expect(await programme.store.gateways()).toEqual([]);

  const token = await faultOf((await stranger.pull(programme.store)).turn(never));
  expect(token.message).toContain("refuses the token: ");
  expect(token.message).toContain(
    "make one at the gateway with lintel token create central --scope sync --home 12",
  );

  // One that does not say where it is, under another home than before.
  await using silent = await PulledHome.start(20, programme.clock, null);
  await silent.append(daysOfEvents({ from_ms, days: 1, count: 10 }));
  await drain(await silent.pull(programme.store));
  const pull = await silent.pull(programme.store);
  Object.assign(pull.gateway, { home: 21 });
  const foreign = await faultOf(pull.turn(never));
  expect(foreign.message).toContain("has readings that central holds as home 20's: correct home or url");
  expect((await programme.store.gateways()).map(({ home }) => home)).toEqual([20]);
});

test("a gateway on an older copy of its card is told so", async () => {
  await using programme = new Programme();
  await programme.start();
  await using home = await PulledHome.start(12, programme.clock);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 100 }));
  await drain(await home.pull(programme.store));
  await home.stop();
  changeBehind(home.directory, "DELETE FROM wirelesssensor_events WHERE seq > ?", [50]);
  changeBehind(home.directory, "UPDATE meta SET value = ? WHERE name = 'last_seq'", [50]);
  await home.start();
  const fault = await faultOf((await home.pull(programme.store)).turn(never));
  expect(fault).toBeInstanceOf(OperatorError);
  expect(fault.message).toContain("which itself has them up to 50: it runs on an older copy of its data");
});
