import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tablesIn } from "../../src/export/tables.ts";
import { ExportedPackages } from "./exported.ts";

/** Packages of each kind: whole ones, cut ones, and those with a standard beside. */
const words: Readonly<Record<string, readonly string[]>> = {
  whole: [],
  "with names": ["--identifiers"],
  "Parquet by the home's time": ["--format", "parquet", "--timezone", "home"],
  "weights alone": ["--series", "scale_weights"],
  fhir: ["--format", "fhir"],
  ieee1752: ["--format", "ieee1752"],
};
const exported = new ExportedPackages();
beforeAll(async () => {
  await exported.fill();
  for (const [name, of] of Object.entries(words)) await exported.export(name, of);
});
afterAll(() => exported.remove());

const tables = tablesIn("home").map(({ name }) => name);

test.each(Object.keys(words))("whatever a file of a package names is in it: %s", (name) => {
  const root = exported.directory(name);
  const texts = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((path) =>
    /\.(md|json)$/.test(path),
  );
  const { resources } = JSON.parse(readFileSync(join(root, "datapackage.json"), "utf8"));
  const written = (resources as { name: string }[]).map((one) => one.name);
  const lost = texts.flatMap((path) => {
    const text = readFileSync(join(root, path), "utf8");
    const isThere = (file: string) =>
      [root, dirname(join(root, path))].some((at) => existsSync(join(at, file)));
    const isHeading = (anchor: string) => headingsIn(text).includes(anchor.slice(1));
    return [
      ...filesIn(text).filter((file) => !isThere(file)),
      ...linksIn(text).filter((link) => (link.startsWith("#") ? !isHeading(link) : !isThere(link))),
      ...tables.filter((table) => text.includes(`\`${table}\``) && !written.includes(table)),
    ].map((reference) => `${path}: ${reference}`);
  });
  expect(texts.length).toBeGreaterThan(3);
  expect(lost).toEqual([]);
});

/** A text without what only looks like the name of a file: addresses, media types, and a function of R. */
const withoutAddresses = (text: string) =>
  text.replaceAll(/https?:\/\/[^\s)"'>]+|"application\/[^"]*"|\bread\.csv\b/g, "");

/** Names of files, and documents of the project, which no package has. */
function filesIn(text: string): string[] {
  const names = /[\w./-]+\.(?:md|json|csv|ndjson|parquet|toml)\b|\bdocs\/[\w./-]+/g;
  return [...withoutAddresses(text).matchAll(names)].map(([name]) => name);
}

function linksIn(text: string): string[] {
  return [...withoutAddresses(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = ""]) => link);
}

/** Anchors of headings, as viewers of Markdown make them. */
function headingsIn(text: string): string[] {
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w -]/g, "")
      .replaceAll(" ", "-"),
  );
}
