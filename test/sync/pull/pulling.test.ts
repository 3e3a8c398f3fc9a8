import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startCentral } from "../../../src/central.ts";
import { readGatewayList } from "../../../src/gateway-list.ts";
import { openCentralStore } from "../../../src/store/sqlite/central-open.ts";
import { fleetOf } from "../../../src/sync/fleet/fleet.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";
import { keptLog, temporaryDirectory } from "../../store/sample.ts";
import { day_ms, daysOfEvents } from "../upload/programme.ts";
import { PulledHome, rowsAt } from "./pulled-home.ts";

const from_ms = Date.UTC(2026, 10, 1);

/** Lets time pass, and what hangs on it happen, until something holds. */
async function until(
  clock: TravellingClock,
  holds: () => Promise<boolean> | boolean,
  step_ms = 0,
): Promise<void> {
  for (let steps = 0; !(await holds()); steps += 1) {
    if (steps > 2_000) throw new Error("it never came to that");
    clock.travel(step_ms);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("every gateway of a list is read at its interval; one that is away is said once, seen in the fleet, and read again", async () => {
  using directory = temporaryDirectory();
  const clock = new TravellingClock();
  const homes = await Promise.all(
    Array.from({ length: 12 }, (_, index) => PulledHome.start(index + 1, clock)),
  );
  const [first] = homes as [PulledHome];
  for (const home of homes)
    await home.append(daysOfEvents({ from_ms, days: 1, count: 500, first: home.home * 7 }));
  for (const { home, token } of homes)
    writeFileSync(join(directory.path, `token-${home}`), token, { mode: 0o600 });
  const file = join(directory.path, "gateways.toml");
  const tables = homes.map(
    ({ home, port }) =>
      `[[gateway]]\nhome = ${home}\nurl = "http://127.0.0.1:${port}"\ntoken_file = "token-${home}"\n`,
  );
  writeFileSync(file, `every = "1h"\n${tables.join("\n")}`);
  const { log, lines } = keptLog("info");
  const store = await openCentralStore({
    directory: join(directory.path, "central"),
    clock,
    log: keptLog("error").log,
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
  const said = () => lines.filter((line) => line.includes("pull: "));
  try {
    await until(clock, async () => (await rowsAt(store)) === 6_000);
    expect(said()).toEqual([]);

    await first.stop();
    for (const home of homes.slice(1))
      await home.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 10 }));
    await until(clock, async () => (await rowsAt(store)) === 6_110, 60_000);
    // For two days: tried again and again, told once.
    const end_ms = clock.now().monotonic_ms + 2.2 * day_ms;
    await until(clock, () => said().length > 0 && clock.now().monotonic_ms > end_ms, 600_000);
    expect(said()).toEqual([
      expect.stringMatching(
        /^warn {2}pull: home 1: the gateway of home 1 at 127\.0\.0\.1:\d+ cannot be reached \(nobody listens there; 3 attempts\)/,
      ),
    ]);
    const needs = async () => (await fleetOf(store, clock.now().unix_ms)).flatMap((home) => home.needs);
    expect((await needs()).filter(({ type }) => type === "upload_overdue")).toEqual([
      {
        type: "upload_overdue",
        message: expect.stringMatching(
          /^The gateway of home 1 has not uploaded since 2026-11-\d+: the gateway of home 1 .*nobody listens there/,
        ),
      },
    ]);

    await first.start();
    await first.append(daysOfEvents({ from_ms: from_ms + day_ms, days: 1, count: 10 }));
    await until(clock, async () => (await rowsAt(store)) === 6_120, 600_000);
    await until(clock, () => said().length === 2);
    expect(said()[1]).toMatch(/^info {2}pull: the gateway of home 1 is read again, after \d+ minutes$/);
    await until(clock, async () => (await needs()).every(({ type }) => type !== "upload_overdue"));
    expect(
      (await fleetOf(store, clock.now().unix_ms)).find(({ homeid }) => homeid === 1)?.failure,
    ).toBeNull();
  } finally {
    await central.stop();
    for (const home of homes) await home[Symbol.asyncDispose]();
  }
}, 60_000);

test("a token that was corrected is used without a restart", async () => {
  using directory = temporaryDirectory();
  const clock = new TravellingClock();
  const homes = await Promise.all(
    Array.from({ length: 10 }, (_, index) => PulledHome.start(index + 1, clock)),
  );
  const last = homes.at(-1) as PulledHome;
  await last.append(daysOfEvents({ from_ms, days: 1, count: 10 }));
  const file = join(directory.path, "gateways.toml");
  writeFileSync(
    file,
    homes
      .map(
        ({ home, port }) =>
          `[[gateway]]\nhome = ${home}\nurl = "http://127.0.0.1:${port}"\ntoken_file = "token-${home}"`,
      )
      .join("\n"),
  );
  for (const { home, token } of homes)
    writeFileSync(join(directory.path, `token-${home}`), home === 10 ? "wrong.token" : token, {
      mode: 0o600,
    });
  const { log, lines } = keptLog("warn");
  const store = await openCentralStore({
    directory: join(directory.path, "central"),
    clock,
    log: keptLog("error").log,
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
    await until(clock, () => lines.length > 0);
    expect(lines).toEqual([expect.stringContaining("pull: home 10: the gateway of home 10 at 127.0.0.1")]);
    expect(lines[0]).toContain("refuses the token");
    writeFileSync(join(directory.path, "token-10"), last.token);
    await until(clock, async () => (await rowsAt(store)) === 10, 30_000);
  } finally {
    await central.stop();
    for (const home of homes) await home[Symbol.asyncDispose]();
  }
}, 60_000);
