import { expect, test } from "bun:test";
import { join } from "node:path";
import { WatchDriver } from "../../../drivers/watch/driver.ts";
import type { Block } from "../../../drivers/watch/health-log.ts";
import { block_ms } from "../../../drivers/watch/readings.ts";
import { plausibleLog } from "../../../drivers/watch/simulator/log.ts";
import { WatchSimulator } from "../../../drivers/watch/simulator/watch.ts";
import type { TransportKind } from "../../../drivers/wire/simulated-line.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { hour_ms } from "../../../src/base/time.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { TravellingClock } from "../travelling-clock.ts";

const noon_ms = Date.UTC(2026, 10, 20, 12);
const address = "c0:ff:ee:00:00:09";

async function worn({ transport = "tcp" }: { transport?: TransportKind } = {}) {
  const directory = temporaryDirectory();
  const clock = new TravellingClock(noon_ms);
  const host = new RecordingHost({ directory: join(directory.path, "watch"), clock });
  const simulator = await WatchSimulator.listen({ transport });
  const drivers: WatchDriver[] = [];
  return {
    clock,
    host,
    simulator,
    watch: simulator.watch,
    start: (config: { stride_m?: number } = {}) => {
      const driver = new WatchDriver({
        config: { port: simulator.path, address, ...config },
        host,
        bounds: { least_ms: 10, most_ms: 50 },
      });
      drivers.push(driver);
      driver.start();
      return driver;
    },
    /** Waits until so many fetches are over. */
    fetched: async (times: number) => {
      await host.until(`${times} fetches`, () => simulator.watch.fetches.length >= times);
      // Then nothing waits but the next fetch.
      await host.until("the end of the fetch", () => (clock.idle_ms ?? 0) > 60_000);
    },
    [Symbol.asyncDispose]: async () => {
      for (const driver of drivers) await driver.stop();
      await simulator.close();
      directory.remove();
    },
  };
}

function block(index: number, activity: Block["activity"] = "UNKNOWN", steps = 10): Block {
  return { end_ms: noon_ms - 24 * hour_ms + index * block_ms, steps, activity };
}

for (const transport of ["tcp", "pty"] as const) {
  test(`blocks of a watch on a ${transport} wire become epochs that begin ten minutes before`, async () => {
    await using home = await worn({ transport });
    home.watch.blocks.push(
      block(0, "WALKING", 300),
      block(1, "EXERCISE", 100),
      block(2, "LIGHT_SLEEP", 0),
      block(3, "DEEP_SLEEP", 0),
    );
    home.start();
    await home.fetched(1);
    expect(home.host.readings.map(({ stamp_ms }) => stamp_ms)).toEqual(
      [-1, 0, 1, 2].map((index) => block(index).end_ms),
    );
    expect(home.host.readings.map(({ values }) => values)).toEqual([
      { duration: 600, distance: 210, steps: 300, walkState: 2, runState: 1, sleepState: 1 },
      { duration: 600, distance: 70, steps: 100, walkState: 1, runState: 2, sleepState: 1 },
      { duration: 600, distance: 0, steps: 0, walkState: 1, runState: 1, sleepState: 2 },
      { duration: 600, distance: 0, steps: 0, walkState: 1, runState: 1, sleepState: 3 },
    ]);
    expect(Math.abs((home.watch.time_s ?? 0) - home.clock.true_ms() / 1000)).toBeLessThan(2);
    expect(home.host.states.some(({ battery_percent }) => battery_percent === 80)).toBe(true);
  });
}

test("each fetch goes on from the last epoch, whose block comes again and is kept once", async () => {
  await using home = await worn();
  home.watch.blocks.push(block(0), block(1));
  const first = home.start({ stride_m: 0.5 });
  await home.fetched(1);
  expect(home.host.readings[0]?.values["distance"]).toBe(5);
  expect(home.host.readings[0]?.clock).toBe(clockQuality.deviceUnmeasured);
  home.watch.blocks.push(block(2));
  home.clock.travel(hour_ms);
  await home.fetched(2);
  await first.stop();
  home.watch.blocks.push(block(3));
  home.start();
  await home.fetched(3);
  expect(home.watch.fetches).toEqual([0, block(1).end_ms, block(2).end_ms]);
  expect(home.host.readings.map(({ stamp_ms }) => stamp_ms + block_ms)).toEqual(
    [0, 1, 2, 3].map((index) => block(index).end_ms),
  );
  expect(home.host.readings.at(-1)?.clock).toBe(clockQuality.device);
});

test("months of backlog in any order become epochs in order, with progress, and not-worn stretches become gaps", async () => {
  await using home = await worn();
  const from_ms = noon_ms - 120 * 24 * hour_ms;
  const random = seeded(5);
  const log = plausibleLog({ from_ms, until_ms: noon_ms, random });
  home.watch.blocks.push(...log);
  home.watch.onAnswer = ([first = "", ...rest]) => {
    const last = rest.pop() ?? "";
    return [first, ...rest.sort(() => random() - 0.5), last];
  };
  home.start();
  await home.fetched(1);
  const isWorn = ({ activity }: Block) => activity !== "NOT_WORN";
  expect(home.host.readings.map(({ stamp_ms }) => stamp_ms + block_ms)).toEqual(
    log.filter(isWorn).map(({ end_ms }) => end_ms),
  );
  expect(home.host.gaps).toHaveLength(120);
  expect(
    home.host.gaps.every(
      ({ reason, from_ms, to_ms }) => reason === "not_worn" && to_ms - from_ms === hour_ms,
    ),
  ).toBe(true);
  expect(
    home.host.lines.filter((line) => /blocks of its log have come, up to 2026-/.test(line)).length,
  ).toBeGreaterThan(5);
});

test("live values, talk of the console and damaged lines are no epochs, and lost lines are fetched again", async () => {
  await using home = await worn();
  const { watch, host } = home;
  watch.blocks.push(block(0), block(1), block(2));
  let spoilt = true;
  watch.onAnswer = (lines) => {
    const spoil = spoilt;
    spoilt = false;
    return spoil ? [">", "=undefined", ...lines.map((line) => line.replace('"stp":10,', '"stp":1'))] : lines;
  };
  home.start();
  watch.live(3);
  await home.fetched(2);
  expect(host.readings).toHaveLength(3);
  expect(host.drops.get("watch: damaged lines")).toBe(3);
});

test.each([
  ["in order", (lines: readonly string[]) => lines.slice(0, 1_000)],
  [
    "newer blocks first",
    (lines: readonly string[]) => [...lines.slice(0, 980), ...lines.slice(1_000, 1_020)],
  ],
])(
  "a log that is cut off, %s, keeps what is settled, and the rest comes with the next connection",
  async (_, cut) => {
    await using home = await worn();
    const { watch, host } = home;
    const log = plausibleLog({ from_ms: noon_ms - 10 * 24 * hour_ms, until_ms: noon_ms, random: seeded(2) });
    watch.blocks.push(...log);
    watch.onAnswer = (lines) => [...cut(lines), '{"t":"act","rt":1}'];
    const driver = home.start();
    await host.until("the fetch", () => watch.fetches.length === 1);
    watch.onAnswer = (lines) => lines;
    // The battery, the start and the live value are heard.
    await host.until("the lines to have come", () => host.states.length === 3);
    home.clock.travel(20_000);
    await host.until("the driver to say so", () => host.said(/fell silent while it sent its log/));
    await home.fetched(2);
    expect(watch.fetches[1]).toBeGreaterThan(noon_ms - 6 * 24 * hour_ms);
    const stamps = host.readings.map(({ stamp_ms }) => stamp_ms + block_ms);
    expect(stamps).toEqual(log.filter(({ activity }) => activity !== "NOT_WORN").map(({ end_ms }) => end_ms));
    expect(driver.status().state).toBe("listening");
  },
);

test("a block from the future is counted and left, and what follows it is not lost", async () => {
  await using home = await worn();
  home.watch.blocks.push({ end_ms: noon_ms + 100 * 24 * hour_ms, steps: 1, activity: "UNKNOWN" }, block(5));
  home.start();
  await home.fetched(1);
  expect(home.host.readings.map(({ stamp_ms }) => stamp_ms + block_ms)).toEqual([block(5).end_ms]);
  expect(home.host.drops.get("watch: blocks from the future")).toBe(1);
});

test("a watch that is pulled out and put back is read on", async () => {
  await using home = await worn();
  home.watch.blocks.push(block(0));
  const driver = home.start();
  await home.fetched(1);
  await home.simulator.unplug();
  await home.host.until("the driver to notice", () => driver.status().state === "retrying");
  home.watch.blocks.push(block(1));
  await home.simulator.replug();
  await home.fetched(2);
  expect(home.host.readings).toHaveLength(2);
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
}
