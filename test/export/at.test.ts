import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { definitionText, derivedNames } from "../../src/domain/derived/derived-table.ts";
import { derivedList } from "../../src/export/derived-tables.ts";
import type { Downloaded } from "../../src/export/download.ts";
import { checksumOf } from "../../src/export/package/package-contents.ts";
import { type SavedPackage, savedPackage } from "../../src/export/package-readings.ts";
import { Pseudonyms } from "../../src/export/pseudonyms.ts";
import { copySavedMeasures } from "../../src/export/saved-measures.ts";
import type { Format } from "../../src/export/table-file.ts";
import { Site, withoutProgress } from "../../testbed/front-door.ts";
import { homeReadings } from "../../testbed/home-readings.ts";
import { seeded } from "../../testbed/sample.ts";
import { testAtNight } from "../at-night.ts";
import { key, Places, placeNames } from "./places.ts";

const site = new Site();
/** Digests of the derived measures of a package. */
const measuresOf = ({ contents }: Pick<Downloaded, "contents">) =>
  new Map(
    contents.tables.flatMap(({ name, sha256 }) =>
      derivedNames.some((one) => derivedList(one) === name) ? [[name, sha256]] : [],
    ),
  );
let places: Places;
const readings = homeReadings(seeded(16), Date.UTC(2026, 9, 1))
  .take(4_100)
  .toArray();
let at: [{ epoch: string; number: number }];
let before: string;

beforeAll(async () => {
  places = await Places.open();
  const hours = Array.from({ length: 49 }, (_, hour) => Date.UTC(2026, 9, 1, hour));
  await places.record(readings.slice(0, 4_000), hours);
  at = [{ epoch: places.gateway.epoch, number: 3_500 }];
});
afterAll(async () => {
  await places[Symbol.asyncDispose]();
  await site.remove();
});

test("the same readings have the same bytes at a gateway and at a central on either database, before and after late ones", async () => {
  const sums: string[] = [];
  for (const name of placeNames) {
    const downloaded = await places.download(name, `${name} before`, { at });
    const { contents, epochs } = downloaded;
    expect(epochs).toEqual([{ ...at[0], homeid: 12, first: 1, missing: [] }]);
    expect(measuresOf(downloaded).size).toBe(0);
    expect(downloaded.leftOut).toStartWith("The derived measures are left out: only the folder");
    expect(contents.at?.epochs[0]?.readings).toBe(3_500);
    sums.push(checksumOf(contents.tables));
  }
  // Of the same hours, between those that are there.
  const late = [17, 18, 19, 20].flatMap((seed) =>
    homeReadings(seeded(seed), Date.UTC(2026, 9, 1))
      .take(500)
      .toArray(),
  );
  expect(late.length).toBe(2_000);
  await places.record(late);
  for (const name of placeNames)
    sums.push(checksumOf((await places.download(name, `${name} after`, { at })).contents.tables));
  expect(new Set(sums).size).toBe(1);
  before = sums[0] ?? "";
});

test("a store writes the derived measures that a server answers", async () => {
  writeFileSync(join(site.directory, "key"), `${key}\n`, { mode: 0o600 });
  const words = ["export", ...places.words.postgres, "--key", "key", "--output", "derived"];
  const { said, code } = await site.lintel(...words);
  expect([code, withoutProgress(said)]).toEqual([0, ""]);
  await places.download("gateway", "derived without names");
  for (const measure of derivedNames) {
    const path = join("derived", `${measure}.csv`);
    expect(await Bun.file(join(site.directory, "derived", path)).text()).toBe(
      await Bun.file(join(places.directory, "derived without names", path)).text(),
    );
  }
});

testAtNight("so they have with names, as far as the inventory has the items", async () => {
  const series = ["wirelesssensor_events", "watch_epochs", "pillbox_events"] as const;
  const sums: string[] = [];
  for (const name of placeNames) {
    const named = { at, series, pseudonyms: undefined };
    sums.push(checksumOf((await places.download(name, `${name} named`, named)).contents.tables));
  }
  expect(new Set(sums).size).toBe(1);
});

test("and a measurement has one UUID in the words of a standard, with names and without", async () => {
  const series = ["watch_epochs"] as const;
  for (const pseudonyms of [undefined, new Pseudonyms(Uint8Array.fromHex(key), { year: 2026 })]) {
    const ids: string[][] = [];
    for (const name of placeNames) {
      const into = `${name} fhir ${pseudonyms === undefined}`;
      await places.download(name, into, { at, series, format: "ndjson", standard: "fhir", pseudonyms });
      const file = Bun.file(join(places.directory, into, "fhir", "Observation-watch_epochs.ndjson"));
      const lines = (await file.text()).trim().split("\n");
      ids.push(lines.map((line) => JSON.parse(line).id));
    }
    expect(ids[0]?.length).toBeGreaterThan(100);
    for (const other of ids.slice(1)) expect(other).toEqual(ids[0] ?? []);
  }
});

test("a package as of now is cited by the number that it ends with, and made again by it while more arrives", async () => {
  const { contents, epochs } = await places.download("postgres", "now");
  expect(epochs[0]?.number).toBe(6_000);
  await places.record(readings.slice(4_000));
  const saved = await savedPackage(join(places.directory, "now"));
  const again = await places.download("gateway", "again", { at: epochs, saved });
  expect(checksumOf(again.contents.tables)).toBe(checksumOf(contents.tables));
  // Its measures are those of then, which readings that came since would change.
  const later = await places.download("gateway", "later");
  expect(measuresOf(again).size).toBe(derivedNames.length);
  expect(measuresOf(again)).toEqual(measuresOf({ contents }));
  expect(measuresOf(later)).not.toEqual(measuresOf(again));
  const pseudonyms = new Pseudonyms(Uint8Array.fromHex(key), { year: 2026 });
  const copied = (
    into: string,
    { format = "csv", of = saved }: { format?: Format; of?: SavedPackage } = {},
  ) =>
    copySavedMeasures(of, {
      ...{ directory: join(places.directory, into), format, stamp: "iso", pseudonyms, erased: [] },
    });
  expect((await copied("other form", { format: "parquet" })).leftOut).toContain("in another form");
  // Whoever has made a folder must not say where its files are written.
  const doses = join(places.directory, "now", "derived", "doses.csv");
  copyFileSync(doses, join(places.directory, "stray.csv"));
  const resources = saved.resources.map((one) =>
    one.name === derivedList("doses") ? { ...one, path: "../stray.csv" } : one,
  );
  expect(Object.keys((await copied("foreign/in", { of: { ...saved, resources } })).rows)).toHaveLength(
    derivedNames.length,
  );
  expect(existsSync(join(places.directory, "foreign", "stray.csv"))).toBe(false);
  appendFileSync(doses, "x");
  await expect(copied("spoilt")).rejects.toThrow("doses.csv is not the file that was written");
  const [described, readme] = await Promise.all([
    Bun.file(join(places.directory, "now", "datapackage.json")).json(),
    Bun.file(join(places.directory, "now", "README.md")).text(),
  ]);
  const home = pseudonyms.numberOf("home", 12);
  const epoch = pseudonyms.epochName(places.gateway.epoch);
  const citation = `Readings of home ${home}, 2026-09-30 to 2026-10-01; up to ${epoch}:6000; SHA-256 `;
  expect(described.lintel.citation).toStartWith(citation);
  expect(readme).toContain(described.lintel.citation);
  expect(described.lintel).toMatchObject({
    at: [{ epoch, number: 6_000, readings: 6_000, homeid: home }],
    sha256: checksumOf(contents.tables),
  });
  // The checksum can be had by anybody, by the line of the README as it stands.
  const [ofReadings = "", ofMeasures = ""] = [...readme.matchAll(/^LC_ALL=C sha256sum .*$/gm)].map(
    ([line]) => line,
  );
  const sum = (line: string, folder: string) =>
    Bun.spawnSync(["sh", "-c", line], { cwd: join(places.directory, folder) })
      .stdout.toString()
      .slice(0, 64);
  expect(sum(ofReadings, "now")).toBe(described.lintel.sha256);
  // So can that of the measures, also of those that were taken over.
  const definitions = derivedNames.map(definitionText).join(", ");
  const measures = `Derived measures by ${definitions}; SHA-256 ${sum(ofMeasures, "again")}.`;
  expect(described.lintel.measures).toBe(measures);
  expect(readme).toContain(measures);
  expect(await Bun.file(join(places.directory, "again", "README.md")).text()).toContain(measures);
});

test("a number that has not come, and an epoch of elsewhere, are refused in one line", async () => {
  const { epoch } = places.gateway;
  for (const [asked, said] of [
    [{ epoch, number: 99_999 }, /up to 6100, and not up to 99999/],
    [{ epoch: "0".repeat(32), number: 1 }, /has no readings of epoch 0{32}/],
  ] as const)
    await expect(places.download("sqlite", "refused", { at: [asked] })).rejects.toThrow(said);
});

/** Runs `lintel fetch` at one of the places. */
async function fetched(from: "gateway" | "sqlite", ...words: string[]) {
  const { api, token } = places.place(from);
  writeFileSync(join(site.directory, "token"), `${token}\n`);
  writeFileSync(join(site.directory, "key"), `${key}\n`, { mode: 0o600 });
  return site.lintel("fetch", "--url", api.url, "--token-file", "token", "--key", "key", ...words);
}

test.each(placeNames)(
  "a store gives the same straight away, by the folder of a package and by number: %s",
  async (name) => {
    const saved = join(places.directory, "postgres before");
    const words = ["export", ...places.words[name], "--key", "key"];
    writeFileSync(join(site.directory, "key"), `${key}\n`, { mode: 0o600 });
    const byFolder = await site.lintel(...words, "--at", saved, "--output", `exported-${name}`);
    expect([byFolder.code, withoutProgress(byFolder.said)]).toEqual([0, ""]);
    expect(byFolder.out).toContain(`It is the same as ${saved}: SHA-256 ${before}.`);
    const named = `${places.gateway.epoch}:3500`;
    const byNumber = await site.lintel(...words, "--at", named, "--output", `numbered-${name}`);
    expect([byNumber.code, byNumber.out]).toEqual([0, expect.stringContaining(before)]);
    const late = await site.lintel(...words, "--at", `${places.gateway.epoch}:99999`, "--output", "refused");
    expect([late.code, late.said]).toEqual([2, expect.stringContaining("this store has readings of epoch")]);
  },
);

test("a saved package is made again by its folder, and what was erased since is said", async () => {
  const saved = join(places.directory, "sqlite before");
  const same = await fetched("sqlite", "--at", saved, "--output", "same");
  expect([same.code, withoutProgress(same.said)]).toEqual([0, ""]);
  expect(same.out).toContain(`It is the same as ${saved}: SHA-256 ${before}.`);

  const store = places.place("sqlite").store;
  const at_ms = Date.UTC(2027, 0, 1);
  await store.erase({ target: { home: 12 }, id: "0123456789abcdef".repeat(2), at_ms });
  const gone = await fetched("sqlite", "--at", saved, "--output", "gone");
  expect([gone.code, withoutProgress(gone.said)]).toEqual([1, ""]);
  expect(gone.out).toContain(`It is not the same as ${saved}:`);
  expect(gone.out).toContain("wirelesssensor_events.csv");
  expect(gone.out).toContain(`Numbers 1 to 3500 of epoch ${places.gateway.epoch} have no reading here.`);
  expect(gone.out).toMatch(/Erased at 2027-01-01T00:00:00.000Z: home 12 from .* to .*\./);
  const emptied = await fetched("sqlite", "--at", join(places.directory, "now"), "--output", "emptied");
  expect([emptied.code, emptied.out]).toEqual([1, expect.stringContaining("may have been erased since")]);
  const named = `${places.gateway.epoch}:3500`;
  const byNumber = await fetched("sqlite", "--at", named, "--output", "by-number");
  expect(byNumber.code).toBe(1);
  expect(byNumber.out).toContain("Numbers 1 to 3500 of epoch");
  const words = ["export", ...places.words.sqlite, "--key", "key", "--at", named];
  const exported = await site.lintel(...words, "--output", "exported-gone");
  expect([exported.code, exported.out]).toEqual([1, expect.stringContaining("Numbers 1 to 3500 of epoch")]);
  const whole = await fetched("gateway", "--at", named, "--output", "whole");
  expect([whole.code, whole.out]).toEqual([0, expect.stringContaining(before)]);
});
