import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../testbed/source-files.ts";

/** Promise, file and test of each row. */
const rows = [...(await Bun.file(join(root, "docs/interface.md")).text()).matchAll(/^\|(.*)\|$/gm)]
  .map(([, cells = ""]) => cells.split("|").map((cell) => cell.trim()))
  .filter(([promise]) => promise !== "promise" && !promise?.startsWith("---"));

test("every promise in docs/interface.md names a test that exists", async () => {
  const faults: string[] = [];
  for (const [, cell = "", name = ""] of rows) {
    const path = /^`(test\/[a-z0-9./-]+\.test\.ts)`$/.exec(cell)?.[1];
    if (path === undefined || !existsSync(join(root, path))) faults.push(`${cell} is no test file`);
    else {
      const text = await Bun.file(join(root, path)).text();
      const missing = name.split(" > ").filter((part) => !names(text, part));
      faults.push(...missing.map((part) => `${path} has no test ${part}`));
    }
  }
  expect(faults).toEqual([]);
});

test("docs/interface.md has no row that isn't three cells", () => {
  expect(rows.length).toBeGreaterThan(50);
  for (const row of rows) expect([row, row.length]).toEqual([row, 3]);
});

/** Whether a test or group of that name is in the source: as the first argument of a call. */
function names(source: string, name: string): boolean {
  const calls = source.replace(/\(\s+/g, "(");
  return ['"', "`"].some((quote) => calls.includes(`(${quote}${name}${quote},`));
}
