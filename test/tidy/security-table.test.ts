import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root, sourceFiles } from "./source.ts";

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

/** The provisions that a cell begins with: `5.3-9, 5.3-10 …`, and `5.3-14 to 5.3-15B` for those between as well. */
function numbersIn(cell: string): string[] {
  const numbers = [...cell.matchAll(/\b\d(?:\.\d+)?-\d+[AB]?/g)].map(([number]) => number);
  return cell.startsWith("5.3-14 to 5.3-15B") ? ["5.3-14", "5.3-15A", "5.3-15B"] : numbers;
}
