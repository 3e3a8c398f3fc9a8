import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MirroredProgramme } from "../../scripts/trial-programs/with-source/mirror/programme.ts";
import { day_ms } from "../../src/base/time.ts";
import { mirrorOf } from "../../src/cli/central-mirror.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { nightly } from "../../testbed/nightly.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { recordOf } from "../domain/records/marked-home.ts";
import { temporaryCentral } from "../store/postgres/temporary-central.ts";

/** Behind all readings, so that no day begins while this runs. */
const clock = new SettableClock(Date.UTC(2026, 11, 5));
/** 70 days over four months. */
const of = { homes: 4, days: 70, events_a_day: 5, start_ms: Date.UTC(2026, 8, 20), clock };

describe.each(nightly ? ["SQLite", "PostgreSQL"] : ["SQLite"])("a mirror of central on %s", (database) => {
  const directory = mkdtempSync(join(tmpdir(), "lintel-mirror-"));
  const mirror = join(directory, "mirror");
  let store: CentralStore;
  let other: Awaited<ReturnType<typeof temporaryCentral>> | undefined;
  let programme: MirroredProgramme;
  beforeAll(async () => {
    if (database === "PostgreSQL") other = await temporaryCentral();
    store = other?.store ?? (await openCentral(join(directory, "data")));
    programme = new MirroredProgramme(store, mirror, of);
    await programme.fill();
  });
  afterAll(async () => {
    if (other === undefined) await store.close();
    await other?.[Symbol.asyncDispose]();
    rmSync(directory, { recursive: true, force: true });
  });

  const { signal: stop } = new AbortController();
  const update = (more: Partial<Parameters<typeof mirrorOf>[1]> = {}) =>
    mirrorOf(store, { directory: mirror, clock, stop, onProgress: () => {}, ...more });
  /** Files that an update has written, taken away or changed. */
  const changedBy = async (work: () => Promise<unknown>) => {
    const before = programme.files();
    await work();
    const after = programme.files();
    return [...new Set([...before.keys(), ...after.keys()])].filter(
      (name) => !name.startsWith("records/") && before.get(name) !== after.get(name),
    );
  };

  test("has what the interface has, in a file for each series, home and month", async () => {
    expect(await update()).toMatchObject({ homes: 4, noDatabase: undefined });
    const { faults, compared, measures } = await programme.differences();
    expect(faults).toEqual([]);
    expect(compared).toBe(4 * 70 * 6);
    expect(measures).toBeGreaterThan(4 * 70 * 24);
    const names = [...programme.files().keys()].filter((name) => name.startsWith("scale_weights/home=2/"));
    expect(names.sort()).toEqual(
      ["09", "10", "11"].map((month) => `scale_weights/home=2/month=2026-${month}/readings.parquet`),
    );
  });

  test("is not written again while nothing has changed", async () => {
    expect(await changedBy(() => update())).toEqual([]);
  });

  test("views of another version are not left beside new statements where DuckDB cannot be loaded", async () => {
    const [statements, views] = [join(mirror, "lintel.sql"), join(mirror, "lintel.duckdb")];
    const now = readFileSync(statements, "utf8");
    writeFileSync(statements, "of another version");
    expect((await update({ duckDb: directory })).noDatabase).toStartWith("DuckDB cannot be loaded");
    expect([readFileSync(statements, "utf8") === now, existsSync(views)]).toEqual([true, false]);
    expect((await update()).noDatabase).toBeUndefined();
    expect(existsSync(views)).toBe(true);
  });

  test("late readings change the files of their home and month alone", async () => {
    const changed = await changedBy(async () => {
      await programme.late(40, [3]);
      await update();
    });
    expect((await programme.differences()).faults).toEqual([]);
    expect(changed.length).toBeGreaterThan(1);
    for (const name of changed)
      expect(name).toMatch(/^(wirelesssensor_events|derived)\/home=3\/|^state\/home-3\.json$/);
  });

  test("an update that was ended in the middle is done by the next one", async () => {
    await programme.late(90, [1, 2, 3, 4]);
    const ending = new AbortController();
    const ended = update({
      stop: ending.signal,
      onProgress: ({ done }) => done === 2 && ending.abort(new Error("ended")),
    });
    expect(await ended.catch((thrown: Error) => thrown.message)).toBe("ended");
    // A file that a killed process has left.
    writeFileSync(join(mirror, "wirelesssensor_events/home=1/left.parquet.part"), "left");
    const [one, another] = await Promise.allSettled([update(), update()]);
    expect([one.status, another]).toMatchObject([
      "fulfilled",
      { reason: { message: expect.stringContaining("another update") } },
    ]);
    expect((await programme.differences()).faults).toEqual([]);
    expect([...programme.files().keys()].filter((name) => name.endsWith(".part"))).toEqual([]);
  });

  test("a device that gets another name has it in every row", async () => {
    const [first] = await store.items("scales", { skip: 0, limit: 1 });
    if (first === undefined) throw new Error("there is no scale");
    const named = { ...first, itemid: 7, itemname: "bath scale" };
    expect((await store.importRecords([[{ type: "items", record: named }]])).clashes).toEqual([]);
    await update();
    expect((await programme.differences()).faults).toEqual([]);
  });

  test("readings of a participant that are erased are in no file, and the others of the home stay", async () => {
    const subject = { subjectid: 5 };
    const enrolled = {
      ...subject,
      projectid: 1,
      homeid: 3,
      start: Date.UTC(2026, 9, 1) / 1000,
      stop: Date.UTC(2026, 10, 1) / 1000,
    };
    await store.importRecords([
      [recordOf("subjects", 5, subject), recordOf("project_enrollments", 5, enrolled)],
    ]);
    await store.erase({
      target: { subject: 5 },
      id: "fedcba9876543210".repeat(2),
      at_ms: clock.now().unix_ms,
    });
    await update();
    expect((await programme.differences()).faults).toEqual([]);
    const names = [...programme.files().keys()].filter((name) => name.startsWith("scale_weights/home=3/"));
    expect(names.sort()).toEqual(
      ["09", "11"].map((month) => `scale_weights/home=3/month=2026-${month}/readings.parquet`),
    );
  });

  test("a restricted home is in no byte, until that is lifted", async () => {
    const wish = { target: { home: 4 }, at_ms: clock.now().unix_ms, who: "test", reason: "letter" };
    await store.restrict(wish);
    await update();
    expect(programme.tracesOf(4)).toEqual([]);
    await store.liftRestriction(wish);
    await update();
    expect((await programme.differences()).faults).toEqual([]);
  });

  test("nothing of an erased home is in any byte, and the others have lost nothing", async () => {
    expect(programme.tracesOf(2).length).toBeGreaterThan(5);
    await store.erase({ target: { home: 2 }, id: "0123456789abcdef".repeat(2), at_ms: clock.now().unix_ms });
    const changed = await changedBy(() => update());
    expect(programme.tracesOf(2)).toEqual([]);
    expect(changed.filter((name) => !name.includes("home=2/") && name !== "state/home-2.json")).toEqual([]);
    expect((await programme.differences()).faults).toEqual([]);
  });

  test("a year later the measures are cut anew, and none is there twice", async () => {
    const parts = () =>
      [...programme.files().keys()].flatMap((name) => /^derived\/home=1\/part=([^/]+)/.exec(name)?.[1] ?? []);
    const before = parts();
    clock.advance(400 * day_ms);
    await update();
    const after = parts();
    expect(after.filter((part) => before.includes(part))).toEqual([]);
    const spans = after
      .map((part) => part.split("-").map(Number))
      .sort(([one = 0], [other = 0]) => one - other);
    expect(spans.filter(([, end = 0], place) => end > (spans[place + 1]?.[0] ?? Infinity))).toEqual([]);
    expect((await programme.differences()).faults).toEqual([]);
  });

  test("is never made in a folder of others' files", async () => {
    writeFileSync(join(directory, "thesis.txt"), "");
    expect(await update({ directory }).catch((thrown: Error) => thrown.message)).toContain("is no mirror");
  });
});
