import { expect, test } from "bun:test";
import { join } from "node:path";
import { needRules } from "../../../src/domain/fleet-home.ts";

test("docs/alerts.md has the table of needs as it is", async () => {
  const text = await Bun.file(join(import.meta.dir, "../../../docs/alerts.md")).text();
  const rows = Object.entries(needRules).map(([need, { title, level, duty, after_h, over_h }]) => {
    return `| ${title} | \`${need}\` | ${level} | ${duty} | ${after_h === 0 ? "at once" : `${after_h} h`} | ${over_h} h |`;
  });
  const [, table = ""] = text.split(
    "| need | name | level | duty | told after | over after |\n|---|---|---|---|---|---|\n",
  );
  expect(table.split("\n\n")[0]?.split("\n")).toEqual(rows);
});
