import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { day_ms } from "../../src/base/time.ts";
import { mirrorOf } from "../../src/cli/central-mirror.ts";
import { curtains, demoHome } from "../../src/demo/devices.ts";
import { appendHistory } from "../../src/demo/history.ts";
import { importProgramme, prescribeDoses } from "../../src/demo/programme.ts";
import { derivedPath } from "../../src/domain/derived/derived-record.ts";
import { derivedNames } from "../../src/domain/derived/derived-table.ts";
import { quartilesOf } from "../../src/domain/derived/quartiles.ts";
import { derivedTables } from "../../src/export/derived-tables.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { DeviceData } from "../../src/web/pages/device/device-data.ts";
import { showDevice } from "../../src/web/pages/device/device-data.ts";
import { householdReportOf } from "../../src/web/pages/report/household-report.ts";
import type { Asked } from "../../src/web/pages/site.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";
import { derivedInPython, derivedInR, expectServed, numbersIn } from "../clients/derived-frames.ts";
import { type PlaceName, Places, placeNames } from "./places.ts";

/** Sixteen days of the demo's household, and two weeks after them, in which nobody listened. */
const from_ms = Date.UTC(2026, 9, 1);
const until_ms = from_ms + 16 * day_ms;
const now_ms = until_ms + 14 * day_ms;
const timezone = "Europe/Berlin";
const setting = { timezone, walking: [{ name: "hall", sensors: curtains }] };
const settingOf = async () => setting;
let places: Places;
/** Records of each measure as the gateway answers them, oldest first. */
let served: Readonly<Record<string, readonly Record<string, unknown>[]>>;

beforeAll(async () => {
  const furnish = (store: Parameters<typeof importProgramme>[0]) =>
    importProgramme(store, { installed_ms: from_ms, now_ms: until_ms, timezone });
  places = await Places.open({ home: demoHome, furnish, settingOf, clock: new SettableClock(now_ms) });
  await prescribeDoses(places.gateway, from_ms);
  await appendHistory({ store: places.gateway, from_ms, until_ms, seed: 5, progress: () => {} });
  await places.send();
  served = await servedBy("gateway");
});
afterAll(() => places[Symbol.asyncDispose]());

async function servedBy(name: PlaceName): Promise<typeof served> {
  const { api, token } = places.place(name);
  const headers = { Authorization: `bearer ${token}`, Accept: "application/json" };
  async function* pages(path: string): AsyncGenerator<Record<string, unknown>> {
    let url: string | undefined = `${api.url}${path}`;
    while (url !== undefined) {
      const answer: Response = await fetch(url, { headers });
      yield* (await answer.json()) as Record<string, unknown>[];
      const next = /<([^>]*)>/.exec(answer.headers.get("Link") ?? "")?.[1];
      url = next && new URL(next, api.url).href;
    }
  }
  const all: Record<string, Record<string, unknown>[]> = {};
  for (const measure of derivedNames)
    all[measure] = (await Array.fromAsync(pages(`${derivedPath(measure, demoHome)}?limit=500`))).reverse();
  const together: typeof all = {};
  for await (const { name, records } of pages(derivedPath("all", demoHome)))
    together[String(name)] = [...(records as []).toReversed(), ...(together[String(name)] ?? [])];
  expect(together).toEqual(all);
  return all;
}

test("the interface answers the same at a gateway and at a central on either database, with values of every measure", async () => {
  for (const name of placeNames.slice(1)) expect(await servedBy(name)).toEqual(served);
  for (const measure of derivedNames) {
    const told = served[measure]?.flatMap((record) => Object.values(record).filter(Number.isFinite)) ?? [];
    expect([measure, told.length > 20]).toEqual([measure, true]);
  }
  const hours = new Set(served["doses"]?.map(({ itemname, prescribed }) => `${itemname} ${prescribed}`));
  expect(hours).toEqual(new Set(["pillbox-morning 08:00", "pillbox-evening 18:00"]));
  // Nobody listened in the days after: they are there, and nothing is told of them.
  const after =
    served["doses"]?.filter(({ day }) => String(day) > "2026-10-18" && String(day) < "2026-10-29") ?? [];
  expect([after.length > 10, new Set(after.map(({ status }) => status))]).toEqual([
    true,
    new Set(["unknown"]),
  ]);
});

test("each says the same number of readings of each series before a download", async () => {
  const told = placeNames.map(async (name) => {
    const { api, token } = places.place(name);
    const headers = { Authorization: `bearer ${token}`, Accept: "application/json" };
    const lists = ["wirelesssensors", "scales", "watches"].map(async (kind) => {
      const answer = await fetch(`${api.url}/marks/${kind}`, { headers });
      return ((await answer.json()) as { path: string; readings: Record<string, number> }[]).map(
        ({ path, readings }) => [path, readings],
      );
    });
    return Promise.all(lists);
  });
  const [gateway, ...centrals] = await Promise.all(told);
  for (const central of centrals) expect(central).toEqual(gateway ?? []);
  expect(JSON.stringify(gateway)).toMatch(/"events":\d{3,}/);
});

test("a package has the numbers of the interface, at each of the three", async () => {
  const files: string[][] = [];
  for (const name of placeNames) {
    await places.download(name, name, { pseudonyms: undefined, format: "ndjson", stamp: "unix" });
    files.push(
      await Promise.all(
        derivedNames.map((measure) =>
          Bun.file(join(places.directory, name, "derived", `${measure}.ndjson`)).text(),
        ),
      ),
    );
  }
  for (const other of files.slice(1)) expect(other).toEqual(files[0] ?? []);
  for (const [at, measure] of derivedNames.entries()) {
    const rows =
      files[0]?.[at]
        ?.split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line)) ?? [];
    expect(rows).toEqual((served[measure] ?? []).map((record) => ({ homeid: demoHome, ...record })));
  }
});

test.each(["sqlite", "postgres"] as const)(
  "the mirror of a central has the numbers of the interface, and the cookbook's answers: %s",
  async (name) => {
    const directory = join(places.directory, `mirror-${name}`);
    const { signal: stop } = new AbortController();
    const store = places.place(name).store as CentralStore;
    await mirrorOf(store, { directory, clock: new SettableClock(now_ms), stop, onProgress: () => {} });
    const instance = await DuckDBInstance.create(join(directory, "lintel.duckdb"), {
      access_mode: "READ_ONLY",
    });
    const connection = await instance.connect();
    const asked = async (sql: string) => (await connection.runAndReadAll(sql)).getRowObjectsJS();
    const text = (row: object) => JSON.stringify(Object.entries(row).sort(), plainNumber);
    for (const { name: view, measure } of derivedTables) {
      const rows = await asked(`SELECT * EXCLUDE home REPLACE (day::VARCHAR AS day) FROM ${view}`);
      const told = (served[measure] ?? []).map((record) => text({ homeid: demoHome, ...record }));
      expect(rows.map(text).sort()).toEqual(told.sort());
    }
    const files = join(places.directory, "sqlite");
    const cookbook = readFileSync(join(import.meta.dir, "../../docs/cookbook.md"), "utf8");
    const questions = [...cookbook.matchAll(/^```sql\n(.*?)^```/gms)].map(([, sql = ""]) => sql);
    const ofMeasures = questions.filter((sql) => sql.includes("/derived/"));
    expect(ofMeasures).toHaveLength(13);
    for (const sql of ofMeasures) {
      const inFile = sql.replace(/'lintel-data\/(.*?)\.csv'/, `'${files}/$1.ndjson'`);
      const inMirror = sql.replace(/'lintel-data\/derived\/(.*?)\.csv'/, "derived_$1");
      expect(await asked(inMirror)).toEqual(await asked(inFile));
    }
    connection.closeSync();
    instance.closeSync();
  },
);

const clients = join(import.meta.dir, "../../clients");
const pythons = [Bun.which("python3"), "/usr/bin/python3"].flatMap((path) => path ?? []);
const python = pythons.find((path) => Bun.spawnSync([path, "-c", "import pandas"]).success) ?? "";
const rscript = Bun.which("Rscript") ?? "";
const hasR = rscript !== "" && Bun.spawnSync([rscript, "-e", "library(curl); library(jsonlite)"]).success;

/** Runs a program of a client that asks a place: its words. */
async function printedBy(
  name: PlaceName,
  command: readonly string[],
  more: Record<string, string>,
): Promise<string> {
  const { api, token } = places.place(name);
  const env = {
    ...process.env,
    PYTHONDONTWRITEBYTECODE: "1",
    LINTEL_URL: api.url,
    LINTEL_TOKEN: token,
    ...more,
  };
  const child = Bun.spawn([...command], { env, stdout: "pipe", stderr: "pipe" });
  const [out, said, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  expect({ code, said: code === 0 ? "" : out + said }).toEqual({ code: 0, said: "" });
  return out;
}

test.skipIf(python === "").each(placeNames)(
  "the Python client has the numbers of the interface: %s",
  async (name) => {
    const program = [python, "-c", derivedInPython(demoHome)];
    const has = await printedBy(name, program, { PYTHONPATH: join(clients, "python") });
    expectServed(JSON.parse(has), numbersIn(served));
  },
);

test.skipIf(!hasR).each(placeNames)("the R client has the numbers of the interface: %s", async (name) => {
  const library = join(places.directory, "r-library");
  if (!existsSync(library)) {
    mkdirSync(library);
    await printedBy(name, ["R", "CMD", "INSTALL", "-l", library, join(clients, "r")], {});
  }
  const has = await printedBy(name, [rscript, "-e", derivedInR(demoHome)], { R_LIBS: library });
  expectServed(JSON.parse(has), numbersIn(served));
});

/** As the interface has numbers and times. */
function plainNumber(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const own = this[key];
  if (own instanceof Date) return own.getTime() / 1000;
  // A library of Zigbee, where a test before has loaded it, has JSON make texts of these.
  return typeof own === "bigint" ? Number(own) : value;
}

test.each(placeNames)("the report and the pages have the numbers of the interface: %s", async (name) => {
  const { store } = places.place(name);
  const report = await householdReportOf({ store, now_ms, settingOf, home: demoHome, since: "2026-10-01" });
  const of = (measure: string) => served[measure] ?? [];
  expect(
    report.pillboxes.flatMap(({ itemname, doses }) =>
      doses.map((dose) => [itemname, dose.date, String(dose.status)]),
    ),
  ).toEqual(
    report.pillboxes.flatMap(({ itemname }) =>
      of("doses").flatMap((one) =>
        one["itemname"] === itemname ? [[itemname, String(one["day"]), String(one["status"])]] : [],
      ),
    ),
  );
  expect(report.walking[0]?.walks.map(({ speed }) => speed)).toEqual(
    of("walks").map(({ speed }) => speed as number),
  );
  expect(report.sleep[0]?.episodes.map(({ total_min }) => total_min)).toEqual(
    of("sleep").map(({ asleep_min }) => asleep_min as number),
  );
  const weights = of("weight_daily").flatMap(({ weight_kg }) =>
    weight_kg === null ? [] : [Number(weight_kg)],
  );
  expect(report.weights[0]?.days.map(({ kilograms }) => kilograms)).toEqual(weights);

  const page = async (path: string) => (await shown(name, path)).data as DeviceData;
  const box = await page("pillboxes/pillbox-evening");
  expect(
    (box.doses?.weeks ?? [])
      .toReversed()
      .flatMap((week) => week.flatMap((dose) => (dose ? [dose.status as string] : []))),
  ).toEqual(
    of("doses").flatMap((one) => (one["itemname"] === "pillbox-evening" ? [String(one["status"])] : [])),
  );
  const curve = (await page("wirelesssensors/hall-curtain-2")).walking[0];
  expect(curve?.spread).toEqual(quartilesOf(of("walks").map(({ speed }) => Number(speed))) ?? null);
});

/** The page of a device of the last five weeks, as whoever may see everything sees it. */
async function shown(name: PlaceName, path: string) {
  const [kind = "", item = ""] = path.split("/");
  const { store } = places.place(name);
  const site: Asked["site"] = {
    role: name === "gateway" ? "gateway" : "central",
    store,
    version: "0",
    home: demoHome,
    api: "/v0.9",
    zoneOf: async () => timezone,
    walkingOf: async () => setting.walking,
  };
  const token = { binding: undefined } as unknown as Asked["token"];
  const query = new URLSearchParams({ from: "2026-10-01", until: "2026-11-01" });
  return showDevice({
    site,
    isTimeKnown: true,
    signal: new AbortController().signal,
    store,
    token,
    origin: "",
    params: { kind, name: item },
    query,
    locale: "en",
    now_ms,
  });
}
