import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MirroredProgramme } from "../../scripts/trial-programs/with-source/mirror/programme.ts";
import { SystemClock } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";

test("a central with --mirror keeps a folder that DuckDB reads, without what is paused or erased meanwhile", async () => {
  const site = new Site();
  try {
    const mirror = join(site.directory, "mirror");
    const store = await openCentral(site.data);
    const clock = new SystemClock();
    const programme = await MirroredProgramme.small(store, mirror, clock);
    // By the clock of a box that is ahead.
    const ahead = { from_ms: clock.now().unix_ms + 90 * day_ms, for_ms: 1 };
    await programme.late(2, [1, 2], ahead);
    await store.close();
    const central = await site.central("--data", site.data, "--mirror", mirror);
    await eventually(() => existsSync(join(mirror, "lintel.duckdb")) || undefined, "the mirror");
    expect(programme.hasFilesOf(2)).toBe(true);
    const month = new Date(ahead.from_ms).toISOString().slice(0, "2027-02".length);
    const hasAhead = (home: number) =>
      existsSync(join(mirror, `wirelesssensor_events/home=${home}/month=${month}`));
    expect([hasAhead(1), hasAhead(2)]).toEqual([true, true]);
    expect((await site.lintel("pause", "--home", "1", "--data", site.data)).code).toBe(0);
    await eventually(() => !hasAhead(1) || undefined, "that nothing of the pause is there");
    expect([hasAhead(2), programme.hasFilesOf(1)]).toEqual([true, true]);
    const { code, said } = await site.lintel("erase", "--home", "2", "--yes", "--data", site.data);
    expect([code, said]).toEqual([0, expect.any(String)]);
    await eventually(() => !programme.hasFilesOf(2) || undefined, "that the home is gone");
    expect(await central.stop()).toBe(0);
    // The lists of records come after the homes, and a stop ends an update.
    await site.answer("central", "mirror", "--data", site.data, "--output", mirror, "--json");
    expect(programme.tracesOf(2)).toEqual([]);
    const reopened = await openCentral(site.data);
    expect(await programme.at(reopened).differences()).toMatchObject({ faults: [], compared: 12 });
    await reopened.close();
  } finally {
    await site.remove();
  }
});
