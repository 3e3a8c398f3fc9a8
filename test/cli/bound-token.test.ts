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
