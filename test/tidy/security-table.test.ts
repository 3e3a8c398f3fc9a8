import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { in_flight_max, packet_max_bytes } from "../../drivers/mqtt/connection.ts";
import { entries_max } from "../../drivers/mqtt/hub.ts";
import { sensors_max } from "../../drivers/mqtt/sensors.ts";
import { secret_bytes } from "../../src/domain/token.ts";
import { button_seconds, joining_seconds_max } from "../../src/gateway/joining/joining.ts";
import { page_joining_seconds } from "../../src/gateway/joining/setup-visit.ts";
import { defaultBounds } from "../../src/web/server/http-server.ts";
import { root, sourceFiles } from "../../testbed/source-files.ts";
import { callsWith, faultOfTest, isRun } from "./test-titles.ts";

const text = await Bun.file(join(root, "SECURITY.md")).text();

/** The rows of the table below a heading: their cells. */
function rowsBelow(heading: string): string[][] {
  const [, section = ""] = text.split(new RegExp(`^## ${heading}.*$`, "m"));
  return [...(section.split(/^## /m)[0] ?? "").matchAll(/^\|(.*)\|$/gm)]
    .map(([, cells = ""]) => cells.split("|").map((cell) => cell.trim()))
    .filter(([first]) => !/^(provision|risk|-+)$/.test(first ?? ""));
}

const etsi = rowsBelow("ETSI EN 303 645");
const owasp = rowsBelow("OWASP API Security");

test("every row of SECURITY.md names tests that exist, or says why there is none", () => {
  const faults: string[] = [];
  for (const row of [...etsi, ...owasp]) {
    const [name = "", , proof = ""] = row;
    const files = [...proof.matchAll(/`(test\/[\w./-]+)`/g)].map(([, file = ""]) => file);
    if (row.length !== 3) faults.push(`${name} has ${row.length} cells`);
    if (files.length === 0 && !/^not (met|applicable): \S/.test(proof)) faults.push(`${name} names no test`);
    for (const file of files)
      if (!/\.test\.ts$/.test(file) || !existsSync(join(root, file))) faults.push(`${name} names ${file}`);
  }
  expect(faults).toEqual([]);
});

/** Rows of the section on attackers: `[number, what they cannot, proof]`. */
const attempts = rowsBelow("Who attacks").filter(([number = ""]) => /^[A-Z]+\d+$/.test(number));
/** A test in the column of proofs: a link to its file, and its title. */
const namedTest = /\[`(test\/[\w./-]+\.test\.ts)`\]\(\1\): "([^"]+)"/g;

/** Faults of a row: what is no test, is not there, or is skipped. */
async function faultsOfAttempt(row: readonly string[]): Promise<string[]> {
  const [number = "", what = "", proof = ""] = row;
  const tests = [...proof.matchAll(namedTest)];
  if (row.length !== 3 || what === "") return [`${number} has ${row.length} cells, or does not say what`];
  if (tests.length === 0) return [`${number} names no test`];
  const rest = proof.replace(namedTest, "").replaceAll("; ", "");
  const faults = rest === "" ? [] : [`${number} has besides its tests: ${rest}`];
  for (const [, file = "", title = ""] of tests) {
    const fault = await faultOfTest(file, title);
    if (fault !== undefined) faults.push(`${number} names ${fault}`);
  }
  return faults;
}

test("each thing that SECURITY.md says an attacker cannot do names a test that tries it", async () => {
  expect((await Promise.all(attempts.map(faultsOfAttempt))).flat()).toEqual([]);
  const numbers = attempts.map(([number]) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  // Each kind of attacker has attempts, in order.
  const [, section = ""] = text.split("## Who attacks");
  const [attackers = ""] = section.split(/^## /m);
  for (const one of attackers.split(/^### /m).slice(1)) {
    const own = [...one.matchAll(/^\| ([A-Z]+)(\d+) \|/gm)].map(([, letter, number]) => `${letter}${number}`);
    const letter = own[0]?.[0];
    const isOpen = one.startsWith("Nobody keeps these out");
    expect([one.split("\n")[0], own.length > 0]).toEqual([one.split("\n")[0], !isOpen]);
    expect(own).toEqual(own.map((_, index) => `${letter}${index + 1}`));
  }
});

test.each([
  ["names no test", ["X1", "fly", ""]],
  ["names no test", ["X1", "fly", "`test/tidy/security-table.test.ts`"]],
  ["which is not there", ["X1", "fly", '[`test/none.test.ts`](test/none.test.ts): "a"']],
  ["names no test of", ["X1", "fly", proofOf("no secret stands in the sauce")]],
  ["besides its tests", ["X1", "fly", `${proofOf("no secret stands in the source")} and hope`]],
  ["X1 has 2 cells", ["X1", "fly"]],
])("a fault is found: %s", async (fault, row) => {
  expect((await faultsOfAttempt(row)).join()).toContain(fault);
  expect(await faultsOfAttempt(["X1", "fly", proofOf("no secret stands in the source")])).toEqual([]);
});

function proofOf(title: string): string {
  const file = "test/tidy/security-table.test.ts";
  return `[\`${file}\`](${file}): "${title}"`;
}

test.each([
  ['test("x", () => {})', true],
  ['  test.each([\n    ["a", 1],\n  ])("x", async () => {})', true],
  ['test.skipIf(none)(\n  "x",\n  () => {})', true],
  ['test.skip("x", () => {})', false],
  ['describe("x", () => {})', false],
  ['describe.each([\n  1,\n])(\n  "x", () => {})', false],
  ['// test("x", () => {})', false],
])("of %j it is known whether it tries anything", (source, tries) => {
  expect(callsWith("x", source).map(isRun)).toEqual([tries]);
});

/** Phrases of the page that have a number, made from the constant that is in force. */
const stated: readonly string[] = [
  `${page_joining_seconds / 60} minutes at most`,
  `after ${page_joining_seconds / 60} minutes from the page`,
  `joining for ${button_seconds / 60} minutes`,
  `after ${button_seconds / 60} minutes from the button`,
  `for ${joining_seconds_max} seconds at most`,
  `${defaultBounds.attempts_max} wrong tokens a minute`,
  `more than ${in_flight_max} messages`,
  `more than ${packet_max_bytes / 1024 ** 2} MiB`,
  `${entries_max.toLocaleString("en")} names of a hub or ${sensors_max.toLocaleString("en")} sensors`,
  `${secret_bytes * 8} random bits`,
];

test("the numbers of SECURITY.md are those of the source", () => {
  const flowing = text.replace(/\s+/g, " ");
  expect(stated.filter((phrase) => !flowing.includes(phrase))).toEqual([]);
  // Where promises and attackers stand, no number may be without its constant.
  const [, section = ""] = text.split("## What is promised");
  const [promises = ""] = section.split("## ETSI");
  const words = promises
    .replace(namedTest, "")
    .replace("Zigbee 3.0", "")
    .replace(/^\| [A-Z]+\d+ \||^\d\. |`[^`]*`|\]\([^)]*\)/gm, "")
    .replace(/\s+/g, " ");
  const rest = stated.reduce((left, phrase) => left.replaceAll(phrase, ""), words);
  expect(rest.match(/\b\d[\d.,]*(?= \w+)/g) ?? []).toEqual([]);
});

/** Provisions of the standard's Annex B: how many each clause has, those with letters besides. */
const provisions: readonly [clause: string, last: number, lettered: readonly string[]][] = [
  ["5.0", 1, []],
  ["5.1", 5, ["2A"]],
  ["5.2", 3, []],
  ["5.3", 16, ["4A", "4B", "6A", "6B", "15A", "15B"]],
  ["5.4", 4, []],
  ["5.5", 8, []],
  ["5.6", 9, ["4A", "4B"]],
  ["5.7", 2, []],
  ["5.8", 3, []],
  ["5.9", 3, []],
  ["5.10", 1, []],
  ["5.11", 4, []],
  ["5.12", 3, []],
  ["5.13", 1, ["1A", "1B"]],
  ["6", 8, ["3A", "3B"]],
];

test("the table has every provision of ETSI EN 303 645, and every risk of OWASP's ten, in order", () => {
  const named = etsi.flatMap(([cell = ""]) => numbersIn(cell));
  const missing = provisions.flatMap(([clause, last, lettered]) =>
    Array.from({ length: last }, (_, at) => at + 1)
      .flatMap((number) => {
        const letters = lettered.filter((one) => Number.parseInt(one, 10) === number);
        // 5.1-2 has one with a letter beside it; elsewhere letters stand in the number's place.
        return letters.length === 0 || clause === "5.1" ? [String(number), ...letters] : letters;
      })
      .map((number) => `${clause}-${number}`)
      .filter((number) => !named.includes(number)),
  );
  expect(missing).toEqual([]);
  expect(owasp.map(([cell = ""]) => /^API\d+/.exec(cell)?.[0])).toEqual(
    Array.from({ length: 10 }, (_, at) => `API${at + 1}`),
  );
});

test("SECURITY.md says how a fault is reported, and when one hears what", () => {
  const [, section = ""] = text.split("## Report a fault");
  expect(section).toContain("Report a vulnerability");
  expect(section).toMatch(/\| 7 days \|[^|]+\|\n\| 30 days \|[^|]+\|\n\| 90 days \|/);
});

test("no secret stands in the source", async () => {
  const secret =
    /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b[a-z2-9]{12}\.[A-Za-z0-9_-]{43}\b|\b(password|secret)\s*[:=]\s*"[^"]+"/;
  const found = (await sourceFiles())
    .filter(({ path }) => /^(src|drivers|scripts|clients)\//.test(path))
    .flatMap(({ path, text: source }) => {
      const match = secret.exec(source)?.[0];
      return match === undefined ? [] : [`${path}: ${match}`];
    });
  expect(found).toEqual([]);
});

test("a record whose names must have a form refuses every other name", async () => {
  // TypeBox checks names by their pattern only where no others may be: a backup could name ../../x.
  const open = (await sourceFiles())
    .filter(({ path }) => /^(src|drivers)\//.test(path))
    .flatMap(({ path, text: source }) =>
      [...source.matchAll(/\bType\.Record\((?!\s*Type\.String\(\),)/g)]
        .map(({ index, 0: call }) => argumentsOf(source, index + call.length))
        .filter(([, , options = ""]) => !/\bclosed\b|additionalProperties: false/.test(options))
        .map(([names]) => `${path}: Type.Record(${names?.trim()}`),
    );
  expect(open).toEqual([]);
});

/** The arguments of a call, by the index behind its bracket. */
function argumentsOf(source: string, from: number): string[] {
  const given = [""];
  let depth = 1;
  for (const letter of source.slice(from)) {
    if (/[([{]/.test(letter)) depth += 1;
    if (/[)\]}]/.test(letter)) depth -= 1;
    if (depth === 0) break;
    if (letter === "," && depth === 1) given.push("");
    else given.push((given.pop() ?? "") + letter);
  }
  return given;
}

/** The provisions that a cell begins with: `5.3-9, 5.3-10 …`, and `5.3-14 to 5.3-15B` for those between as well. */
function numbersIn(cell: string): string[] {
  const numbers = [...cell.matchAll(/\b\d(?:\.\d+)?-\d+[AB]?/g)].map(([number]) => number);
  return cell.startsWith("5.3-14 to 5.3-15B") ? ["5.3-14", "5.3-15A", "5.3-15B"] : numbers;
}
