import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openGateway } from "../../../testbed/sqlite/opening.ts";

test("the write-ahead log stays bounded while at every moment some reader holds a snapshot", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const path = databaseOf(directory.path);
  // Killed also where the test fails: they read for ever.
  await using readers = Bun.spawn([process.execPath, join(import.meta.dir, "overlapping-readers.ts"), path], {
    stdout: "pipe",
    stderr: "inherit",
  });
  await readers.stdout.getReader().read();
  let largest = 0;
  for (let group = 0; group < 250; group += 1) {
    // Spread over many items, so that every group touches many pages.
    await store.append(
      Array.from({ length: 200 }, (_, n) => sensorEvent(sensor(n), start_ms + group * 1000, 48)),
    );
    largest = Math.max(largest, statSync(`${path}-wal`).size);
  }
  readers.kill("SIGKILL");
  await readers.exited;
  await store.close();
  expect(largest).toBeLessThan(36 * 1024 * 1024);
});
