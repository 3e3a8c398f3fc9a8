import { expect, test } from "bun:test";
import { copyFileSync } from "node:fs";
import { SystemClock } from "../../src/base/clock.ts";
import { eraseAgain, unkeptBefore } from "../../src/cli/restore/restoring.ts";
import { pauseOpen_ms } from "../../src/store/pause.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { keptLog, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { databaseOf } from "../../testbed/sqlite/opening.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

test("a central that is restored from a backup stops the same homes as the one that it replaces, and no box lets them record again", async () => {
  using replaced = temporaryDirectory();
  using backup = temporaryDirectory();
  const clock = new SystemClock();
  const { log } = keptLog();
  const open = (directory: string) => openCentralStore({ directory, clock, log, ...writerOfTests() });
  await (await open(replaced.path)).close();
  copyFileSync(databaseOf(replaced.path), databaseOf(backup.path));
  const store = await open(replaced.path);
  const time = { from_ms: start_ms, at_ms: start_ms };
  // Of one moment they would be in the order of their random numbers.
  for (const home of [12, 13]) await store.withdraw({ home, ...time, from_ms: start_ms + home });
  const pauses = await store.pauses();
  expect(pauses).toMatchObject([12, 13].map((home) => ({ home, own: 1, before_ms: pauseOpen_ms })));
  await store.close();
  await eraseAgain(backup.path, await unkeptBefore(replaced.path, log), { context: { clock }, log });
  const restored = await open(backup.path);
  expect(await restored.pauses()).toEqual(pauses);
  await restored.close();
});
