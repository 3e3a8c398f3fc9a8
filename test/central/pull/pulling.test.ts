import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { startCentral } from "../../../src/central/central.ts";
import { fleetOf } from "../../../src/central/fleet/fleet.ts";
import type { Pull } from "../../../src/central/pull/pull.ts";
import { Pulling } from "../../../src/central/pull/pull-turns.ts";
import { readGatewayList } from "../../../src/config/gateway-list.ts";
import { openCentralStore } from "../../../src/store/sqlite/open-central.ts";
import { keptLog, seeded, temporaryDirectory } from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";
import { daysOfEvents } from "../../gateway/uploader/programme.ts";
import { PulledHome, rowsAt } from "./pulled-home.ts";

const from_ms = Date.UTC(2026, 10, 1);
const central_log = keptLog("error").log;

/** Looks again and again, a bounded number of times, until something holds; `between` may let time pass. */
async function until(holds: () => Promise<boolean> | boolean, between: () => void = () => {}): Promise<void> {
  for (let looks = 0; !(await holds()); looks += 1) {
    if (looks > 5_000) throw new Error("it never came to that");
    between();
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** Counts the turns that are under way, and those of each home that have been taken. */
class Turns {
  underWay = 0;
  most = 0;
  readonly taken: number[] = [];

  count(pull: Pull): Pull {
    const turn = pull.turn.bind(pull);
    pull.turn = async (stop) => {
      this.underWay += 1;
      this.most = Math.max(this.most, this.underWay);
      this.taken.push(pull.gateway.home);
      try {
        return await turn(stop);
      } finally {
        this.underWay -= 1;
      }
    };
    return pull;
  }
}

test("gateways are read a few at once at their interval; one that is away is said once, seen in the fleet, and read again", async () => {
  using directory = temporaryDirectory();
  const clock = new TravellingClock();
  const homes: PulledHome[] = [];
  for (let home = 1; home <= 10; home += 1) homes.push(await PulledHome.start(home, clock));
  const [first] = homes as [PulledHome];
  for (const home of homes)
    await home.append(daysOfEvents({ from_ms, days: 1, count: 500, first: home.home * 7 }));
  const store = await openCentralStore({
    directory: directory.path,
    clock,
    log: central_log,
    ...writerOfTests(),
  });
  const { log, lines } = keptLog("info");
  const turns = new Turns();
  const pulls: Pull[] = [];
  for (const home of homes) pulls.push(turns.count(await home.pull(store)));
  const pulling = new Pulling({ pulls, every_ms: 6 * 3_600_000, clock, log, random: seeded(3) });
  // From one thing that is due to the next, while nobody is asked.
  const travel = () => {
    if (turns.underWay === 0) clock.travel(Math.max(0, clock.idle_ms ?? 0));
  };
  try {
    pulling.start();
    await until(async () => (await rowsAt(store)) === 5_000 && turns.underWay === 0);
    expect(turns.taken.toSorted((one, other) => one - other)).toEqual(homes.map(({ home }) => home));
    expect(turns.most).toBe(8);
    expect(lines).toEqual([]);

    await first.stop();
    for (const home of homes.slice(1))
      await home.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 10 }));
    const end_ms = clock.now().monotonic_ms + 2.5 * day_ms;
    await until(() => clock.now().monotonic_ms > end_ms && turns.underWay === 0, travel);
    expect(await rowsAt(store)).toBe(5_090);
    // Tried after a minute, two, four and so on up to the interval, and told once.
    expect(turns.taken.filter((home) => home === 1).length).toBeWithin(15, 30);
    expect(turns.taken.filter((home) => home === 2).length).toBeWithin(9, 13);
    expect(lines).toEqual([
      expect.stringMatching(
        /^warn {2}home 1: the gateway of home 1 at 127\.0\.0\.1:\d+ cannot be reached \(nobody listens there; 3 attempts\): .*said once/,
      ),
    ]);
    const overdue = async () =>
      (await fleetOf(store, clock.now().unix_ms)).flatMap(({ needs }) =>
        needs.filter(({ type }) => type === "upload_overdue"),
      );
    expect(await overdue()).toEqual([
      {
        type: "upload_overdue",
        message: expect.stringMatching(
          /^The gateway of home 1 has not uploaded since 2026-11-\d+: the gateway of home 1 .*nobody listens there/,
        ),
      },
    ]);

    await first.start();
    await first.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 10 }));
    await until(async () => (await rowsAt(store)) === 5_100 && turns.underWay === 0, travel);
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^info {2}the gateway of home 1 is read again, after \d+ minutes$/),
    ]);
    expect(await overdue()).toEqual([]);
  } finally {
    await pulling.stop();
    await store.close();
    for (const home of homes) await home[Symbol.asyncDispose]();
  }
});

test("central reads the gateways of its list, and takes another token without a restart", async () => {
  using directory = temporaryDirectory();
  const clock = new TravellingClock();
  await using home = await PulledHome.start(7, clock);
  await home.append(daysOfEvents({ from_ms, days: 1, count: 10 }));
  const file = join(directory.path, "gateways.toml");
  const token = join(directory.path, "token");
  writeFileSync(file, `[[gateway]]\nhome = 7\nurl = "http://127.0.0.1:${home.port}"\ntoken_file = "token"\n`);
  writeFileSync(token, "wrong.token", { mode: 0o600 });
  const { log, lines } = keptLog("warn");
  const store = await openCentralStore({
    directory: join(directory.path, "central"),
    clock,
    log: central_log,
    ...writerOfTests(),
  });
  const central = await startCentral({
    store,
    listen: { hostname: "127.0.0.1", port: 0 },
    settings: { address: "--listen", port: "--port", certificate: "--tls-certificate", key: "--tls-key" },
    realm: "lintel",
    metrics: false,
    gateways: readGatewayList(file),
    clock,
    log,
  });
  try {
    await until(() => lines.length > 0);
    expect(lines[0]).toContain("pull: home 7: the gateway of home 7 at 127.0.0.1");
    expect(lines[0]).toContain("refuses the token");
    writeFileSync(token, home.token);
    clock.travel(90_000);
    await until(async () => (await rowsAt(store)) === 10);
    expect(lines).toHaveLength(1);
  } finally {
    await central.stop();
  }
});
