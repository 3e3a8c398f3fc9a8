import { afterAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("lintel note writes a note in the time of the home, lists it with an imported one, and removes it", async () => {
  const store = ["--data", join(site.directory, "central")];
  const file = join(site.directory, "programme.json");
  const imported = { homeid: 12, noteid: 4, kind: "hospital", start: "2026-01-01T00:00:00Z" };
  writeFileSync(
    file,
    JSON.stringify({ homes: [{ homeid: 12, timezone: "Europe/Berlin" }], notes: [imported] }),
  );
  expect(await site.lintel("import", file, "--new", ...store)).toMatchObject({ code: 0 });
  const options = ["--json", "--home", "12", ...store];
  const span = ["--from", "2026-11-19T16:00", "--until", "2026-11-20T08:00Z"];
  const added = await site.lintel("note", "add", "visitor", ...span, "--words", "her\nson", ...options);
  const note = {
    ...{ homeid: 12, itemid: null, subjectid: null, kind: "visitor", words: "her son" },
    ...{ start: Date.UTC(2026, 10, 19, 15) / 1000, stop: Date.UTC(2026, 10, 20, 8) / 1000 },
    source: "coordinator",
  };
  expect(JSON.parse(added.out)).toMatchObject(note);
  const listed = JSON.parse((await site.lintel("note", "list", ...options)).out);
  expect(listed).toMatchObject([note, { noteid: 4, kind: "hospital", stop: null, source: "import" }]);
  const removed = await site.lintel("note", "remove", String(listed[0].noteid), "--home", "12", ...store);
  expect(removed).toMatchObject({ code: 0 });
  expect(JSON.parse((await site.lintel("note", "list", ...options)).out)).toHaveLength(1);
  const unnamed = await site.lintel("note", "list", ...store);
  expect([unnamed.code, unnamed.said]).toEqual([2, expect.stringContaining("--home NUMBER")]);
});

test("on a box the home is that of its configuration, and nobody notes what is withdrawn", async () => {
  const data = join(site.directory, "gateway");
  mkdirSync(data, { recursive: true });
  const config = join(site.directory, "lintel.toml");
  writeFileSync(config, `data = "${data}"\n[home]\nid = 7\ntimezone = "Europe/Berlin"\n`);
  const file = join(site.directory, "homes.json");
  writeFileSync(file, JSON.stringify({ homes: [{ homeid: 7 }] }));
  expect(await site.lintel("import", file, "--config", config)).toMatchObject({ code: 0 });
  const add = (from: string) => site.lintel("note", "add", "away", "--from", from, "--config", config);
  expect((await add("2026-11-19T16:00")).out).toMatch(/^Noted as number \d+: away from /);
  const over = { subjectid: 1, projectid: 1, homeid: 7, start: 1_700_000_000, stop: 1_800_000_000 };
  writeFileSync(file, JSON.stringify({ subjects: [{ subjectid: 1 }], project_enrollments: [over] }));
  expect(await site.lintel("import", file, "--config", config)).toMatchObject({ code: 0 });
  const refused = await add("2098-01-01");
  expect([refused.code, refused.said]).toEqual([2, expect.stringContaining("the enrollment is over")]);
});
