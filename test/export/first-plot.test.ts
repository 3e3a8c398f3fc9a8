import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { ExportedPackages } from "./exported.ts";

/** Packages whose README has other lines, and those lines run as they stand, on a machine that is far from Greenwich. */
const exported = new ExportedPackages();
const forms = ["csv", "csv home", "csv weights", "ndjson", "parquet", "parquet home"];
const words: Readonly<Record<string, readonly string[]>> = {
  home: ["--timezone", "home"],
  weights: ["--series", "scale_weights"],
};
const elsewhere = { TZ: "America/Los_Angeles" };
beforeAll(async () => {
  await exported.fill();
  for (const form of forms) {
    const [format = "", more = ""] = form.split(" ");
    await exported.export(form, ["--format", format, ...(words[more] ?? [])]);
  }
});
afterAll(() => exported.remove());

/** Readings of the sensor that was heard all the time: none on the third of its days, which stays in. In Los Angeles each would be of the day before. */
const counted = ["2026-11-02 2", "2026-11-03 4", "2026-11-04 0"];
const isOfSeries = (form: string) => form !== "csv weights";

function expectCounted(form: string, lines: readonly string[]): void {
  expect(lines.filter((line) => line !== "").toSorted()).toEqual(isOfSeries(form) ? counted : []);
}

/** The lines of a language in the README of a package. */
function linesOf(form: string, language: string): string {
  const readme = readFileSync(join(exported.directory(form), "README.md"), "utf8");
  return new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(readme)?.[1] ?? "";
}

function run(form: string, command: readonly string[]): string {
  const cwd = exported.directory(form);
  const ran = Bun.spawnSync([...command], { cwd, env: { ...process.env, ...elsewhere } });
  expect([ran.exitCode, ran.exitCode === 0 ? "" : ran.stderr.toString()]).toEqual([0, ""]);
  return ran.stdout.toString();
}

describe("the lines of README.md count the readings of each item and day", () => {
  test.each(forms)("DuckDB: %s", async (form) => {
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    await connection.run(
      `SET TimeZone = '${elsewhere.TZ}'; SET file_search_path = '${exported.directory(form)}'`,
    );
    const rows = (await connection.runAndReadAll(linesOf(form, "sql"))).getRowObjectsJson();
    connection.closeSync();
    instance.closeSync();
    expectCounted(
      form,
      rows.map((row) => `${row["day"]} ${row["readings"]}`),
    );
  });

  const rscript = Bun.which("Rscript") ?? "";
  const hasJson = rscript !== "" && Bun.spawnSync([rscript, "-e", "library(jsonlite)"]).success;
  // No package of Debian reads Parquet in R.
  test.skipIf(!hasJson).each(forms.filter((form) => !form.startsWith("parquet")))(
    "R (Debian: r-cran-jsonlite): %s",
    (form) => {
      const show = 'cat(if (nrow(known) > 0) paste(known$day, known$readings), sep = "\\n")';
      expectCounted(form, run(form, [rscript, "-e", `${linesOf(form, "r")}\n${show}`]).split("\n"));
    },
  );

  const pythons = [Bun.which("python3"), "/usr/bin/python3"].flatMap((path) => path ?? []);
  const pythonWith = (name: string) =>
    pythons.find((path) => Bun.spawnSync([path, "-c", `import pandas, ${name}`]).success);
  for (const [name, some] of [
    ["pandas", forms.filter((form) => !form.startsWith("parquet"))],
    ["pyarrow", forms.filter((form) => form.startsWith("parquet"))],
  ] as const) {
    const python = pythonWith(name);
    test.skipIf(!python).each(some)(`Python with ${name}, all but the drawing: %s`, (form) => {
      const lines = linesOf(form, "python").replace(/^if .*\.plot\(.*\n/m, "");
      expect(lines).not.toContain(".plot(");
      const show =
        'print("\\n".join(f"{str(day)[:10]} {count:.0f}" for day, count in zip(known["day"], known["readings"])))';
      expectCounted(form, run(form, [python ?? "", "-c", `${lines}\n${show}`]).split("\n"));
    });
  }
});
