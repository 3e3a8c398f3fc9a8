import { readdirSync, readFileSync } from "node:fs";
import { Fifo } from "./fifo.ts";

const waiting_ms = 300;

// The other process of a test: what loading, watching and waiting cost, as JSON; then it ends by itself.
const fifo = new Fifo();
const before = held();
const { Epoll } = await import("../index.ts");
const loaded = held();
const { promise, resolve } = Promise.withResolvers<void>();
const epoll = new Epoll(() => {
  fifo.read();
  resolve();
});
epoll.add(fifo.reader, Epoll.EPOLLIN);
fifo.write("x");
await promise;
const watching = held();
const start = process.cpuUsage();
await new Promise((wake) => setTimeout(wake, waiting_ms));
const { user, system } = process.cpuUsage(start);
console.log(JSON.stringify({ before, loaded, watching, waited_us: user + system }));
epoll.close();
fifo.close();

function held() {
  const threads = readdirSync("/proc/self/task").map((id) =>
    readFileSync(`/proc/self/task/${id}/comm`, "utf8").trim(),
  );
  return {
    workers: threads.filter((name) => name === "Worker").length,
    files: readdirSync("/proc/self/fd").length,
  };
}
