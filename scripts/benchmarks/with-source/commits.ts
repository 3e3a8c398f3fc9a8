/**
 * Commits an hour of the demo's home, and bytes written: as they are, and with 100 ms of waiting before each
 *
 *   ./scripts/bench commits [--days 7]
 *
 * Lets ingest and a store on this disk hear what the home's devices say and when, by a simulated clock: as it is said, and
 * held back as it once was, until 100 ms after the first of a group. A commit takes no simulated time, so that none shares
 * one because the disk is slow, which counts against us. Exits with 1 when there are more than 1.3 times as many commits.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lineLog } from "../../../src/base/log.ts";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { midnightsOf, Telling } from "../../../src/demo/history.ts";
import { heartbeatsOf, outagesBefore } from "../../../src/demo/outages.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { Ingest } from "../../../src/gateway/ingest/ingest.ts";
import { keepListening } from "../../../src/gateway/ingest/note-book.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { SimulatedMachine } from "../../../testbed/simulated-machine.ts";
import { optionsOf } from "../../program-options.ts";
import { Report } from "../api/report.ts";

const options = optionsOf("./scripts/bench commits [--days 7]", { days: 7 });

/** Something that a driver hands over, and when. */
interface Arrival {
  readonly at_ms: number;
  hand(ingest: Ingest): void;
}

interface Written {
  readonly commits: number;
  /** Those that hold readings; the others keep signs of life. */
  readonly withReadings: number;
  readonly bytes: number;
}

const ratio_max = 1.3;
const held_ms = 100;
/** How long a poll takes to have what a device has kept. */
const polled_after_ms = 300;
const step_max_ms = 5_000;
const until_ms = Date.UTC(2026, 9, 31);
const hours = options.days * 24;
const from_ms = until_ms - options.days * day_ms;

const arrivals = arrivalsOfHome();
const now = await replayed(arrivals);
const before = await replayed(heldBack(arrivals));
console.log(
  `the demo's home, ${options.days} days, ${perHour(arrivals.length)} readings and signs of life an hour`,
);
const report = new Report();
report.note(
  `commits with readings: ${perHour(now.withReadings)} an hour, ${perHour(before.withReadings)} with waiting`,
);
report.bar("commits an hour, beside waiting 100 ms before each", {
  value: now.commits / before.commits,
  most: ratio_max,
  of: [perHour(now.commits), perHour(before.commits)],
});
report.beside("kB written an hour", now.bytes / 1000 / hours, {
  name: "waiting 100 ms",
  figure: before.bytes / 1000 / hours,
});
process.exit(report.end());

function perHour(count: number): string {
  return (count / hours).toFixed(1);
}

/** Arrivals at the gateway, in order: from sensors and broadcasts at once, from polled devices once an hour. */
function arrivalsOfHome(): Arrival[] {
  const outages = outagesBefore(until_ms + 60 * day_ms);
  const telling = new Telling(1, outages);
  const readings = midnightsOf(from_ms, until_ms).flatMap((midnight_ms) => telling.day(midnight_ms).readings);
  const during = ({ at_ms }: Arrival) => at_ms >= from_ms && at_ms < until_ms;
  const told = readings.map((reading): Arrival => {
    return { at_ms: arrival_ms(reading), hand: (ingest) => void ingest.accept(reading, undefined, "zigbee") };
  });
  const { states } = heartbeatsOf({ from_ms, to_ms: until_ms }, [], outages);
  const alive = states.map((state): Arrival => {
    return { at_ms: state.heard_ms, hand: (ingest) => ingest.heard(state, state.listener) };
  });
  return [...told, ...alive].filter(during).sort((one, other) => one.at_ms - other.at_ms);
}

/** When a reading reaches the gateway: the watch and the polled box keep theirs for the next poll. */
function arrival_ms({ series, device, stamp_ms }: Reading): number {
  const buffered = series === "watch_epochs" || (series === "pillbox_events" && device.subtype === "polled");
  return buffered ? (Math.floor(stamp_ms / hour_ms) + 1) * hour_ms + polled_after_ms : stamp_ms;
}

/** The same as ingest had it when a group was committed 100 ms after its first. */
function heldBack(arrivals: readonly Arrival[]): Arrival[] {
  let group_ms = Number.NEGATIVE_INFINITY;
  return arrivals.map(({ at_ms, hand }) => {
    if (at_ms > group_ms) group_ms = at_ms + held_ms;
    return { at_ms: group_ms, hand };
  });
}

async function replayed(arrivals: readonly Arrival[]): Promise<Written> {
  const directory = mkdtempSync(join(tmpdir(), "lintel-bench-"));
  const machine = new SimulatedMachine({ now_ms: from_ms });
  machine.start(from_ms, 0);
  machine.synchronise();
  const clock = machine.startProcess();
  const log = lineLog({ write: () => {}, clock });
  const store = await openGatewayStore({ directory, clock, log });
  const written = { commits: 0, withReadings: 0 };
  let underWay: Promise<unknown> | undefined;
  const append: typeof store.append = async (...batch) => {
    written.commits += 1;
    if (batch[0].length > 0) written.withReadings += 1;
    const appended = store.append(...batch);
    underWay = appended;
    return await appended.finally(() => {
      underWay = undefined;
    });
  };
  const watched = {
    append,
    timeKnown: () => store.timeKnown(),
    waiting: (limit: number) => store.waiting(limit),
    deviceOffset: (...asked: Parameters<typeof store.deviceOffset>) => store.deviceOffset(...asked),
  };
  const ingest = new Ingest({ store: watched, clock, log });
  const endListening = keepListening({
    clock,
    listeners: () => ["zigbee", "pillbox", "ble"],
    note: (listener) => ingest.listening(listener),
  });
  /** Waits for the commit under way, and for what follows from it at once. */
  const settle = async () => {
    do {
      await underWay;
      await new Promise<void>((resolve) => setImmediate(resolve));
    } while (underWay !== undefined);
  };
  const before_bytes = writtenBytes();
  await store.timeKnown();
  for (const { at_ms, hand } of arrivals) {
    // Short steps at first, in which a commit and the pause after it begin when they would.
    for (let step_ms = held_ms / 2; machine.now_ms < at_ms; step_ms = Math.min(step_ms * 1.3, step_max_ms)) {
      machine.advance(Math.min(step_ms, at_ms - machine.now_ms));
      await settle();
    }
    hand(ingest);
  }
  await settle();
  endListening();
  await ingest.close();
  await store.close();
  const bytes = writtenBytes() - before_bytes;
  rmSync(directory, { recursive: true });
  return { ...written, bytes };
}

/** Bytes that this process has sent to its disk, from proc(5): whole pages, in the database and its log. */
function writtenBytes(): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}
