import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { postgresServer } from "../../testbed/postgres/server.ts";
import { testAtNight } from "../at-night.ts";
import { MarkedHomes, marksIn } from "./erasing.ts";

let homes: MarkedHomes | undefined;
afterEach(async () => {
  await homes?.[Symbol.asyncDispose]();
  homes = undefined;
});

const day_s = 86_400;
const now_s = () => Math.floor(Date.now() / 1000);
/** Subject 7 lives in home 12 and subject 8 in home 13. */
const programme = () => ({
  homes: [
    { homeid: 12, address: "ADDRESS12" },
    { homeid: 13, address: "ADDRESS13" },
  ],
  projects: [{ projectid: 1 }],
  subjects: [
    { subjectid: 7, lname: "SUBJECT7" },
    { subjectid: 8, lname: "SUBJECT8" },
  ],
  comments: [{ subjectid: 7, commentid: 1, comment: "SUBJECT7 said" }],
  issues: [{ issueid: 1, homeid: 12, subjectid: 7, summary: "SUBJECT7 fell" }],
  project_enrollments: [
    { subjectid: 7, projectid: 1, homeid: 12, start: now_s() - 30 * day_s, stop: null },
    { subjectid: 8, projectid: 1, homeid: 13, start: now_s() - 30 * day_s, stop: null },
  ],
});

const gone = { MARK12: 0, ADDRESS12: 0, FILES12: 0, "00:00:00:00:12": 0 };
const here = Object.keys(gone) as (keyof typeof gone)[];
const goneThere = { MARK12: 0, ADDRESS12: 0, FILES12: 0 };
const ofBox = Object.keys(goneThere) as (keyof typeof goneThere)[];

async function uploaded(made: MarkedHomes): Promise<void> {
  homes = made;
  await made.start();
  await made.import(programme());
  for (const [home, mark] of [
    [12, "MARK12"],
    [13, "MARK13"],
  ] as const) {
    await made.live(home, mark, 400);
    await made.upload(home);
  }
  expect(marksIn(await made.served(), "MARK12", "MARK13", "SUBJECT7", "ADDRESS12")).toMatchObject({
    MARK12: expect.any(Number),
  });
}

describe("a home that is erased at central", () => {
  test("on SQLite is in no page, download, history, backup or byte of a file, and neither uploads nor restores bring it back", async () => {
    const made = new MarkedHomes();
    await uploaded(made);
    expect(marksIn(await made.served(), "MARK12").MARK12).toBeGreaterThan(400);
    for (const place of ["central", "box-12"])
      expect(marksIn(made.bytesIn(place), "FILES12").FILES12).toBeGreaterThanOrEqual(2);
    const other = marksIn(await made.served(), "MARK13", "ADDRESS13", "SUBJECT8");
    await made.run("backup", made.at("stick"), "--config", made.config(12));
    await made.run("backup", made.at("central-before"), ...made.store);
    await made.live(12, "MARK12-late", 200, 30);
    const looked = await made.run("erase", "--home", "12", ...made.store, "--dry-run", "--json");
    expect(looked).toMatchObject({ dry_run: true, home: 12, records: { homes: 1 } });
    expect(looked.readings.map(({ readings }: { readings: number }) => readings)).toEqual([400, 400]);
    // The server runs, and the home uploads meanwhile.
    const [erased] = await Promise.all([
      made.run("erase", "--home", "12", ...made.store, "--yes", "--json"),
      made.upload(12),
    ]);
    expect(erased.tokens).toMatchObject([{ name: "test-1" }]);
    expect(marksIn(await made.served(), ...here)).toEqual(gone);
    expect(marksIn(await made.served(), "MARK13", "ADDRESS13", "SUBJECT8")).toEqual(other);
    // The gateway is told with its next upload, and erases the same.
    await made.upload(12);
    expect(marksIn(made.bytesIn("central"), ...here)).toEqual(gone);
    expect(marksIn(made.bytesIn("box-12"), ...ofBox)).toEqual(goneThere);
    expect(await made.upload(12, "verify")).toMatchObject({ differing_days: 0 });
    await made.run("backup", made.at("central-after"), ...made.store);
    expect(marksIn(made.bytesIn("central-after"), ...here)).toEqual(gone);
    // Older backups: of the box, which asks central, and of central, which knows what was erased before.
    await made.run("restore", made.at("stick"), "--replace", "--config", made.config(12));
    expect(marksIn(made.bytesIn("box-12"), ...ofBox)).toEqual(goneThere);
    await made.upload(12);
    await made.run("restore", "--from-central", "--replace", "--config", made.config(12));
    await made.upload(12);
    expect(marksIn(made.bytesIn("box-12"), ...ofBox)).toEqual(goneThere);
    const list = await made.run("erase", "--list", ...made.store, "--json");
    expect(list).toMatchObject([{ home: 12, subject: null }]);
    expect(list[0].readings + list[0].refused).toBeGreaterThanOrEqual(1_200);
    await made.stop();
    await made.run("restore", made.at("central-before"), "--replace", ...made.store);
    expect(marksIn(made.bytesIn("central"), ...here)).toEqual(gone);
    await made.startAgain();
    expect(marksIn(await made.served(), ...here)).toEqual(gone);
    expect(marksIn(await made.served(), "MARK13", "ADDRESS13", "SUBJECT8")).toEqual(other);
    expect(await made.upload(13, "verify")).toMatchObject({ differing_days: 0 });
    // On a machine that knows of nothing, the list of erasures does it.
    writeFileSync(made.at("erased.json"), JSON.stringify(list));
    const elsewhere = ["--data", made.at("elsewhere")];
    await made.run("restore", made.at("central-before"), ...elsewhere);
    expect(marksIn(made.bytesIn("elsewhere"), "MARK12").MARK12).toBeGreaterThan(0);
    const again = ["erase", "--again", made.at("erased.json"), ...elsewhere, "--yes", "--json"];
    expect(await made.run(...again)).toEqual({ erasures: 1, spans: 1, pauses: 0 });
    expect(await made.run(...again)).toEqual({ erasures: 0, spans: 0, pauses: 0 });
    expect(marksIn(made.bytesIn("elsewhere"), ...here)).toEqual(gone);
  });

  testAtNight(
    "on PostgreSQL is in no page, download or history, and uploads do not bring it back",
    async () => {
      await using database = await (await postgresServer()).database();
      const made = new MarkedHomes(database.url);
      await uploaded(made);
      const other = marksIn(await made.served(), "MARK13", "ADDRESS13", "SUBJECT8");
      await made.live(12, "MARK12-late", 200, 30);
      await Promise.all([
        made.run("erase", "--home", "12", ...made.store, "--yes", "--json"),
        made.upload(12),
        made.upload(13),
      ]);
      await made.upload(12);
      expect(marksIn(await made.served(), ...here)).toEqual(gone);
      expect(marksIn(await made.served(), "MARK13", "ADDRESS13", "SUBJECT8")).toEqual(other);
      expect(marksIn(made.bytesIn("box-12"), ...ofBox)).toEqual(goneThere);
      expect(await made.upload(12, "verify")).toMatchObject({ differing_days: 0 });
      await made.stop();
      await made[Symbol.asyncDispose]();
    },
  );
});

describe("a participant", () => {
  test("who is erased at central is gone there and at the gateway, with the readings of the home of that time", async () => {
    const made = new MarkedHomes();
    await uploaded(made);
    expect(marksIn(made.bytesIn("box-12"), "SUBJECT7").SUBJECT7).toBeGreaterThan(0);
    const refused = await made.site.lintel("erase", "--subject", "7", ...made.store);
    expect([refused.code, refused.said]).toEqual([2, expect.stringContaining("add --yes")]);
    expect(marksIn(await made.served(), "SUBJECT7").SUBJECT7).toBeGreaterThan(0);
    await made.run("erase", "--subject", "7", ...made.store, "--yes");
    expect(marksIn(await made.served(), "SUBJECT7", "MARK12")).toEqual({ SUBJECT7: 0, MARK12: 0 });
    expect(marksIn(made.bytesIn("central"), "SUBJECT7", "MARK12")).toEqual({ SUBJECT7: 0, MARK12: 0 });
    // The days are compared while the gateway has all of it still, and no day that is erased is in question.
    const compared = await made.upload(12, "verify");
    expect(compared).toMatchObject({ sent: 0, differing_days: 0 });
    expect(marksIn(made.bytesIn("box-12"), "SUBJECT7", "MARK12")).toEqual({ SUBJECT7: 0, MARK12: 0 });
    expect(marksIn(await made.served(), "ADDRESS12").ADDRESS12).toBeGreaterThan(0);
    const unknown = await made.site.lintel("erase", "--subject", "7", ...made.store, "--yes");
    expect([unknown.code, unknown.said]).toEqual([2, expect.stringContaining("knows no subject 7")]);
  });

  test("who is erased at the gateway stays away there, and central is asked to erase too", async () => {
    const made = new MarkedHomes();
    await uploaded(made);
    await made.run("erase", "--subject", "7", "--config", made.config(12), "--yes", "--json");
    const none = { SUBJECT7: 0, MARK12: 0 };
    expect(marksIn(made.bytesIn("box-12"), "SUBJECT7", "MARK12")).toEqual(none);
    await made.import({ subjects: [{ subjectid: 7, lname: "SUBJECT7", fname: "again" }] });
    await made.upload(12);
    expect(marksIn(made.bytesIn("box-12"), "SUBJECT7", "MARK12")).toEqual(none);
    expect(marksIn(await made.served(), "MARK12").MARK12).toBeGreaterThan(0);
    const fleet = async () => {
      const all = await made.run("fleet", ...made.store, "--json");
      return all[0].needs.map(({ message }: { message: string }) => message);
    };
    expect(await fleet()).toEqual([
      "Subject 7 was erased at the gateway of home 12, and is still here: lintel erase --subject 7",
    ]);
    await made.run("restore", "--from-central", "--replace", "--config", made.config(12));
    expect(marksIn(made.bytesIn("box-12"), "SUBJECT7", "MARK12")).toEqual(none);
    await made.run("erase", "--subject", "7", ...made.store, "--yes", "--json");
    expect(await fleet()).toEqual([]);
    await made.upload(12);
    expect(marksIn(await made.served(), "SUBJECT7", "MARK12")).toEqual(none);
  });
});
