import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { connect } from "./connection.ts";
import { nameOf, openQuietly, readingOf } from "./data.ts";
import { quantile, type Report } from "./report.ts";
import { startServer } from "./server-process.ts";

/**
 * How long a page takes at skip 0 and at nine tenths of the way down, in turns over one connection, while the
 * server commits 200 readings a second to the same item, a fifth of them late. Nothing is cached.
 */
export async function pagesAtDepth(options: {
  directory: string;
  report: Report;
  events: number;
  samples: number;
}): Promise<void> {
  const { report, events, samples } = options;
  const directory = join(options.directory, "deep");
  mkdirSync(directory);
  await fill(directory, events);
  const server = await startServer({ directory, cache_bytes_max: 0, readings_per_s: 200 });
  try {
    const deep = events * 0.9;
    const path = (skip: number) => `/items/wirelesssensors/${nameOf(1)}/events?skip=${skip}`;
    const connection = await connect(server.port);
    const spent = { top: [] as number[], deep: [] as number[] };
    for (let sample = -samples / 10; sample < samples; sample += 1) {
      for (const place of sample % 2 === 0 ? (["top", "deep"] as const) : (["deep", "top"] as const)) {
        const took_ms = await connection.ask(server.get(path(place === "top" ? 0 : deep)));
        if (sample >= 0) spent[place].push(took_ms);
      }
    }
    connection.close();
    const shown = (times: number[]) =>
      `median ${quantile(times, 0.5).toFixed(3)} ms, p99 ${quantile(times, 0.99).toFixed(3)} ms`;
    report.note(`page at skip 0 while 200 readings a second arrive: ${shown(spent.top)}`);
    report.note(`page at skip ${deep}: ${shown(spent.deep)}`);
    const ratio = (q: number) => quantile(spent.deep, q) / quantile(spent.top, q);
    report.bar("  times as long, in the median", { value: ratio(0.5), most: 1.1 });
    report.bar("  times as long, at p99", { value: ratio(0.99), most: 1.5 });
  } finally {
    await server.stop();
  }
}

async function fill(directory: string, events: number): Promise<void> {
  const store = await openQuietly(directory);
  for (let first = 0; first < events; first += 5_000) {
    const batch = Array.from({ length: 5_000 }, (_, index) => ({
      item: 1,
      stamp_ms: Date.UTC(2025, 0, 1) + (first + index) * 30_000,
      event: index % 4,
    }));
    await store.append(batch.map(readingOf));
  }
  await store.close();
}
