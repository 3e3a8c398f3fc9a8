import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { Lintel } from "../../clients/typescript/client.ts";
import { kindNames } from "../../src/domain/kinds.ts";
import {
  definitionOf,
  ownerField,
  type RecordType,
  recordPaths,
  recordTable,
  recordTypes,
} from "../../src/domain/records/record-table.ts";
import { columnsOfSchema } from "../../src/export/columns.ts";
import { type Downloaded, download } from "../../src/export/download.ts";
import type { Format } from "../../src/export/table-file.ts";
import type { LoneType, OwnedType } from "../../src/store/inventory/record-store.ts";
import { endpoints } from "../../src/web/api/endpoints.ts";
import { fill } from "../../testbed/programme.ts";
import { type Serving, serve } from "../../testbed/serving.ts";
import { downloadOptions } from "./options.ts";

let serving: Serving;
let directory: string;

beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
  directory = await mkdtemp(join(tmpdir(), "lintel-lists-"));
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** Every record of a type that the store holds, owner after owner. */
async function held(type: RecordType): Promise<Record<string, unknown>[]> {
  const { store } = serving;
  if (type === "items") {
    const lists = await Promise.all(kindNames.map((kind) => store.items(kind, { skip: 0, limit: 1000 })));
    return lists.flat();
  }
  const { owner } = definitionOf(type);
  if (owner === undefined) return store.records(type as LoneType);
  const owners: Record<string, unknown>[] = await store.records(owner);
  const lists = owners.map(async (record) => {
    const id = Number(record[ownerField[owner]]);
    // A home's inventory is more than the records kept of it: the interface adds what items say of themselves.
    if (type === "home_inventory")
      return (await serving.ask(`/homes/${id}/inventory/`)).json() as Promise<Record<string, unknown>[]>;
    const records = await store.recordsOf(type as OwnedType, id);
    // The interface has the newest note first.
    return type === "notes" ? records.reverse() : records;
  });
  return (await Promise.all(lists)).flat();
}

/** With the members of a record within it put in its place, as a file has them. */
function flat(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, value]) =>
      typeof value === "object" && value !== null
        ? Object.entries(value).map(([inner, cell]) => [`${name}_${inner}`, cell])
        : [[name, value]],
    ),
  );
}

function mapped(
  record: Record<string, unknown>,
  map: (name: string, value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(name, value)]));
}

/** A value as files have it: where the interface has the word `null` for no value, they have none. */
function valueInFile(name: string, value: unknown): unknown {
  return value === "null" && /(^|_)(subtypename|lastbatterychange)$/.test(name) ? null : value;
}

/** Fields that are times, by the names that files have for them. */
function momentsOf(type: RecordType): ReadonlySet<string> {
  const columns = columnsOfSchema(recordTable[type].schema);
  return new Set(columns.flatMap(({ name, type }) => (type === "moment" ? [name] : [])));
}

function dateOf(unix_s: unknown): Date | undefined {
  return typeof unix_s === "number" ? new Date(unix_s * 1000) : undefined;
}

function fetched(format: Format, from = { serving, directory }): Promise<Downloaded> {
  const { api, tokens } = from.serving;
  return download(downloadOptions({ url: api.url, token: tokens.read, directory: from.directory, format }));
}

test("every list of records is where the download looks for it", () => {
  const templates = endpoints.map(({ template }) => template);
  expect(Object.values(recordPaths).filter((path) => !templates.includes(path))).toEqual([]);
});

test("a download has every record of every list, with the fields and values of the interface", async () => {
  const { files, absent } = await fetched("ndjson");
  expect(absent).toEqual([]);
  for (const type of recordTypes) {
    const text = await Bun.file(join(directory, `${type}.ndjson`)).text();
    const lines = text.split("\n").slice(0, -1);
    const moments = momentsOf(type);
    const expected = (await held(type)).map((record) =>
      mapped(
        flat(record),
        (name, value) =>
          (moments.has(name) ? dateOf(value)?.toISOString() : valueInFile(name, value)) ?? null,
      ),
    );
    expect(expected.length).toBeGreaterThan(0);
    expect(lines.map((line) => JSON.parse(line))).toEqual(expected);
    expect(files[type]?.rows).toBe(expected.length);
  }
});

test("a list without records is a file without rows, also where nobody could have any", async () => {
  await using empty = await serve();
  const other = join(directory, "empty");
  const { files, absent } = await fetched("csv", { serving: empty, directory: other });
  expect(absent).toEqual([]);
  for (const type of recordTypes) {
    expect(files[type]?.rows).toBe(0);
    const names = columnsOfSchema(recordTable[type].schema).map(({ name }) => name);
    expect(await Bun.file(join(other, `${type}.csv`)).text()).toBe(`${names.join(",")}\r\n`);
  }
});

test("no cell of CSV has the word null: what is not there is empty", async () => {
  await fetched("csv");
  for (const type of recordTypes) {
    const text = await Bun.file(join(directory, `${type}.csv`)).text();
    expect([type, /(^|,)"?null"?(,|\r)/m.test(text)]).toEqual([type, false]);
  }
  const words = (await held("items")).flatMap(({ subtypename }) => (subtypename === "null" ? [1] : []));
  expect(words.length).toBeGreaterThan(0);
});

test("records come back from Parquet with their types", async () => {
  await fetched("parquet");
  for (const type of recordTypes) {
    const file = await Bun.file(join(directory, `${type}.parquet`)).arrayBuffer();
    const read = await parquetReadObjects({ file });
    const moments = momentsOf(type);
    const integers = new Set(
      columnsOfSchema(recordTable[type].schema).flatMap((column) =>
        column.type === "integer" ? [column.name] : [],
      ),
    );
    expect(read).toEqual(
      (await held(type)).map((record) =>
        mapped(flat(record), (name, value) => {
          if (moments.has(name)) return dateOf(value) ?? null;
          return integers.has(name) && typeof value === "number" ? BigInt(value) : valueInFile(name, value);
        }),
      ),
    );
  }
});

test("the TypeScript client lists every record", async () => {
  const lintel = new Lintel({ url: serving.api.url, token: serving.tokens.read });
  for (const name of ["homes", "subjects", "projects", "studies", "issues"] as const)
    expect(await Array.fromAsync(lintel.records(name))).toEqual(await serving.store.records(name));
  for (const type of recordTypes) {
    if (!("owner" in recordTable[type]) || recordTable[type].owner !== "subjects") continue;
    const owned = type as Parameters<typeof lintel.recordsOf>[0];
    const walked: unknown[] = await Array.fromAsync(lintel.recordsOf(owned, 1));
    expect(walked).toEqual(await serving.store.recordsOf(owned, 1));
    expect(walked.length).toBe(2);
  }
  expect((await Array.fromAsync(lintel.recordsOf("home_inventory", 12))).length).toBeGreaterThan(0);
});
