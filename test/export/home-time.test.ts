import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { type Api, startApi } from "../../testbed/api-server.ts";
import { Site, withoutProgress } from "../../testbed/front-door.ts";
import { items, programme } from "../../testbed/programme.ts";
import { item, start_ms as sample_ms } from "../../testbed/sample.ts";
import { reading } from "../../testbed/serving.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { events, stay, take } from "../store/central-sample.ts";
import { temporaryCentral } from "../store/sqlite/temporary-central.ts";

/** Where two sensors live: the clocks of one place go back on the day that is asked for, those of the other did a week before. */
const zones = { wall: "America/Los_Angeles", "Tür/ü %?": "Europe/Berlin" } as const;
const homes = { wall: 12, "Tür/ü %?": 13 } as const;
const quarter_ms = 15 * 60_000;

const site = new Site();
let api: Api;
let stop: () => Promise<void>;

beforeAll(async () => {
  mkdirSync(site.data, { recursive: true });
  const clock = new SystemClock();
  const log = lineLog({ write: () => {}, clock });
  const store = await openGatewayStore({ directory: site.data, clock, log, ...writerOfTests() });
  async function* records() {
    yield programme().map(({ type, record }) => {
      const timezone = record["homeid"] === homes.wall ? zones.wall : zones["Tür/ü %?"];
      const currenthomeid = homes[record["itemname"] as keyof typeof homes] ?? null;
      if (type === "homes") return { type, record: { ...record, timezone } };
      return { type, record: type === "items" ? { ...record, currenthomeid } : record };
    });
  }
  expect((await store.importRecords(records(), { dryRun: () => false })).clashes).toEqual([]);
  for (const name of Object.keys(zones)) {
    const mac = items.find(({ itemname }) => itemname === name)?.mac;
    const device = { kind: "wirelesssensors", address: `00:0d:6f:00:0a:${mac}` } as const;
    const from_ms = Date.UTC(2026, 9, 30) + 7;
    const event = (at: number) =>
      reading(device, "wirelesssensor_events", from_ms + at * quarter_ms, { event: at });
    const heard_ms = from_ms + 300 * quarter_ms;
    await store.append(
      Array.from({ length: 4 * 24 * 5 }, (_, at) => event(at)),
      {
        listening: [{ listener: "radio", from_ms, to_ms: heard_ms }],
        states: [from_ms, heard_ms].map((heard_ms) => ({ device, heard_ms, listener: "radio" })),
      },
    );
  }
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

/** Words for a day of each home, of fetch and of export. */
function commands(...words: string[]): { output: string; words: string[] }[] {
  const all = [...words, "--format", "ndjson", "--timezone", "home", "--identifiers"];
  return [
    { output: "fetched", words: ["fetch", "--url", api.url, "--token-file", "token", ...all] },
    { output: "exported", words: ["export", "--data", "data", ...all] },
  ];
}

async function rowsOf(output: string, table: string): Promise<Record<string, string | number>[]> {
  const text = await Bun.file(join(site.directory, output, `${table}.ndjson`)).text();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("with --timezone home a day is that of each home, and each reading has its time and day there", async () => {
  for (const { output, words } of commands("--since", "2026-11-01", "--until", "2026-11-02")) {
    const ran = await site.lintel(...words, "--output", output);
    expect([ran.code, withoutProgress(ran.said)]).toEqual([0, ""]);
    const rows = await rowsOf(output, "wirelesssensor_events");
    for (const [name, zone] of Object.entries(zones)) {
      const own = rows.filter(({ itemname }) => itemname === name);
      // 25 hours where the clocks go back.
      expect(own.length).toBe(4 * (name === "wall" ? 25 : 24));
      const shown = new Intl.DateTimeFormat("sv-SE", {
        timeZone: zone,
        dateStyle: "short",
        timeStyle: "medium",
      });
      for (const { stamp, localtime, localday } of own) {
        expect(Date.parse(String(localtime))).toBe(Date.parse(String(stamp)));
        expect(String(localtime).slice(0, 19).replace("T", " ")).toBe(shown.format(new Date(String(stamp))));
        expect(localday).toBe("2026-11-01");
      }
      const known = (await rowsOf(output, "coverage")).filter(({ itemname }) => itemname === name);
      expect(known.length).toBeGreaterThan(0);
      for (const { start, stop, localstart, localstop } of known)
        for (const [at, there] of [
          [start, localstart],
          [stop, localstop],
        ]) {
          expect(Date.parse(String(there))).toBe(Date.parse(String(at)));
          expect(String(there).slice(0, 19).replace("T", " ")).toBe(shown.format(new Date(String(at))));
        }
      const minutes = (await rowsOf(output, "missingness")).filter(({ itemname }) => itemname === name);
      expect(minutes.map(({ timezone, day, readings }) => [timezone, day, readings])).toEqual([
        [zone, "2026-11-01", own.length],
      ]);
    }
  }
});

test("a moment with its own zone is the same everywhere, and so is every date without --timezone", async () => {
  const zoned = ["--since", "2026-11-01T00:00Z", "--until", "2026-11-01T06:00:00+01:00"];
  const words = ["--series", "wirelesssensor_events", "--format", "ndjson", "--data", "data"];
  for (const [more, expected] of [
    [["--timezone", "home", ...zoned], 2 * 4 * 5],
    [["--since", "2026-11-01", "--until", "2026-11-02"], 2 * 4 * 24],
  ] as const) {
    expect((await site.lintel("export", ...words, "--output", "one.ndjson", ...more)).code).toBe(0);
    const lines = (await Bun.file(join(site.directory, "one.ndjson")).text()).split("\n").slice(0, -1);
    expect(lines.length).toBe(expected);
  }
});

test("a directory keeps to the meaning that its dates began with", async () => {
  const [{ words = [] } = {}] = commands("--since", "2026-11-01", "--until", "2026-11-02");
  const other = await site.lintel(
    ...words.filter((word) => !["--timezone", "home"].includes(word)),
    "--output",
    "fetched",
  );
  expect(other.code).toBe(2);
  expect(other.said).toContain("holds a download with since 2026-11-01T00:00:00.000Z at home");
  expect(readdirSync(join(site.directory, "fetched")).filter((name) => name.endsWith(".part"))).toEqual([]);
});

test("at central a reading of a sensor that has moved has the home and the time of where it was made", async () => {
  await using central = await temporaryCentral();
  const { store } = central;
  const moved_s = sample_ms / 1000 + 50;
  await take(store, item(1));
  await store.importRecords([
    programme()
      .filter(({ type }) => type === "homes")
      .map(({ type, record }, at) => ({
        type,
        record: { ...record, homeid: at + 1, timezone: Object.values(zones)[at] ?? null },
      })),
  ]);
  await stay(store, { homeid: 2, item: 1, start: null, stop: moved_s });
  await stay(store, { homeid: 1, item: 1, start: moved_s, stop: null });
  for (const [home, name] of [
    [2, "before"],
    [1, "after"],
  ] as const) {
    const gateway = new SimulatedGateway(home, name).add(...events(1, 100));
    await store.receive(gateway.all(), gateway.sender);
  }
  const words = [
    "--data",
    central.directory,
    "--timezone",
    "home",
    "--format",
    "ndjson",
    "--output",
    "moved",
  ];
  expect((await site.lintel("export", ...words, "--identifiers")).code).toBe(0);
  const rows = await rowsOf("moved", "wirelesssensor_events");
  expect(rows.length).toBe(100);
  // At noon of 20 November in UTC.
  expect([rows[49], rows[50]].map((row) => [row?.["homeid"], row?.["localtime"]])).toEqual([
    [2, "2026-11-20T13:00:49.000+01:00"],
    [1, "2026-11-20T04:00:50.000-08:00"],
  ]);
});
