import { expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { OperatorError } from "../../../src/base/errors.ts";
import type { WriterOptions } from "../../../src/store/sqlite/writer-calls.ts";
import { WriterThread } from "../../../src/store/sqlite/writer-thread.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";

const clock = new SystemClock();
const options: WriterOptions = { directory: "", freshEpoch: "00", role: "gateway" };

test("when the writer's thread dies, the waiting and all later calls reject, and it is told once", async () => {
  const ends = { "./writer-that-exits.ts": "it ended by itself", "./writer-that-throws.ts": "out of order" };
  for (const [entry, why] of Object.entries(ends)) {
    const told: string[] = [];
    const thread = new WriterThread({
      clock,
      entry: new URL(entry, import.meta.url),
      onFailure: ({ message }) => told.push(message),
    });
    const waiting = [thread.ask("open", options), thread.ask("commit", { readings: [] })];
    const results: PromiseSettledResult<unknown>[] = await Promise.allSettled(waiting);
    results.push(...(await Promise.allSettled([thread.write("revokeToken", "none")])));
    const faults = results.map((result) => (result.status === "rejected" ? result.reason : result));
    expect(faults).toEqual([expect.any(OperatorError), faults[0], faults[0]]);
    expect(faults[0].message).toContain(`the thread that writes the database has stopped (${why})`);
    await thread.close();
    expect(told).toHaveLength(1);
  }
});

test("no more than 256 calls wait for the disk: the next one rejects", async () => {
  using directory = temporaryDirectory();
  const thread = new WriterThread({ clock, onFailure: () => {} });
  await thread.ask("open", { ...options, directory: directory.path });
  const calls = Array.from({ length: 257 }, () => thread.write("revokeToken", "none"));
  const results = await Promise.allSettled(calls);
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(256);
  expect(String((results.at(-1) as PromiseRejectedResult).reason)).toContain(
    "256 changes wait for the disk already",
  );
  await thread.close();
});

test("closing lets what was asked finish, and refuses what is asked after", async () => {
  using directory = temporaryDirectory();
  const thread = new WriterThread({ clock, onFailure: () => {} });
  await thread.ask("open", { ...options, directory: directory.path });
  const asked = thread.write("revokeToken", "none");
  const closing = thread.close();
  const after = await thread.write("revokeToken", "none").catch((thrown: unknown) => thrown);
  expect(String(after)).toContain("the store is closed");
  expect(await asked).toBe(false);
  await closing;
});
