import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TSchema } from "@sinclair/typebox";
import { parquetReadObjects } from "hyparquet";
import { identifiedBy } from "../../src/domain/records/record-field.ts";
import { type RecordType, recordTable, recordTypes } from "../../src/domain/records/record-table.ts";
import { type DownloadOptions, download } from "../../src/export/download.ts";
import { Pseudonyms, recipientKey } from "../../src/export/pseudonyms.ts";
import { standardNames } from "../../src/export/standards/standards.ts";
import { formatNames } from "../../src/export/table-file.ts";
import { tableNamed } from "../../src/export/tables.ts";
import { Site } from "../../testbed/front-door.ts";
import { append, now_ms, reading, type Serving, serve } from "../../testbed/serving.ts";
import { event, pillbox, sensor } from "./filled.ts";
import { downloadOptions } from "./options.ts";

/** Numbers of records that name somebody: no other number here has these digits. */
const ids: Readonly<Record<string, number>> = {
  subjectid: 9_876_540_001,
  homeid: 9_876_540_002,
  currenthomeid: 9_876_540_002,
  itemid: 9_876_540_003,
};
/** Walked along once: each is an item of its own. */
const line = [1, 2, 3].map(sensor);
const born_s = Date.UTC(1931, 1, 3) / 1000;
/** Every text and number that may stand in no package without identifiers. */
const marks: string[] = [...new Set(Object.values(ids)), born_s, "1931-02-03"].map(String);
/** Those that the programme knows somebody or something by. */
const codes: string[] = [...new Set(Object.values(ids))].map(String);
const walking: { name: string; sensors: { item: string; metres: number }[] }[] = [];
let serving: Serving;
let directory: string;
const site = new Site();

function mark(name: string): string {
  const text = `Mark${marks.length}x${name.replaceAll(/[^A-Za-z]/g, "")}x`;
  marks.push(text);
  return text;
}

/** A value for a field, with a mark wherever a text can have one, and a number of its own wherever one names somebody. */
function valueIn(type: RecordType, name: string, schema: TSchema): unknown {
  const who = identifiedBy(schema);
  if (name in ids) return ids[name];
  if (name === "dob") return born_s;
  if (name === "dod") return null;
  const fixed: Record<string, unknown> = {
    typename: type === "items" ? "wirelesssensors" : undefined,
    typeid: type === "items" ? 2 : undefined,
    activename: "Active",
    statusname: type === "items" ? "Assigned" : undefined,
    macaddress: type === "items" ? sensor(0).address : undefined,
    item: ids["itemid"],
    ...(type === "subject_inventory"
      ? { start: "2026-01-31 08:00:00", stop: null, typename: "wirelesssensors" }
      : {}),
  };
  if (fixed[name] !== undefined) return fixed[name];
  const choices: readonly TSchema[] = schema["anyOf"] ?? [schema];
  if (choices[0]?.["const"] !== undefined) return choices[0]["const"];
  const text = choices.find((choice) => choice["type"] === "string");
  if (text !== undefined) return text["pattern"] === undefined ? mark(`${type}${name}`) : "3600";
  if (choices.some((choice) => choice["type"] === "boolean")) return true;
  if (who === "person" || who === "code") {
    const number = String(9_876_541_000 + marks.length);
    marks.push(number);
    if (who === "code") codes.push(number);
    return Number(number);
  }
  return 1;
}

beforeAll(async () => {
  const home = ids["homeid"] ?? 0;
  serving = await serve({ home, settingOf: async (id) => ({ id, timezone: "UTC", walking }) });
  marks.push(sensor(0).address, pillbox.address);
  const records = recordTypes.map((type) => ({
    type,
    record: Object.fromEntries(
      Object.entries(recordTable[type].schema.properties as Record<string, TSchema>).map(([name, schema]) => [
        name,
        valueIn(type, name, schema),
      ]),
    ),
  }));
  expect((await serving.store.importRecords([records])).clashes).toEqual([]);
  const given = { name: mark("givenname"), room: mark("givenroom"), given_ms: now_ms - 3_600_000 };
  await serving.store.append([
    reading(sensor(0), "wirelesssensor_events", now_ms - 60_000, { event: 3 }),
    reading(sensor(0), "wirelesssensor_measures", now_ms - 60_000, {
      quantity: mark("quantity"),
      value: 1,
      unit: mark("unit"),
    }),
    reading(sensor(0), "wirelesssensor_measures", now_ms - 50_000, {
      quantity: "temperature",
      value: 21,
      unit: "°C",
    }),
    reading(pillbox, "pillbox_status", now_ms - 60_000, {
      devicestamp: 1_700_000_000,
      voltage: 3_100,
      powersource: "battery",
      eventcount: 12,
      batteryseconds: mark("batteryseconds"),
      firmwarerevsion: mark("firmware"),
      macaddress: mark("macaddress"),
      nextpanicstart: 1_700_000_100,
      nextpanicstop: 1_700_000_200,
    }),
  ]);
  const told = { model: mark("devicemodel"), firmware: mark("devicefirmware"), datecode: mark("datecode") };
  const facts = { description: "wall motion sensor", ...told };
  const states = [{ device: sensor(0), heard_ms: now_ms - 50_000, listener: "radio", facts }];
  await serving.store.append([], { states });
  const passes = line.flatMap((device, at) =>
    [2, 0].map((value, later) => event(device, now_ms - 30_000 + (at + later) * 1_000, value)),
  );
  const names = await append(serving.store, passes);
  walking.push({
    name: mark("line"),
    sensors: names.map((item, at) => ({ item, metres: at * 0.75 })),
  });
  await serving.store.nameItem({ address: sensor(0).address, ...given });
  marks.push(...line.map(({ address }) => address.replaceAll(":", "")), serving.store.epoch);
  codes.push(serving.store.epoch);
  directory = await mkdtemp(join(tmpdir(), "lintel-identifiers-"));
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await site.remove();
  await rm(directory, { recursive: true, force: true });
});

function fetched(into: string, more: Partial<DownloadOptions>) {
  const { url } = serving.api;
  const token = serving.tokens.read;
  return download(downloadOptions({ url, token, directory: join(directory, into), ...more }));
}

/** Every byte of a package as text, and what Parquet compresses. */
async function textOf(into: string): Promise<string> {
  const texts: string[] = [];
  for (const name of await readdir(join(directory, into), { recursive: true })) {
    if (statSync(join(directory, into, name)).isDirectory()) continue;
    const file = Bun.file(join(directory, into, name));
    texts.push(name, Buffer.from(await file.bytes()).toString("latin1"), await file.text());
    if (name.endsWith(".parquet")) {
      const rows = await parquetReadObjects({ file: await file.arrayBuffer() });
      texts.push(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? Number(value) : value)));
    }
  }
  return texts.join("\n");
}

const key = (byte: number, level: "none" | "coded" = "none") =>
  new Pseudonyms(new Uint8Array(32).fill(byte), { year: 2026, level });

test.each(formatNames)("none of the marks is in any byte of a package without names: %s", async (format) => {
  for (const stamp of ["iso", "unix"] as const) {
    const into = `without-${format}-${stamp}`;
    const { files } = await fetched(into, { format, stamp, pseudonyms: key(1) });
    expect(Object.keys(files).length).toBeGreaterThan(30);
    expect(files["derived_walks"]?.rows).toBe(1);
    const text = await textOf(into);
    expect(marks.filter((one) => text.includes(one))).toEqual([]);
  }
});

test("a coded package has the programme's own numbers, and none of the other marks", async () => {
  await fetched("coded", { pseudonyms: key(1, "coded") });
  const text = await textOf("coded");
  expect(marks.filter((one) => text.includes(one)).toSorted()).toEqual([...new Set(codes)].toSorted());
});

test("packages of two recipients share no code", async () => {
  const [one, other] = ["one", "two"].map(
    (name) => new Pseudonyms(recipientKey(new Uint8Array(32).fill(9), name), { year: 2026 }),
  );
  await fetched("recipient-one", { pseudonyms: one, standard: "fhir" });
  await fetched("recipient-two", { pseudonyms: other, standard: "fhir" });
  const codesOf = async (into: string) =>
    new Set((await textOf(into)).match(/\b(\d{9,}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f-]{36})\b/g));
  const [first, second] = [await codesOf("recipient-one"), await codesOf("recipient-two")];
  expect(first.size).toBeGreaterThan(20);
  expect([...first.intersection(second)]).toEqual([]);
});

test("nor has a package straight from the store any of them, whose name its epoch would tell", async () => {
  const keyFile = join(directory, "key");
  writeFileSync(keyFile, "5a".repeat(32), { mode: 0o600 });
  const words = ["--data", serving.directory, "--key", keyFile, "--output", join(directory, "exported")];
  const { code, said } = await site.lintel("export", ...words);
  expect({ code, said: code === 0 ? "" : said }).toEqual({ code: 0, said: "" });
  const text = await textOf("exported");
  expect(text).toContain("the store with epoch ");
  expect(marks.filter((one) => text.includes(one))).toEqual([]);
});

test("an age is counted by years of the calendar, up to 90 and not beyond death", () => {
  const table = tableNamed("subjects").columns;
  const [born, died] = ["dob", "dod"].map((field) => table.findIndex(({ name }) => name === field));
  const age = table.findIndex(({ identifies }) => identifies === "birth");
  const at = key(1)
    .columns(table)
    .findIndex(({ name }) => name === "age");
  expect(age).toBe(born ?? -1);
  const ageOf = (from: number | null, to: number | null = null) => {
    const row = table.map((_, column) => (column === born ? from : column === died ? to : null));
    return key(1).rows(table)(row)[at];
  };
  const [december, january] = [Date.UTC(1950, 11, 31), Date.UTC(1950, 0, 1)];
  expect([ageOf(december), ageOf(january)]).toEqual([76, 76]);
  expect([ageOf(born_s * 1000), ageOf(born_s * 1000, Date.UTC(2011, 5, 1)), ageOf(null)]).toEqual([
    90,
    80,
    null,
  ]);
});

test("without names it still tells where a sensor is, how old somebody is, and who had a device when", async () => {
  await fetched("told", { pseudonyms: key(1) });
  const read = async (name: string): Promise<Record<string, unknown>[]> =>
    (await Bun.file(join(directory, "told", `${name}.ndjson`)).text())
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const places = await read("places");
  const inLine = places.filter(({ line }) => line !== null);
  expect(inLine.map(({ order, metres }) => [order, metres]).toSorted()).toEqual([
    [1, 0],
    [2, 0.75],
    [3, 1.5],
  ]);
  const [visit] = await read("derived/room_visits");
  expect(places.map(({ room }) => room)).toContain(visit?.["room"]);
  expect(await read("subjects")).toMatchObject([{ age: 90, genderid: true }]);
  expect(await read("subject_inventory")).toMatchObject([
    { start: "2026-01-31 08:00:00", stop: null, typename: "wirelesssensors" },
  ]);
  const items = await read("items");
  const [held] = await read("subject_inventory");
  expect(items.map(({ itemid }) => itemid)).toContain(held?.["itemid"]);
});

test.each(standardNames)("nor in the words of a standard: %s", async (standard) => {
  await fetched(standard, { standard, pseudonyms: key(1) });
  const text = await textOf(standard);
  expect(text).toContain("ro-crate-metadata.json");
  expect(marks.filter((one) => text.includes(one))).toEqual([]);
});

test("all of them are there where identifiers were asked for, so that they would have been found", async () => {
  await fetched("with", {});
  await fetched("with-unix", { stamp: "unix" });
  const text = (await textOf("with")) + (await textOf("with-unix"));
  const absent = marks.filter((one) => !text.includes(one));
  // A home inventory is served with the item itself, whose name is that of the inventory.
  expect(absent.filter((one) => !/homeinventory|givenname/.test(one))).toEqual([]);
  expect(marks.length).toBeGreaterThan(80);
});

test("the codebook says what was left out, and homes, subjects and items have the same numbers for ever", async () => {
  await fetched("first", { pseudonyms: key(1) });
  await fetched("second", { pseudonyms: key(1) });
  await fetched("other", { pseudonyms: key(2) });
  const read = async (into: string, name: string) => Bun.file(join(directory, into, name)).text();
  const codebook = await read("first", "codebook.md");
  expect(codebook).toContain("## Left out");
  for (const field of ["dob", "macaddress", "comment", "alertmessage", "address", "email", "phone"])
    expect(codebook).toContain(`| \`${field}\` |`);
  for (const name of ["subjects.ndjson", "homes.ndjson", "items.ndjson", "wirelesssensor_events.ndjson"]) {
    expect(await read("second", name)).toBe(await read("first", name));
    expect(await read("other", name)).not.toBe(await read("first", name));
  }
  const numberOf = async (name: string, field: string) =>
    JSON.parse((await read("first", name)).split("\n")[0] ?? "")[field];
  expect(await numberOf("comments.ndjson", "subjectid")).toBe(await numberOf("subjects.ndjson", "subjectid"));
  expect(await numberOf("items.ndjson", "itemname")).toMatch(/^[a-z]+-[0-9]+$/);
  expect(await numberOf("wirelesssensor_measures.ndjson", "quantity")).toMatch(/^quantity-[0-9]+$/);
});

test("identifiers are for administrators: another token is refused in one line", async () => {
  const asked = { byWhom: "admin" } as const;
  await expect(fetched("refused", asked)).rejects.toThrow("--identifiers full takes an admin token");
  await fetched("admin", { ...asked, token: serving.tokens.admin });
});

test("a device stays described as its driver's tables have it; the inventory's words for it are left out", async () => {
  await fetched("described", { pseudonyms: key(1) });
  const text = await Bun.file(join(directory, "described", "devices.ndjson")).text();
  const devices = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const device = devices.find(({ description }) => description === "wall motion sensor");
  expect(device).toMatchObject({ driver: "radio" });
  expect(Object.keys(device)).not.toContain("model");
  expect(Object.keys(device)).not.toContain("vendor");
});
