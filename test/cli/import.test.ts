import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { keptLog } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { testAtNight } from "../at-night.ts";
import { event, sensor } from "../export/filled.ts";

let site: Site;
beforeEach(() => {
  site = new Site();
});
afterEach(() => site.remove());

function write(name: string, content: string): string {
  const path = join(site.directory, name);
  writeFileSync(path, content);
  return path;
}

const header = "itemid,itemname,typename,macaddress,serialnum";

function row(
  itemid: number,
  changes: { itemid?: string; itemname?: string; typename?: string } = {},
): string {
  const hex = itemid.toString(16).padStart(12, "0");
  const { itemname = `sensor-${itemid}`, typename = "wirelesssensors" } = changes;
  return `${changes.itemid ?? itemid},${itemname},${typename},${hex},"SN ${itemid}"`;
}

function itemsCsv(count: number, faulty: ReadonlyMap<number, string> = new Map()): string {
  const rows = Array.from({ length: count }, (_, index) => faulty.get(index + 1) ?? row(index + 1));
  return write("items.csv", `${[header, ...rows].join("\n")}\n`);
}

function itemCount(): number {
  const database = new Database(join(site.data, "lintel.db"), { readonly: true });
  try {
    expect(database.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    return Number(database.query("SELECT count(*) FROM items").values()[0]?.[0]);
  } finally {
    database.close();
  }
}

test("of 200,000 items with three faulty lines it names all three and changes nothing", async () => {
  const file = itemsCsv(
    200_000,
    new Map([
      [7, row(7, { typename: "wirelessensors" })],
      [123_456, row(123_456, { itemid: "123456x" })],
      [199_999, row(199_999, { itemname: "sensor-42" })],
    ]),
  );
  const { code, out, said } = await site.lintel("import", file, "--new", "--data", site.data);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(said.replaceAll(file, "items.csv").split("\n")).toEqual([
    'items.csv:8: items typename: "wirelessensors" is given, "pillboxes" or "wirelesssensors" or "scales" or "watches" or "gateways" expected',
    'items.csv:123457: items itemid: "123456x" is given, a whole number expected',
    'items.csv:200000: items itemname: "sensor-42" is given, a name of its own (it is that of items.csv:43) expected',
    "lintel: 3 faults: nothing was imported, correct the lines and import again",
    "",
  ]);
  expect(existsSync(site.data)).toBe(false);
});

test("it says what it added, updated and left, as a table and as JSON; a dry run says so beforehand", async () => {
  const file = itemsCsv(3);
  const dry = await site.lintel("import", file, "--new", "--data", site.data, "--dry-run");
  expect(dry.code).toBe(0);
  expect(dry.out).toMatch(/^record +added +updated +unchanged\nitems +3 +0 +0$/);
  expect(dry.said).toContain("nothing has changed");
  expect(existsSync(site.data)).toBe(false);
  expect((await site.lintel("import", file, "--new", "--data", site.data)).out).toBe(dry.out);
  itemsCsv(4, new Map([[1, row(1, { itemname: "renamed" })]]));
  const again = await site.lintel("import", file, "--new", "--data", site.data, "--json");
  expect(JSON.parse(again.out)).toEqual({
    dry_run: false,
    changes: { items: { added: 1, updated: 1, unchanged: 2, adopted: 0 } },
    recording_ends: [],
  });
});

test("faults come as JSON too, and no more than a hundred are printed", async () => {
  const file = write("homes.csv", `homeid\n${"x\n".repeat(150)}`);
  const { code, out, said } = await site.lintel("import", file, "--new", "--data", site.data, "--json");
  expect(code).toBe(2);
  const { fault_count, faults } = JSON.parse(out);
  expect(fault_count).toBe(150);
  expect(faults[0]).toEqual({
    file,
    line: 2,
    record: "homes",
    field: "homeid",
    given: '"x"',
    expected: "a whole number",
  });
  const lines = said.trimEnd().split("\n");
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toBe(
    "lintel: 150 faults, 50 of them not shown: nothing was imported, correct the lines and import again",
  );
});

test("a file that isn't there is one line and exit 2", async () => {
  // Its name alone would be a fault too: that it is not there comes first.
  for (const name of ["items.csv", "missing.csv"]) {
    const { code, said } = await site.lintel("import", name, "--new", "--data", site.data);
    expect({ code, said }).toEqual({ code: 2, said: `lintel: can't read ${name}: there is no such file\n` });
  }
});

testAtNight(
  "killed while it writes, it leaves none of the records or all, and the next import all",
  async () => {
    const count = 50_000;
    expect((await site.lintel("token", "create", "x", "--new", "--data", site.data)).code).toBe(0);
    const file = itemsCsv(count);
    const log = join(site.data, "lintel.db-wal");
    const importing = site.spawn(["import", file, "--new", "--data", site.data]);
    // The log grows when the transaction spills, well before it is committed.
    const spilled = () => (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 1_000_000 || undefined;
    await eventually(spilled, "the import writes", { tries_max: 20_000, pause_ms: 1 });
    importing.kill("SIGKILL");
    expect(await importing.exited).not.toBe(0);
    // On a machine that is busy enough the kill may come after the commit; in no case between.
    expect([0, count]).toContain(itemCount());
    expect((await site.lintel("import", file, "--new", "--data", site.data)).code).toBe(0);
    expect(itemCount()).toBe(count);
  },
);

test("of a package it takes back the files with identifiers alone, and says so of the others", async () => {
  const store = ["--data", site.data];
  expect((await site.lintel("import", ...store, "--new", itemsCsv(3))).code).toBe(0);
  const clock = new SystemClock();
  const { log } = keptLog();
  const gateway = await openGatewayStore({ directory: site.data, clock, log, home: 12, ...writerOfTests() });
  await gateway.append([event(sensor(0), Date.UTC(2026, 10, 1), 1)]);
  await gateway.close();
  expect((await site.lintel("export", ...store, "--output", "without")).code).toBe(0);
  expect((await site.lintel("export", ...store, "--output", "with", "--identifiers")).code).toBe(0);
  const refused = await site.lintel("import", ...store, "without/items.csv");
  expect([refused.code, refused.out]).toEqual([2, ""]);
  expect(refused.said).toContain("without is a package without identifiers");
  expect(itemCount()).toBe(4);
  expect(await site.lintel("import", ...store, "with/items.csv")).toMatchObject({
    code: 0,
    out: expect.stringMatching(/items +1 +0 +3/),
  });
});
