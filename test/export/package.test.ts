import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { coverageReasons } from "../../src/domain/coverage-record.ts";
import type { Note } from "../../src/domain/records/programme-records.ts";
import { type DownloadOptions, download } from "../../src/export/download.ts";
import { formatNames } from "../../src/export/table-file.ts";
import { fill } from "../../testbed/programme.ts";
import { now_ms, type Serving, serve } from "../../testbed/serving.ts";
import { event, oneOfEach, scale, sensor, watch } from "./filled.ts";
import { downloadOptions } from "./options.ts";

let serving: Serving;
let directory: string;
const hour_ms = 3_600_000;

beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
  const device = sensor(1);
  const from_ms = now_ms - 72 * hour_ms;
  const listener = "radio";
  // Heard at these hours and never between: silent from the second to the ninth, and down afterwards until the thirtieth.
  for (const hour of [0, 2, 9, 11, 30, 31])
    await serving.store.append([event(device, from_ms + hour * hour_ms, hour)], {
      listening: [
        { listener, from_ms: from_ms + (hour < 30 ? 0 : 30) * hour_ms, to_ms: from_ms + hour * hour_ms },
      ],
      states: [{ device, heard_ms: from_ms + hour * hour_ms, listener }],
    });
  await serving.store.append(oneOfEach(now_ms - hour_ms), {
    states: [scale, watch].map((device) => ({ device, heard_ms: now_ms - hour_ms, listener })),
  });
  directory = await mkdtemp(join(tmpdir(), "lintel-package-"));
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

function fetched(into: string, more: Partial<DownloadOptions> = {}) {
  const { url } = serving.api;
  const token = serving.tokens.read;
  return download(downloadOptions({ url, token, directory: join(directory, into), ...more }));
}

async function rowsOf(into: string, table: string): Promise<Record<string, unknown>[]> {
  const text = await Bun.file(join(directory, into, `${table}.ndjson`)).text();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test("has the coverage of every item, as the interface tells it, in order of time", async () => {
  await fetched("whole");
  const rows = await rowsOf("whole", "coverage");
  const names = new Set(rows.map(({ itemname }) => itemname));
  expect(names.size).toBe(3);
  for (const name of names) {
    const own = rows.filter(({ itemname }) => itemname === name);
    const [first] = own;
    const told = await (await serving.ask(`/items/${first?.["typename"]}/${name}/coverage`)).json();
    const seconds = ({ start, stop, state, reason, lost }: Record<string, unknown>) => ({
      start: Date.parse(String(start)) / 1000,
      stop: Date.parse(String(stop)) / 1000,
      state,
      reason,
      lost,
    });
    expect(own.map(seconds)).toEqual(told.toReversed());
  }
});

test("adds the minutes of each item and day up to the day, and counts its readings", async () => {
  await fetched("whole");
  const rows = await rowsOf("whole", "missingness");
  const reasons = Object.keys(coverageReasons);
  for (const row of rows) {
    const parts = ["listened", "unknown", ...reasons].map((name) => Number(row[name]));
    expect(parts.reduce((sum, part) => sum + part, 0)).toBe(Number(row["minutes"]));
  }
  const counted = rows.reduce((sum, { readings }) => sum + Number(readings), 0);
  const { files } = await fetched("whole");
  const series = ["wirelesssensor_events", "wirelesssensor_measures", "pillbox_events", "pillbox_status"];
  const all = [...series, "scale_weights", "scale_heart", "watch_epochs"].map(
    (name) => files[name]?.rows ?? 0,
  );
  expect(counted).toBe(all.reduce((sum, rows) => sum + rows, 0));
  const silent = rows.reduce((sum, row) => sum + Number(row["device_silent"]), 0);
  expect(silent).toBeGreaterThanOrEqual(7 * 60);
});

test("says on which days of an item there were notes of its home, or of the item", async () => {
  const [home, item] = [12, 9_999];
  const wall = (await rowsOf("whole", "missingness")).find(({ itemname }) => itemname === "wall");
  const start = Date.parse(`${wall?.["day"]}T12:00:00Z`) / 1000;
  const note = { homeid: home, itemid: null, subjectid: null, start, stop: start, words: null, said: null };
  const kept: Note[] = [
    { ...note, noteid: 1, kind: "hospital", source: "home" },
    { ...note, noteid: 2, kind: "furniture", source: "home", itemid: item },
  ];
  await serving.store.changeNotes(home, { kept, removed: [] });
  await fetched("noted");
  const noted = (await rowsOf("noted", "missingness")).filter(({ notes }) =>
    /hospital|furniture/.test(String(notes)),
  );
  expect(noted.length).toBeGreaterThan(0);
  for (const { day, notes } of noted)
    expect([day, notes]).toEqual([wall?.["day"], expect.stringMatching(/^(visitor )?hospital$/)]);
});

test("begins and ends with the span that was asked for, unknown before the device was heard", async () => {
  const since_s = Math.floor(now_ms / 1000) - 10 * 86_400;
  await fetched("span", { span: { since_s, until_s: since_s + 9 * 86_400 } });
  const days = (await rowsOf("span", "missingness")).filter(
    ({ itemname, typename }) => typename === "wirelesssensors" && String(itemname).endsWith("000002"),
  );
  expect(days).toHaveLength(10);
  expect(days[0]).toMatchObject({ minutes: 1440, listened: 0, unknown: 1440, readings: null });
  const starts = (await rowsOf("span", "coverage")).map(({ start }) => Date.parse(String(start)) / 1000);
  expect(Math.max(...starts)).toBeLessThan(since_s + 9 * 86_400);
});

test.each(formatNames)("describes itself as it lies there: %s", async (format) => {
  const place = join(directory, format);
  const { files } = await fetched(format, { format });
  const described = await Bun.file(join(place, "datapackage.json")).json();
  const there = (await readdir(place, { recursive: true })).filter((name) => name.endsWith(`.${format}`));
  expect(described.resources.map(({ path }: { path: string }) => path).toSorted()).toEqual(there.toSorted());
  const codebook = await Bun.file(join(place, "codebook.md")).text();
  for (const { name, path, bytes, hash, rows, schema } of described.resources) {
    const file = Bun.file(join(place, path));
    expect(bytes).toBe(file.size);
    expect(hash).toBe(`sha256:${new Bun.CryptoHasher("sha256").update(await file.bytes()).digest("hex")}`);
    expect(rows).toBe(files[name]?.rows);
    const fields = schema.fields.map((field: { name: string }) => field.name);
    if (format === "csv") expect((await file.text()).split("\r\n")[0]).toBe(fields.join(","));
    if (format === "parquet" && rows > 0)
      expect(Object.keys((await parquetReadObjects({ file: await file.arrayBuffer() }))[0] ?? {})).toEqual(
        fields,
      );
    for (const { name: field, description } of schema.fields) {
      expect(`${name}.${field}: ${description}`).toMatch(/: \S/);
      expect(codebook).toContain(`| \`${field}\` |`);
    }
  }
  const events = described.resources.find(({ name }: { name: string }) => name === "wirelesssensor_events");
  const { bits } = events.schema.fields.find((field: { name: string }) => field.name === "event");
  expect(bits[3]).toEqual({ bit: 3, value: 8, meaning: "its battery is low" });
  expect(codebook).toContain("| 3 | 8 | its battery is low |");
  // Times are texts in this package, and so none has a unit.
  expect(codebook).not.toContain("| unix s |");
  // The page about measures stands alone: it leads to no other page, and says nothing of an interface that the reader may not have.
  const page = await Bun.file(join(place, "derived.md")).text();
  expect(page).toContain("## How far they are off");
  expect(page).not.toMatch(/\]\((?!#)|curl|From the interface/);
  const crate = await Bun.file(join(place, "ro-crate-metadata.json")).json();
  const parts = crate["@graph"].find((one: { "@id": string }) => one["@id"] === "./").hasPart;
  const named = parts.map((part: { "@id": string }) => part["@id"]);
  expect(named.toSorted()).toEqual(
    [...there, "README.md", "codebook.md", "datapackage.json", "derived.md"].toSorted(),
  );
});
