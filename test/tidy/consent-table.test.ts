import { expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../testbed/source-files.ts";
import { faultOfTest } from "./test-titles.ts";

const text = await Bun.file(join(root, "docs/consent.md")).text();

/** Tests that a cell names: `file`: "title". */
const namedTest = /`(test\/[\w./-]+\.ts)`: "([^"]+)"/g;

test("each test that docs/consent.md names is there, by its file and its title", async () => {
  const named = [...text.matchAll(namedTest)];
  const faults = await Promise.all(named.map(([, file = "", title = ""]) => faultOfTest(file, title)));
  expect(faults.filter((fault) => fault !== undefined)).toEqual([]);
  expect(text.replace(namedTest, "").match(/`test\/[^`]*`/g) ?? []).toEqual([]);
});

test("each claim of docs/consent.md names a test", () => {
  const [, section = ""] = text.split("## Which test shows it");
  const rows = [...section.matchAll(/^\|([^|]+)\|(.*)\|$/gm)].slice(2);
  expect(rows.length).toBeGreaterThan(20);
  expect(rows.filter(([, , proof = ""]) => proof.match(namedTest) === null)).toEqual([]);
});
