import { join } from "node:path";
import { PillboxDriver, type PillboxOptions } from "../../../drivers/pillbox/driver.ts";
import { SimulatedBox, type SimulatedBoxOptions } from "../../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../../drivers/pillbox/simulator/bridge.ts";
import type { TransportKind } from "../../../drivers/wire/simulated-line.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { numbers } from "../../../testbed/numbers.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { TravellingClock } from "../travelling-clock.ts";

export const mac = "c0:ff:ee:00:00:01";

/** A driver on a simulated bridge with one box, and a clock that can be sent ahead. */
export async function household(
  options: {
    transport?: TransportKind;
    seed?: number;
    box?: Partial<SimulatedBoxOptions>;
    timeout_ms?: number;
  } = {},
) {
  const directory = temporaryDirectory();
  const clock = new TravellingClock();
  const host = new RecordingHost({ directory: join(directory.path, "pillbox"), clock });
  const bridge = await BridgeSimulator.listen({
    transport: options.transport ?? "tcp",
    random: numbers(options.seed ?? 1),
  });
  const box = new SimulatedBox({ mac, now_ms: clock.true_ms, ...options.box });
  bridge.boxes.push(box);
  const driverOptions: PillboxOptions = {
    config: { port: bridge.path },
    host,
    bounds: { least_ms: 10, most_ms: 50 },
    askBounds: { timeout_ms: options.timeout_ms ?? 200 },
  };
  const drivers: PillboxDriver[] = [];
  const home = {
    clock,
    host,
    bridge,
    box,
    /** A driver on what the host has on disk, as after a restart. */
    start: () => {
      const driver = new PillboxDriver(driverOptions);
      drivers.push(driver);
      driver.start();
      return driver;
    },
    events: () => host.readings.filter(({ series }) => series === "pillbox_events"),
    statuses: () => host.readings.filter(({ series }) => series === "pillbox_status"),
    /** Waits until so many statuses are kept and everything that the box has was read. */
    polled: async (times: number) => {
      await host.until(`${times} polls`, () => home.statuses().length >= times);
      await home.quiet();
    },
    /** Waits until the driver only waits for a later time. */
    quiet: () => host.until("the driver to have asked everything", () => (clock.idle_ms ?? 0) > asked_ms),
    /** Time passes in steps, each with all that it brings about. */
    pass: async (whole_ms: number, step_ms: number) => {
      for (let passed = 0; passed < whole_ms; passed += step_ms) {
        clock.travel(step_ms);
        await home.quiet();
      }
    },
    /** The bridge is back after a time in which it was silent: time passes until the box has answered, and all of it was read. */
    heardAgain: async () => {
      bridge.silent = false;
      const before = home.statuses().length;
      while (home.statuses().length === before) {
        await home.quiet();
        clock.travel(60_000);
      }
      await home.quiet();
    },
    [Symbol.asyncDispose]: async () => {
      for (const driver of drivers) await driver.stop();
      await bridge.close();
      directory.remove();
    },
  };
  return home;
}

/** The driver's waits within a request are shorter than this, those between polls longer. */
const asked_ms = 1_000;

/** How far the stamps of events are from what really happened, at most, in milliseconds; fails on a wrong order. */
export function worstError_ms(
  events: readonly Reading[],
  history: readonly { at_ms: number; doors: number }[],
): number {
  if (events.length !== history.length) throw new Error(`${events.length} events of ${history.length}`);
  return Math.max(
    0,
    ...events.map(({ stamp_ms, values }, index) => {
      const truth = history[index];
      if (truth === undefined || truth.doors !== values["event"])
        throw new Error(`event ${index} is another one`);
      return Math.abs(stamp_ms - truth.at_ms);
    }),
  );
}
