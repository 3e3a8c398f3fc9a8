import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { formatNames } from "../../src/export/table-file.ts";
import { ExportedPackages } from "./exported.ts";

const exported = new ExportedPackages();
beforeAll(() => exported.write());
afterAll(() => exported.remove());

function fileNamed(name: string, format: string): string {
  return `${name.replace(/^derived_/, "derived/")}.${format}`;
}

test("every list and every series is in a package", () => {
  for (const format of formatNames)
    for (const { tables } of exported.of(format)) expect(tables.length).toBeGreaterThan(22);
});

describe("the datapackage package of npm", () => {
  test.each(formatNames)("finds no fault in the description: %s", async (format) => {
    const { Package } = await import("datapackage");
    for (const { directory } of exported.of(format)) {
      const described = await Package.load(join(directory, "datapackage.json"), { basePath: directory });
      expect([described.valid, described.errors.map(String)]).toEqual([true, []]);
      const files = readdirSync(directory, { recursive: true, encoding: "utf8" });
      expect(described.resourceNames.map((name) => fileNamed(name, format)).toSorted()).toEqual(
        files.filter((name) => name.endsWith(`.${format}`)).toSorted(),
      );
    }
  });

  test("reads every value of every file as the type that is told", async () => {
    const { Package } = await import("datapackage");
    for (const { directory } of exported.of("csv")) {
      const described = await Package.load(join(directory, "datapackage.json"), { basePath: directory });
      for (const resource of described.resources) {
        const rows = await resource.read({ keyed: true });
        expect([resource.name, rows.length]).toEqual([resource.name, Number(resource.descriptor["rows"])]);
      }
    }
  });
});

describe("the ro-crate package of npm", () => {
  test.each(formatNames)("finds no fault, and every file described: %s", async (format) => {
    const { Validator } = (await withoutNetwork(() => import("ro-crate"))) as unknown as {
      Validator: new () => CrateValidator;
    };
    for (const { directory } of exported.of(format)) {
      const validator = new Validator();
      validator.parseJSON(await Bun.file(join(directory, "ro-crate-metadata.json")).text());
      await withoutNetwork(() => validator.validate());
      const there = readdirSync(directory, { recursive: true, encoding: "utf8" });
      const files = there.filter((name) => !statSync(join(directory, name)).isDirectory());
      validator.checkFiles(
        Object.fromEntries(files.map((name) => [name, { exists: true, inCrate: false, isDir: false }])),
      );
      const faults = validator.results.filter(({ status }) => status === "error" || status === "warning");
      expect(faults).toEqual([]);
      expect(validator.results.length).toBeGreaterThan(6);
    }
  });
});

/** A class that the package's own types leave out. */
interface CrateValidator {
  readonly results: readonly { readonly status: string }[];
  parseJSON(text: string): void;
  validate(): Promise<void>;
  checkFiles(files: Record<string, { exists: boolean; inCrate: boolean; isDir: boolean }>): void;
}

/** The package fetches the context that a crate names; it gets the one that it brings along. */
async function withoutNetwork<Result>(work: () => Promise<Result>): Promise<Result> {
  const { fetch } = globalThis;
  const context = Bun.file(join(import.meta.dir, "../../node_modules/ro-crate/lib/context.json"));
  globalThis.fetch = Object.assign(async () => new Response(context), { preconnect: fetch.preconnect });
  try {
    return await work();
  } finally {
    globalThis.fetch = fetch;
  }
}
