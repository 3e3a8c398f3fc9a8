import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { lintelHere } from "../../testbed/command-here.ts";
import { LostBox } from "../cli/lost-box.ts";

/** Somebody has the card of home 12: every byte of it. Central holds home 12 and home 13. */

const secret = "Sister-of-home-13";
const box = new LostBox({ commands: lintelHere, home: 12 });
const other = new LostBox({ commands: lintelHere, home: 13, central: box.central });
let card: string[] = [];

beforeAll(async () => {
  await box.start();
  await other.start();
  await box.central.import({
    homes: [
      { homeid: 12, cityname: "Home-of-the-card" },
      { homeid: 13, cityname: secret },
    ],
  });
  await box.live(1, 100);
  await other.live(1, 100);
  await box.upload();
  await other.upload();
  await box.site.token();
  card = tokensOn([box.site.data, box.site.config, box.tokenFile]);
});
afterAll(async () => {
  await other[Symbol.asyncDispose]();
  await box[Symbol.asyncDispose]();
});

/** Everything on the card that has the form of a token. */
function tokensOn(places: readonly string[]): string[] {
  const bytes = places.flatMap((place) =>
    statSync(place).isFile()
      ? [readFileSync(place, "latin1")]
      : readdirSync(place, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1")),
  );
  return [...new Set(bytes.join("\n").match(/\b[a-z2-9]{12}\.[A-Za-z0-9_-]{43}/g) ?? [])];
}

const paths = [
  "/sync/v1/roster",
  `/sync/v1/held?epoch=${"a".repeat(32)}`,
  "/sync/v1/backups",
  "/sync/v1/history?from=0",
  "/sync/v1/fleet",
  "/v0.9/homes/13",
  "/v0.9/homes",
  "/v0.9/items",
  "/homes/13",
  "/",
];

async function askAll(token: string): Promise<{ path: string; status: number; text: string }[]> {
  const { port } = new URL(box.central.origin);
  const headers = {
    authorization: `bearer ${token}`,
    cookie: `lintel-${port}=${token}`,
    accept: "application/json",
  };
  return Promise.all(
    paths.map(async (path) => {
      const response = await fetch(box.central.origin + path, { headers, redirect: "manual" });
      return { path, status: response.status, text: await response.text() };
    }),
  );
}

test("the tokens on a stolen card open its own home at central and no other", async () => {
  // The read token that was made there is on the card as its hash alone.
  expect(card).toHaveLength(1);
  const answers = await askAll(card[0] ?? "");
  expect(answers.filter(({ status }) => status === 200).map(({ path }) => path)).toEqual(paths.slice(0, 4));
  expect(answers.find(({ path }) => path.endsWith("roster"))?.text).toContain("Home-of-the-card");
  expect(answers.filter(({ text }) => text.includes(secret))).toEqual([]);
  const forged = await fetch(`${box.central.origin}/sync/v1/report`, {
    method: "POST",
    headers: { authorization: `bearer ${card[0]}`, "lintel-home": "13", "content-type": "application/json" },
    body: "{}",
  });
  expect(forged.status).toBe(409);
});

test("the tokens on a stolen card open nothing once they are revoked at central", async () => {
  await box.live(101, 110);
  const id = card[0]?.split(".")[0] ?? "";
  await box.run("token", "revoke", id, "--data", box.central.data);
  const answers = await askAll(card[0] ?? "");
  expect(answers.filter(({ status }) => ![401, 303].includes(status))).toEqual([]);
  expect((await box.site.lintel("upload", "--config", box.site.config)).code).not.toBe(0);
  // Home 13 is served as before.
  await other.live(101, 110);
  expect(await other.upload()).toMatchObject({ sent: 10 });
});
