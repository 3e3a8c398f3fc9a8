import { expect, test } from "bun:test";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { eraseAgain, unkeptBefore } from "../../src/cli/restore/restoring.ts";
import { pauseOpen_ms } from "../../src/store/pause.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";
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

test("a central that comes back from a backup on an empty machine takes stops and restrictions over from a list", async () => {
  const site = new Site({ commands: lintelHere });
  try {
    const at = ["--data", site.data];
    const restored = ["--data", join(site.directory, "restored")];
    const programme = join(site.directory, "programme.json");
    writeFileSync(programme, JSON.stringify({ homes: [{ homeid: 12 }, { homeid: 13 }] }));
    for (const store of [at, restored])
      expect(await site.lintel("import", programme, "--new", ...store)).toMatchObject({ code: 0 });
    expect(await site.lintel("withdraw", "--home", "13", ...at)).toMatchObject({ code: 0 });
    const restriction = ["restrict", "--home", "12", "--reason", "a letter", ...at];
    expect(await site.lintel(...restriction)).toMatchObject({ code: 0 });
    const list = join(site.directory, "erased.json");
    writeFileSync(list, (await site.lintel("erase", "--list", "--pauses", "--json", ...at)).out);
    const again = ["erase", "--again", list, ...restored];
    const asked = await site.lintel(...again);
    expect([asked.code, asked.said]).toEqual([2, expect.stringContaining("2 pauses")]);
    expect(await site.answer(...again, "--yes", "--json")).toEqual({ erasures: 0, spans: 0, pauses: 2 });
    const { restricted } = await site.answer("restrict", "--list", "--json", ...restored);
    expect(restricted).toMatchObject([{ home: 12 }]);
    const resumed = await site.lintel("resume", "--home", "13", ...restored);
    expect([resumed.code, resumed.said]).toEqual([2, expect.stringContaining("--again")]);
    expect(await site.answer(...again, "--json")).toEqual({ erasures: 0, spans: 0, pauses: 0 });
  } finally {
    await site.remove();
  }
});
