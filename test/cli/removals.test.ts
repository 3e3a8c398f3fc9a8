import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { MirroredProgramme } from "../../scripts/trial-programs/with-source/mirror/programme.ts";
import { SystemClock } from "../../src/base/clock.ts";
import { Site } from "../../testbed/front-door.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { recordOf } from "../domain/records/marked-home.ts";

const start_ms = Date.UTC(2024, 8, 20);
const day_s = 86_400;

test("the list for a recipient removes from an older package what a newer one does not have", async () => {
  const site = new Site();
  try {
    const key = join(site.directory, "key");
    writeFileSync(key, "5e".repeat(32), { mode: 0o600 });
    const store = await openCentral(site.data);
    await new MirroredProgramme(store, site.directory, {
      ...{ homes: 4, days: 4, events_a_day: 6, start_ms, clock: new SystemClock() },
    }).fill();
    const stay = { start: start_ms / 1000 + day_s, stop: start_ms / 1000 + 2 * day_s };
    await store.importRecords([
      [
        recordOf("subjects", 5, { subjectid: 5 }),
        recordOf("project_enrollments", 5, { subjectid: 5, projectid: 1, homeid: 3, ...stay }),
      ],
    ]);
    await store.close();
    const recipient = ["--recipient", "University of Oslo", "--key", key, "--data", site.data];
    const packageAt = async (name: string) => {
      const output = join(site.directory, name);
      const series = ["--series", "wirelesssensor_events,scale_weights", "--format", "parquet"];
      await site.answer("export", "--json", "--output", output, ...series, ...recipient);
      return output;
    };
    const given = await packageAt("given");
    for (const target of [
      ["erase", "--home", "2", "--yes"],
      ["erase", "--subject", "5", "--yes"],
      ["restrict", "--home", "4", "--reason", "letter"],
    ])
      expect((await site.lintel(...target, "--data", site.data)).code).toBe(0);
    const list = await site.answer("erase", "--list", "--json", ...recipient);
    const removals = join(site.directory, "removals.json");
    writeFileSync(removals, JSON.stringify(list));
    const now = await packageAt("now");
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const rowsOf = async (query: string) => (await connection.runAndReadAll(query)).getRowsJson();
    for (const series of ["wirelesssensor_events", "scale_weights"]) {
      const all = (folder: string) => `SELECT * FROM '${folder}/${series}.parquet'`;
      // As docs/erase.md has it.
      const kept = await rowsOf(`${all(given)} r WHERE NOT EXISTS (SELECT 1 FROM '${removals}' d
        WHERE d.homeid = r.homeid AND coalesce(d.itemid = r.itemid, true)
        AND coalesce(r.stamp >= d."from", true) AND coalesce(r.stamp < d."to", true)) ORDER BY ALL`);
      expect(kept).toEqual(await rowsOf(`${all(now)} ORDER BY ALL`));
      expect(kept.length).toBeLessThan((await rowsOf(all(given))).length / 2);
      expect(kept.length).toBeGreaterThan(0);
    }
    connection.closeSync();
    instance.closeSync();
    const missing = await site.lintel("erase", "--list", "--recipient", "B", "--data", site.data);
    expect([missing.code, missing.said]).toEqual([2, expect.stringContaining("there is no key")]);
  } finally {
    await site.remove();
  }
});
