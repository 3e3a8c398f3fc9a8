/**
 * From the last byte of a frame on a pty to its record in an answered page, at one event a second
 *
 *   ./scripts/bench latency [--events 120] [--quick]
 *
 * This process is the stick and its sensors, and a client that asks for the newest record every millisecond on one
 * connection until it is there; the gateway is the program that people start. What goes with it: commits an hour (./scripts/bench commits), and 1,000 notifications
 * a second (./scripts/bench ingest). Exits with 1 when half of the events take longer than 15 ms, or one of a hundred longer than 60. --quick takes 20 events.
 */

import { optionsOf } from "../program-options.ts";
import { quantile, Report } from "./api/report.ts";
import { StickHome } from "./stick/home.ts";

const options = optionsOf("./scripts/bench latency [--events 120] [--quick]", { events: 0, quick: false });

const sensor_count = 6;
const p50_max_ms = 15;
const p99_max_ms = 60;

const { events, pages } = await latencies(options.events || (options.quick ? 20 : 120));
console.log(`last byte on the pty to an answered page, ${events.length} events, one a second:`);
console.log(`the event  ${shown(events)}`);
console.log(`the machine, by the same page just before  ${shown(pages)}`);
const [p50, p99] = [quantile(events, 0.5), quantile(events, 0.99)];
const report = new Report();
report.bar("from the last byte on the line to its record in an answered page, median, ms", {
  value: p50,
  most: p50_max_ms,
});
report.bar("the same, 99 of 100, ms", { value: p99, most: p99_max_ms });
report.figure("a page in which nothing is new, just before, median, ms", quantile(pages, 0.5));
process.exit(report.end());

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
      events.push(await home.untilServed(sensor, 0x400 + event));
    }
    return { events, pages };
  } finally {
    await home.close();
  }
}

function shown(values: readonly number[]): string {
  return [0.5, 0.95, 0.99, 1].map((q) => `p${q * 100} ${quantile(values, q).toFixed(1)} ms`).join(", ");
}
