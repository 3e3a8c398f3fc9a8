/**
 * Writes the documents as a site of files, with a search, for any web server.
 *
 *   ./scripts/docs-site DIR [--base /lintel]
 */
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { pageOf } from "../src/web/api/contract/contract-page.ts";
import { contractOf } from "../src/web/api/contract/openapi.ts";
import { endpoints } from "../src/web/api/endpoints.ts";
import { newestVersion, versionsOf } from "../src/web/api/versions.ts";
import { DocumentPages } from "../src/web/docs/document-page.ts";
import { documentsHere } from "../src/web/docs/documents.ts";

const { values, positionals } = parseArgs({ allowPositionals: true, options: { base: { type: "string" } } });
const [directory, ...others] = positionals;
const base = values.base ?? "";
if (directory === undefined || others.length > 0 || !/^(\/[\w.-]+)*$/.test(base)) {
  console.error("./scripts/docs-site DIR [--base PATH]   PATH as in https://example.org/PATH: /lintel");
  process.exit(2);
}
const documents = documentsHere();
if (documents === undefined) throw new Error("the documents are not beside the source");

const reference = `/v${newestVersion}/docs`;
const pages = new DocumentPages(documents, { base, reference, script: `${base}/docs/search.js` });
for (const file of documents.files.values()) write(`docs/${file.name}/index.html`, pages.page(file));
write("docs/sections.json", JSON.stringify(pages.sections()));
for (const name of documents.pictures) {
  mkdirSync(join(directory, "docs/pictures"), { recursive: true });
  copyFileSync(documents.pathOfPicture(name), join(directory, "docs/pictures", name));
}
for (const [version, of] of versionsOf(endpoints)) {
  const page = pageOf(contractOf(version, of), "https://lintel.example");
  write(`v${version}/docs/index.html`, page.replaceAll('href="/v', `href="${base}/v`));
  write(`v${version}/openapi.json`, JSON.stringify(contractOf(version, of)));
}
write(
  "index.html",
  `<!doctype html><title>Lintel</title><meta http-equiv="refresh" content="0; url=${base}/docs/">`,
);
const built = await Bun.build({
  entrypoints: [join(import.meta.dir, "../src/web/docs/search-in-browser.ts")],
  target: "browser",
  minify: true,
});
write("docs/search.js", (await built.outputs[0]?.text()) ?? "");
console.log(
  `${readdirSync(directory, { recursive: true }).length} files and folders in ${directory}: copy them to ${base || "/"} of a web server`,
);

function write(path: string, text: string): void {
  const to = join(directory as string, path);
  mkdirSync(dirname(to), { recursive: true });
  writeFileSync(to, text);
}
