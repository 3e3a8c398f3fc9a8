import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { download } from "../../src/export/download.ts";
import { Site } from "../../testbed/front-door.ts";
import { encoded } from "../central/receiver/receiving.ts";
import {
  gatewayOf,
  homes,
  marked,
  marksOf,
  moved,
  mover,
  programme,
} from "../domain/records/marked-programme.ts";
import { downloadOptions } from "../export/options.ts";

const { a, b } = homes;
const site = new Site();
const data = ["--data", join(site.directory, "central")];
let url: string;

/** A central server as people start it, with a programme of five homes. */
beforeAll(async () => {
  const process = site.spawn(["central", "--listen", "127.0.0.1", "--port", "0", "--json", ...data]);
  url = (JSON.parse((await process.line()) ?? "{}") as { url: string }).url;
  const records = Object.fromEntries(
    [...Map.groupBy(programme(), ({ type }) => type)].map(([type, of]) => [
      type,
      of.map(({ record }) => record),
    ]),
  );
  const file = join(site.directory, "programme.json");
  writeFileSync(file, JSON.stringify(records));
  expect(await site.lintel("import", file, ...data)).toMatchObject({ code: 0 });
  for (const home of [a, b]) {
    const authorization = `bearer ${await token("--scope", "sync", "--home", String(home))}`;
    const headers = { authorization, "content-type": "application/vnd.lintel.batch" };
    const batch = { method: "POST", headers, body: encoded(gatewayOf(home).all()) };
    expect((await fetch(new URL("/sync/v1/batches", url), batch)).status).toBe(200);
  }
});
afterAll(() => site.remove());

async function token(...words: string[]): Promise<string> {
  const { out } = await site.lintel("token", "create", "test", "--json", ...words, ...data);
  return (JSON.parse(out) as { token: string }).token;
}

/** Downloads all that a token sees; answers the files by name. */
async function fetched(text: string, name: string): Promise<ReadonlyMap<string, string>> {
  const output = join(site.directory, name);
  // With names: the command would leave them out for who is no administrator.
  await download(downloadOptions({ url, token: text, directory: output, stamp: "unix" }));
  const files = readdirSync(output).filter((entry) => entry.endsWith(".ndjson"));
  return new Map(files.map((entry) => [entry, readFileSync(join(output, entry), "utf8")]));
}

test("a download with a bound token has all that is its home's, and nothing of another home", async () => {
  const whole = await fetched(await token(), "whole");
  const own = await fetched(await token("--home", String(a)), "own");
  expect([...own.keys()]).toEqual([...whole.keys()]);
  const foreign = marked.filter((number) => ![a, mover, moved].includes(number)).flatMap(marksOf);
  // A day of the calendar is everybody's.
  const isForeign = (text: string) => {
    const told = text.replace(/"day":"[^"]*"/, "");
    return foreign.some((mark) => told.includes(mark));
  };
  for (const [name, text] of own) {
    expect([name, text.split("\n").filter(isForeign)]).toEqual([name, []]);
    if (name === "item_types.ndjson") continue;
    let theirs = (whole.get(name) ?? "").split("\n").filter((line) => line !== "" && !isForeign(line));
    const lines = new Set(text.split("\n"));
    // Of a sensor that has moved, a day has only what the token sees of it.
    if (name === "missingness.ndjson") theirs = theirs.filter((line) => !line.includes(`"itemid":${mover},`));
    expect([name, theirs.filter((line) => !lines.has(line))]).toEqual([name, []]);
    // These gateways tell of no device whether it was alive, or what it is.
    const isTold = name !== "coverage.ndjson" && name !== "device_history.ndjson";
    expect([name, theirs.length > 0]).toEqual([name, isTold]);
  }
});

test("a package has no mark of homes whose consent does not cover its use, and says that they are left out", async () => {
  const start = "2024-01-01T00:00:00Z";
  const consents = [
    { consentid: 1, homeid: b, use: "coded", answer: "refused", start },
    // The subject of home a, who lives nowhere else.
    { consentid: 2, subjectid: a, use: "shared", answer: "refused", start },
    { consentid: 3, homeid: a, use: "coded", answer: "refused", start, stop: "2024-02-01T00:00:00Z" },
  ];
  const [file, key] = [join(site.directory, "consents.json"), join(site.directory, "package.key")];
  writeFileSync(file, JSON.stringify({ consents }));
  writeFileSync(key, "5".repeat(64), { mode: 0o600 });
  expect(await site.lintel("import", file, ...data)).toMatchObject({ code: 0 });
  const coded = ["--key", key, "--identifiers", "coded", "--stamp", "unix"];
  const told = (name: string) =>
    readdirSync(join(site.directory, name), { recursive: true, withFileTypes: true })
      // A day of the calendar is everybody's, and so are projects and studies.
      .filter((entry) => entry.isFile() && !/^(projects|studies)\./.test(entry.name))
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .join("\n")
      .replaceAll(/(?<=[",])\d{4}-\d\d-\d\d(?=[",])/g, "");

  const form = ["--format", "ndjson", "--output", join(site.directory, "exported")];
  const exported = await site.lintel("export", ...coded, ...form, ...data);
  const one = "1 home is left out, because its consent does not cover the use of this package (coded).";
  expect([exported.code, exported.said]).toEqual([0, expect.stringContaining(one)]);
  const [withA, ...packaged] = [
    told("exported"),
    readFileSync(join(site.directory, "exported/README.md"), "utf8"),
  ];
  expect(packaged).toEqual([expect.stringContaining(one)]);
  expect(withA).toContain(`"homeid":${a},`);
  expect(marksOf(b).filter((mark) => withA.includes(mark))).toEqual([]);

  const server = ["--url", url, "--token", await token(), "--output", join(site.directory, "shared")];
  const shared = await site.lintel("fetch", ...coded, ...server, "--recipient", "a laboratory");
  const both =
    "2 homes are left out, because their consent does not cover the use of this package (coded, shared).";
  expect([shared.code, shared.said]).toEqual([0, expect.stringContaining(both)]);
  const withoutBoth = told("shared");
  expect(withoutBoth).toContain(both);
  expect(withoutBoth).toContain(String(homes.c));
  expect([a, b, moved, mover].flatMap(marksOf).filter((mark) => withoutBoth.includes(mark))).toEqual([]);

  // Files of another use may not stay beside these.
  const again = await site.lintel("fetch", ...coded, ...server);
  expect([again.code, again.said]).toEqual([2, expect.stringContaining("homes left out")]);

  const headers = {
    authorization: `bearer ${await token()}`,
    accept: "application/json",
    "lintel-uses": "any",
  };
  const refused = await fetch(new URL("/v0.9/homes/", url), { headers });
  expect([refused.status, await refused.json()]).toEqual([422, expect.objectContaining({ code: 42201 })]);
});
