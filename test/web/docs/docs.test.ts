import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";
import { docsApp } from "../../../src/web/docs/docs-app.ts";
import { searchSections } from "../../../src/web/docs/document-search.ts";
import { documentsHere } from "../../../src/web/docs/documents.ts";
import { startServer } from "../../../src/web/server/http-server.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { root } from "../../../testbed/source-files.ts";
import { temporaryCentral } from "../../store/sqlite/temporary-central.ts";
import { faultsForAll } from "../pages/accessibility.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-docs-"));
afterAll(() => rmSync(directory, { recursive: true }));

test("every link of the site leads to a page, a heading or a picture of it", () => {
  const made = Bun.spawnSync([join(root, "scripts/docs-site"), directory, "--base", "/lintel"]);
  expect({ code: made.exitCode, said: made.stderr.toString() }).toEqual({ code: 0, said: "" });
  const files = new Set(readdirSync(directory, { recursive: true }).map(String));
  const pages = [...files].filter((path) => path.endsWith(".html"));
  const texts = new Map(pages.map((path) => [path, readFileSync(join(directory, path), "utf8")]));
  const faults: string[] = [];
  for (const [page, text] of texts)
    for (const [, href = ""] of text.matchAll(/(?:href|src|action)="([^"]*)"/g)) {
      if (/^(https:|#$)/.test(href)) continue;
      const [path = "", fragment] = href.split("#");
      const place = path === "" ? page : path.replace(/^\/lintel\//, "");
      const to = files.has(place) && !texts.has(`${place}/index.html`) ? place : `${place}/index.html`;
      const found = fragment === undefined ? files.has(to) : texts.get(to)?.includes(`id="${fragment}"`);
      if (found !== true) faults.push(`${page}: ${href}`);
    }
  expect(pages.length).toBeGreaterThan(80);
  expect(faults).toEqual([]);
});

test("each text has an address of its own", () => {
  const documents = documentsHere();
  const paths = ["*.md", "docs/**/*.md", "{src,drivers,clients}/**/*.md"].flatMap((pattern) => [
    ...new Bun.Glob(pattern).scanSync({ cwd: root }),
  ]);
  expect(documents?.files.size).toBe(paths.length);
});

async function serveDocs() {
  const central = await temporaryCentral();
  const clock = new SystemClock();
  const server = await startServer({
    store: central.store,
    clock,
    log: lineLog({ write: () => {}, clock }),
    listen: { hostname: "127.0.0.1", port: 0 },
    realm: "lintel",
    apps: [docsApp("/v0.9/docs")],
  });
  return {
    origin: server.origin,
    async [Symbol.asyncDispose]() {
      await server.stop();
      await central[Symbol.asyncDispose]();
    },
  };
}

test("a server shows the texts to anybody, finds words in them, and has nothing else there", async () => {
  await using server = await serveDocs();
  const get = async (path: string) => {
    const response = await fetch(server.origin + path);
    return { response, text: await response.text() };
  };
  const list = await get("/docs");
  expect(list.text).toContain("<h1");
  expect(list.response.headers.get("content-security-policy")).toMatch(
    /^default-src 'none'; style-src 'sha256-/,
  );
  expect((await get("/docs/consent")).text).toContain('href="/docs/erase"');
  const found = await get("/docs?q=pause%20<b>button");
  expect(found.text).not.toContain("<b>button");
  expect((await get("/docs?q=pause+button")).text).toMatch(/href="\/docs\/consent#[^"]+"/);
  expect((await get("/docs/pictures/home.png")).response.headers.get("content-type")).toBe("image/png");
  for (const path of [
    "/docs/nothing",
    "/docs/../package.json",
    "/docs/%2e%2e/package",
    "/docs/pictures/%2e%2e%2fconsent.md",
  ])
    expect([path, (await get(path)).response.status]).toEqual([path, 404]);
});

test.skipIf(chromiumPath === undefined)(
  `a text with tables and commands is whole on a phone, in light and dark, also by keys (${noChromium})`,
  async () => {
    await using server = await serveDocs();
    await using browser = await TestBrowser.start();
    await using visit = await browser.visit({ viewport: { width: 320, height: 568 } });
    for (const path of ["/docs", "/docs/install", "/docs?q=pause"])
      for (const colorScheme of ["light", "dark"] as const) {
        await visit.page.emulateMedia({ colorScheme });
        await visit.page.goto(server.origin + path);
        expect(await visit.page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
        expect(await faultsForAll(visit.page)).toEqual([]);
      }
    expect(visit.faults).toEqual([]);
  },
);

test("a section is found by all words, and first where they are in its heading", () => {
  const section = (heading: string, text: string, code = "") => ({
    ...{ href: `#${heading}`, document: "Updates", heading, text, code },
  });
  const sections = [
    section("Rings", "boxes go back by themselves"),
    section("Going back", "a release goes back"),
    section("Keys", "a release is signed"),
  ];
  expect(searchSections(sections, "GO back").map(({ heading }) => heading)).toEqual(["Going back", "Rings"]);
  expect(searchSections(sections, "release nothing")).toEqual([]);
  expect(searchSections(sections, "  ")).toEqual([]);
});

test("what a search shows of a section begins with a sentence, and never within code or a table", async () => {
  await using server = await serveDocs();
  const found = async (asked: string) => {
    const text = await (await fetch(`${server.origin}/docs?q=${asked}`)).text();
    const list = text.slice(text.indexOf('<ol class="found">'));
    return [...list.matchAll(/<p>(.*?)<\/p>/gs)].map(([, excerpt = ""]) => excerpt);
  };
  const excerpts = (await Promise.all(["battery", "curl", "upload"].map(found))).flat();
  expect(excerpts.length).toBeGreaterThan(20);
  expect(excerpts.filter((one) => /^…|^\W*:|\{&quot;|&quot;:|-H &quot;|\|/.test(one))).toEqual([]);
  // The words of code are found all the same.
  const section = { href: "#", document: "Tokens", heading: "Make one", text: "First. So it is made." };
  const [only] = searchSections([{ ...section, code: "lintel token create" }], "create");
  expect(only?.excerpt).toBe("First. So it is made.");
  expect(searchSections([{ ...section, code: "" }], "made")[0]?.excerpt).toBe("So it is made.");
});
