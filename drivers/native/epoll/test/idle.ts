import { readdirSync, readFileSync, readlinkSync } from "node:fs";
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

/** The worker threads and epoll instances of this process. */
function held() {
  const threads = readdirSync("/proc/self/task").map((id) =>
    unlessGone(() => readFileSync(`/proc/self/task/${id}/comm`, "utf8")),
  );
  const files = readdirSync("/proc/self/fd").map((fd) =>
    unlessGone(() => readlinkSync(`/proc/self/fd/${fd}`)),
  );
  return {
    workers: threads.filter((name) => name === "Worker").length,
    epolls: files.filter((target) => target.includes("eventpoll")).length,
  };
}

/** Threads and descriptors of Bun's own come and go while they are being counted. */
function unlessGone(read: () => string): string {
  try {
    return read().trim();
  } catch {
    return "";
  }
}
