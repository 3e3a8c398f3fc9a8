import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import pc from "picocolors";
import { fold, table } from "../../src/cli/terminal-text.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";
import { makeMonth } from "../demo/month.ts";

const plain = pc.createColors(false);
/** As long as an item's name may well be. */
const long = "bedroom-of-the-second-floor-beside-the-window-to-the-garden1";

/** A demo's data, made once, with an item of a long name in it. */
const site = new Site({ commands: lintelHere });
beforeAll(() => makeMonth(site.data));
afterAll(() => site.remove());

async function addLongName(): Promise<void> {
  const file = join(site.directory, "items.json");
  const items = [{ itemid: 900, itemname: long, typename: "wirelesssensors", subtypename: "wall" }];
  writeFileSync(file, JSON.stringify({ items }));
  const { code, said } = await site.lintel("import", file, "--data", site.data);
  expect([code, said]).toMatchObject([0, expect.any(String)]);
}

/** A command's output on a terminal of so many columns, without colours. */
function shown(columns: number, ...words: string[]): string[] {
  const command = [...site.program, ...words].map((word) => `'${word}'`).join(" ");
  const run = Bun.spawnSync(
    ["script", "--quiet", "--return", "--command", `stty cols ${columns} rows 50; ${command}`, "/dev/null"],
    { env: { PATH: process.env["PATH"], HOME: site.home, TERM: "xterm" }, stdin: "ignore" },
  );
  expect(run.exitCode).toBe(0);
  return Bun.stripANSI(run.stdout.toString()).replaceAll("\r", "").trimEnd().split("\n");
}

const widest = (lines: readonly string[]) => Math.max(...lines.map((line) => Bun.stringWidth(line)));

describe("on a terminal", () => {
  const commands = {
    items: ["items", "--data"],
    status: ["status", "--data"],
    report: ["report", "--data"],
  };
  for (const columns of [120, 80, 40, 24]) {
    test.each(Object.entries(commands))(`of ${columns} columns, no line of %s is longer`, (_, words) => {
      const lines = shown(columns, ...words, site.data);
      expect(lines.filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
      expect(lines.length).toBeGreaterThan(15);
    });
  }

  test("fleet does without its last columns", () => {
    const lines = shown(60, "fleet", "--all", "--data", join(site.data, "central"));
    expect(widest(lines)).toBeLessThanOrEqual(60);
    expect(lines.join("\n")).toContain("no room for");
  });

  test("of 40 columns, each item is a block, of which nothing is missing, and doses are marks", () => {
    const items = shown(40, "items", "--data", site.data).join("\n");
    expect(items).toMatch(/^kitchen-wall$\n^ {2}type +wirelesssensors$/m);
    expect(items).toMatch(/^ {2}readings +\d+$/m);
    const report = shown(40, "report", "--data", site.data);
    expect(report).toContain("              Su Mo Tu We Th Fr Sa");
    expect(report.join("\n")).toMatch(/^ {2}✓ \d+ taken/m);
  });

  test("a name of 60 characters costs columns at 80, and folds at 40", async () => {
    await addLongName();
    const wide = shown(80, "status", "--data", site.data);
    expect(widest(wide)).toBeLessThanOrEqual(80);
    expect(wide.some((line) => line.startsWith(long))).toBe(true);
    const narrow = shown(40, "items", "--data", site.data);
    expect(widest(narrow)).toBeLessThanOrEqual(40);
    const first = narrow.findIndex((line) => line !== "" && long.startsWith(line));
    expect(`${narrow[first]}${narrow[first + 1]?.trim()}`).toBe(long);
  });
});

test("in a pipe a table is as wide as it is", async () => {
  const { out } = await site.lintel("items", "--data", site.data);
  expect(out).toMatch(/^item +type +subtype +address +model +device +status +last event +readings$/m);
});

test("columns go in the order in which they can be done without, and a line says which", () => {
  const headings = ["item", "model", "state"];
  const rows = [
    ["a", "a long model", "fine"],
    ["b", undefined, "broken"],
  ];
  const least = ["model"];
  expect(table(headings, rows, plain, { width: 30, least })).toEqual([
    "item  model         state",
    "a     a long model  fine",
    "b     –             broken",
  ]);
  expect(table(headings, rows, plain, { width: 20, least }).slice(0, 3)).toEqual([
    "item  state",
    "a     fine",
    "b     broken",
  ]);
  const said = table(headings, rows, plain, { width: 20, least }).slice(3).join(" ").replace(/ +/g, " ");
  expect(said).toBe("(no room for model: a wider window or | less -S shows all)");
  expect(table(headings, rows, plain, { width: 20 })).toEqual([
    "a",
    ...["  model  a long", "    model"],
    "  state  fine",
    "b",
    "  state  broken",
  ]);
});

test("a line is folded between words, further in than it began", () => {
  expect(fold("  one two three four", 12)).toEqual(["  one two", "    three", "    four"]);
  expect(fold("one two", undefined)).toEqual(["one two"]);
});
