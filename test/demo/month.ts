import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import { startDemo } from "../../src/demo/demo.ts";

/** Puts what a demo keeps into a directory: 30 days of its home, and below `central` the copy that has all of them. */
export async function makeMonth(directory: string): Promise<void> {
  const clock = new SystemClock();
  const uploaded = Promise.withResolvers<void>();
  const demo = await startDemo({
    clock,
    log: lineLog({ write: () => {}, clock, least: "error", colour: false }),
    drivers: [],
    teller: { history: () => {}, joined: () => {}, live: () => {}, uploaded: () => uploaded.resolve() },
    days: 30,
    hostname: "127.0.0.1",
    port: 0,
    centralPort: 0,
    directory,
    onFailure: (fault) => uploaded.reject(fault),
  });
  try {
    await uploaded.promise;
  } finally {
    await demo.stop();
  }
}
