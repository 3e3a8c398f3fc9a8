/**
 * The server of the benchmark, a process of its own: the interface over the real store. Arguments: data directory,
 * bytes of the cache, readings to append a second to item 1. Prints one line of JSON when it listens.
 */
import { apiApp } from "../../../src/api/app.ts";
import { SystemClock } from "../../../src/clock.ts";
import { startServer } from "../../../src/http/server.ts";
import { lineLog } from "../../../src/log.ts";
import { mintToken } from "../../../src/token.ts";
import { openQuietly, readingOf } from "./data.ts";

const [directory = "", cache_bytes_max = "0", readings_per_s = "0"] = process.argv.slice(2);
const clock = new SystemClock();
const store = await openQuietly(directory);
const { token, text } = mintToken({ name: "benchmark", scope: "read", clock });
await store.addToken(token);
const server = await startServer({
  store,
  clock,
  log: lineLog({ write: () => {}, clock, least: "error" }),
  listen: { hostname: "127.0.0.1", port: 0 },
  realm: "lintel",
  apps: [apiApp({ store, cache_bytes_max: Number(cache_bytes_max) })],
});

/** Twenty commits a second, some readings late by up to an hour. */
async function append(count: number): Promise<void> {
  const now_ms = Date.now();
  const batch = Array.from({ length: count }, (_, index) => ({
    item: 1,
    stamp_ms: index % 5 === 4 ? now_ms - (now_ms % 3_600_000) : now_ms,
    event: index % 4,
  }));
  await store.append(batch.map(readingOf));
}
const commits_per_s = 20;
const each = Number(readings_per_s) / commits_per_s;
const timer = each > 0 ? setInterval(() => void append(each), 1000 / commits_per_s) : undefined;

process.on("SIGTERM", async () => {
  clearInterval(timer);
  await server.stop();
  await store.close();
  process.exit();
});
console.log(JSON.stringify({ port: server.port, token: text }));
