/**
 * From the last byte of a frame on a pty to its record in an answered page, at one event a second
 *
 *   ./scripts/bench latency [--events 120] [--quick]
 *
 * This process is the stick and its sensors, and a client that asks for the newest record every millisecond on one
 * connection until it is there; the gateway is the program that people start. Then the two bars that go with it: commits
 * an hour (./scripts/bench commits), and 1,000 notifications a second (./scripts/bench ingest).
 * Exits with 1 when half of the events take longer than 15 ms, one of a hundred longer than 60, or another bar is missed.
 * --quick takes 20 events, and leaves the other two out.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { SimulatedDevice } from "../../drivers/zigbee/simulator/device.ts";
import { StickHome } from "./stick/home.ts";

const { values: options } = parseArgs({
  options: {
    events: { type: "string" },
    quick: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (options.help) {
  console.log("./scripts/bench latency [--events 120] [--quick]");
  process.exit();
}

const sensor_count = 6;
const p50_max_ms = 15;
const p99_max_ms = 60;
const asking_ms = 1;
/** An event that takes longer is lost. */
const lost_ms = 10_000;

const { events, pages } = await latencies(Number(options.events ?? (options.quick ? 20 : 120)));
console.log(`last byte on the pty to an answered page, ${events.length} events, one a second:`);
console.log(`the event  ${shown(events)}`);
console.log(`the machine, by the same page just before  ${shown(pages)}`);
const [p50, p99] = [quantile(events, 0.5), quantile(events, 0.99)];
const kept = [
  told(p50 <= p50_max_ms, `p50 at most ${p50_max_ms} ms`),
  told(p99 <= p99_max_ms, `p99 at most ${p99_max_ms} ms`),
];
if (!options.quick) kept.push(run("with-source/commits"), run("ingest"));
process.exit(kept.every((one) => one) ? 0 : 1);

/** Milliseconds that each event took, one a second, from one sensor after the other; and a page in which nothing is new. */
async function latencies(count: number): Promise<{ events: number[]; pages: number[] }> {
  const home = await StickHome.start(sensor_count);
  try {
    const [events, pages]: [number[], number[]] = [[], []];
    const started_ms = performance.now();
    for (let event = 1; event <= count; event++) {
      // Not in step with anything in the gateway that happens every second.
      const at_ms = started_ms + event * 1_000 + Math.random() * 500;
      await Bun.sleep(Math.max(0, at_ms - performance.now()));
      const sensor = home.sensors[event % sensor_count];
      if (sensor === undefined) throw new RangeError(`no sensor for event ${event}`);
      const asked_ms = performance.now();
      await home.newest(home.nameOf(sensor));
      pages.push(performance.now() - asked_ms);
      // No status that a sensor at rest or one that has just joined would report.
      events.push(await latency(home, sensor, 0x400 + event));
    }
    return { events, pages };
  } finally {
    await home.close();
  }
}

async function latency(home: StickHome, sensor: SimulatedDevice, status: number): Promise<number> {
  const name = home.nameOf(sensor);
  sensor.notify(status);
  await home.stick.drained();
  const written_ms = performance.now();
  for (;;) {
    const newest = await home.newest(name);
    const taken_ms = performance.now() - written_ms;
    if (newest === status) return taken_ms;
    if (taken_ms > lost_ms) throw new Error(`status ${status} of ${name} never came`);
    // Asked without a pause it would have 20,000 answers a second to make, which no client of a home asks for.
    await Bun.sleep(asking_ms);
  }
}

function shown(values: readonly number[]): string {
  return [0.5, 0.95, 0.99, 1].map((q) => `p${q * 100} ${quantile(values, q).toFixed(1)} ms`).join(", ");
}

function told(kept: boolean, bar: string): boolean {
  console.log(`${kept ? "kept  " : "MISSED"} ${bar}`);
  return kept;
}

function quantile(values: readonly number[], q: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? Number.NaN;
}

/** Runs another benchmark to its end; whether its bars are kept. */
function run(name: string): boolean {
  console.log(`\n${name}:`);
  const program = join(import.meta.dir, `${name}.ts`);
  return Bun.spawnSync([process.execPath, program], { stdout: "inherit", stderr: "inherit" }).exitCode === 0;
}
