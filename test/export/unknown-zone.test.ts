import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { type Api, startApi } from "../../testbed/api-server.ts";
import { Site } from "../../testbed/front-door.ts";
import { items, programme } from "../../testbed/programme.ts";
import { reading } from "../../testbed/serving.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

/** A store that an earlier version filled: home 12 has a word where a time zone should stand. */
const site = new Site();
let api: Api;
let stop: () => Promise<void>;

beforeAll(async () => {
  mkdirSync(site.data, { recursive: true });
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock });
  const store = await openGatewayStore({ directory: site.data, clock, log, ...writerOfTests() });
  await store.importRecords([
    programme().map(({ type, record }) => {
      if (type !== "homes") return { type, record };
      const timezone = record["homeid"] === 12 ? "America/Los_Angelos" : "Europe/Berlin";
      return { type, record: { ...record, timezone } };
    }),
  ]);
  const mac = items.find(({ itemname }) => itemname === "wall")?.mac;
  const device = { kind: "wirelesssensors", address: `00:0d:6f:00:0a:${mac}` } as const;
  await store.append([reading(device, "wirelesssensor_events", Date.UTC(2026, 9, 30), { event: 1 })]);
  api = await startApi({ store, clock, log, listen: { hostname: "127.0.0.1", port: 0 }, realm: "lintel" });
  await Bun.write(join(site.directory, "token"), await site.token("--scope", "admin"));
  stop = async () => {
    await api.stop();
    await store.close();
  };
});
afterAll(async () => {
  await stop();
  await site.remove();
});

const fetched = () => ["fetch", "--url", api.url, "--token-file", "token", "--identifiers"];
const exported = () => ["export", "--data", site.data, "--identifiers"];

test("fetch, export and report make no local day of a time zone that does not exist: they name home, word and remedy, and write nothing", async () => {
  for (const [words, output] of [
    [[...fetched(), "--timezone", "home", "--output", "one"], "one"],
    [[...exported(), "--timezone", "home", "--output", "two"], "two"],
    [["report", "--data", site.data], undefined],
  ] as const) {
    const { code, said } = await site.lintel(...words);
    expect(code).toBe(2);
    expect(said).toContain('home 12 has the time zone "America/Los_Angelos", and there is none of that name');
    expect(said).toContain("correct the record of the home with lintel import");
    if (output !== undefined)
      expect(existsSync(join(site.directory, output, "datapackage.json"))).toBe(false);
  }
});

test("in UTC they are written, with a line that says which days those are", async () => {
  for (const words of [
    [...fetched(), "--output", "three"],
    [...exported(), "--output", "four"],
  ]) {
    const { code, said } = await site.lintel(...words);
    expect(said).toContain(
      'home 12 has the time zone "America/Los_Angelos", and there is none of that name: its days are given in UTC',
    );
    expect(code).toBe(0);
  }
});

test("doctor names the home, the word and the zone that is probably meant", async () => {
  const { said, out } = await site.lintel("doctor", "--data", site.data);
  expect(`${out}${said}`).toContain(
    'home 12 has the time zone "America/Los_Angelos", and there is none of that name',
  );
  expect(`${out}${said}`).toContain("America/Los_Angeles");
});
