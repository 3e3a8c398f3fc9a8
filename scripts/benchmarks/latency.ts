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
import { StickHome } from "./stick/home.ts";

const { values: options } = parseArgs({
  options: {
    events: { type: "string", default: "120" },
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

const kept = judge(await latencies(options.quick ? 20 : Number(options.events)));
const others = options.quick ? [] : [run("commits"), run("ingest")];
process.exit(kept && others.every((one) => one) ? 0 : 1);

/** Milliseconds that each event took, one a second, from one sensor after the other. */
async function latencies(events: number): Promise<number[]> {
  const home = await StickHome.start(sensor_count);
  try {
    const taken: number[] = [];
    const started_ms = performance.now();
    for (let event = 1; event <= events; event++) {
      // Not in step with anything in the gateway that happens every second.
      const at_ms = started_ms + event * 1_000 + Math.random() * 500;
      await Bun.sleep(Math.max(0, at_ms - performance.now()));
      taken.push(await latency(home, event));
    }
    return taken;
  } finally {
    await home.close();
  }
}

async function latency(home: StickHome, event: number): Promise<number> {
  const sensor = home.sensors[event % sensor_count];
  if (sensor === undefined) throw new RangeError(`no sensor for event ${event}`);
  const name = home.nameOf(sensor);
  // No status that a sensor at rest or one that has just joined would report.
  const status = 0x400 + event;
  sensor.notify(status);
  await home.stick.drained();
  const written_ms = performance.now();
  for (;;) {
    const newest = await home.newest(name);
    const taken_ms = performance.now() - written_ms;
    if (newest === status) return taken_ms;
    if (taken_ms > lost_ms) throw new Error(`event ${event} never came`);
    // Asked without a pause, the gateway answers 20,000 times a second, and the asking would be measured.
    await Bun.sleep(asking_ms);
  }
}

function judge(taken: readonly number[]): boolean {
  const [p50, p95, p99, most] = [0.5, 0.95, 0.99, 1].map((q) => quantile(taken, q)) as [
    number,
    number,
    number,
    number,
  ];
  console.log(`last byte on the pty to an answered page, ${taken.length} events, one a second:`);
  console.log(
    `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, at most ${most.toFixed(1)} ms`,
  );
  const word = (one: boolean) => (one ? "kept  " : "MISSED");
  console.log(`${word(p50 <= p50_max_ms)} p50 at most ${p50_max_ms} ms`);
  console.log(`${word(p99 <= p99_max_ms)} p99 at most ${p99_max_ms} ms`);
  return p50 <= p50_max_ms && p99 <= p99_max_ms;
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
