import { afterAll, beforeAll, expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { temporaryDirectory } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";

const place = temporaryDirectory();
afterAll(() => place[Symbol.dispose]());

/** Reports of homes, and the cells that they make in the table of homes. */
const homes: readonly { readonly told: object; readonly cells: Readonly<Record<string, string>> }[] = [
  { told: { now_ms: 90_000 }, cells: { "clock off": "+1 min 30 s" } },
  { told: { now_ms: -90_000 }, cells: { "clock off": "-1 min 30 s" } },
  { told: { now_ms: 0 }, cells: { "clock off": "0 s" } },
  { told: { now_ms: -400 }, cells: { "clock off": "0 s" } },
  { told: { last_seq: 7 }, cells: { backlog: "7" } },
  { told: { disk_free_bytes: 5e9 }, cells: { "disk free": "5.0 GB" } },
  {
    told: { machine: { written_a_day_bytes: 3e9, life_used_percent: 30, temperature_c: 51.6 } },
    cells: { "written a day": "3.0 GB", "life used": "30 %", "°C": "52" },
  },
  { told: { version: "2.0.0" }, cells: { version: "2.0.0" } },
  {
    told: { version: "2.0.0", update: { ring: 3, refusals: [], trying: "2.1.0" } },
    cells: { version: "2.0.0 (tries 2.1.0)", ring: "3" },
  },
];

let rows: Record<string, string>[];
beforeAll(async () => {
  const now_ms = Date.now();
  const store = await openCentral(place.path);
  for (const [index, { told }] of homes.entries()) {
    const home = index + 1;
    const gateway = new SimulatedGateway(home, `home ${home}`);
    const { now_ms: ahead_ms = 0, ...more } = told as { now_ms?: number };
    const report = gateway.report(undefined, { ...more, now_ms: now_ms - 2 * hour_ms + ahead_ms });
    await store.noteReport(report, { home, at_ms: now_ms - 2 * hour_ms });
  }
  await store.close();
  const { out } = await lintelHere(["fleet", "--all", "--data", place.path]);
  const [head = "", ...lines] = out.split("\n");
  const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map(({ index, 0: name }) => ({ index, name }));
  const cellsOf = (line: string) =>
    starts.map(({ index, name }, at) => [name, line.slice(index, starts[at + 1]?.index).trim()]);
  rows = lines.slice(0, homes.length).map((line) => Object.fromEntries(cellsOf(line)));
});

test.each(homes.map(({ told, cells }, at) => [JSON.stringify(told), cells, at] as const))(
  "of a report with %s the table of homes has %j",
  (_told, cells, at) => {
    expect(rows[at]).toMatchObject({ home: `${at + 1}`, ...cells });
  },
);

test("what a report does not tell has no value in the table", () => {
  const { home, "clock off": _clock, "last upload": upload, ...others } = rows[0] ?? {};
  expect([home, upload]).toEqual(["1", "never"]);
  const known = ["version", "backlog", "disk free"];
  for (const [name, cell] of Object.entries(others))
    if (!known.includes(name)) expect([name, cell]).toEqual([name, "–"]);
});
