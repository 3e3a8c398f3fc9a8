import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { fromMarkdown } from "../../../src/web/api/contract/contract-page.ts";
import { type Contract, contractOf } from "../../../src/web/api/contract/openapi.ts";
import { endpoints } from "../../../src/web/api/endpoints.ts";
import { versions, versionsOf } from "../../../src/web/api/versions.ts";
import { html } from "../../../src/web/server/markup.ts";
import { fill } from "../../../testbed/programme.ts";
import { type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
});
afterAll(() => serving[Symbol.asyncDispose]());

const contracts = new Map(
  [...versionsOf(endpoints)].map(([version, forms]): [string, Contract] => [
    version,
    contractOf(version, forms),
  ]),
);

describe.each(versions)("the page of version %s", (version) => {
  let response: Response;
  let page = "";
  beforeAll(async () => {
    response = await fetch(new URL(`/v${version}/docs`, serving.api.url));
    page = await response.text();
  });

  test("loads nothing from anywhere, and may not", () => {
    expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    expect(page).not.toMatch(
      /<(script|link|img|iframe|object|form|base)\b|\bsrc=|\bon\w+=|@import|url\(|style="/i,
    );
    const links = [...page.matchAll(/href="([^"]*)"/g)].map(([, target = ""]) => target);
    expect(links.filter((target) => !/^(#|\/v0\.\d\/(docs|openapi\.json)$)/.test(target))).toEqual([]);
    const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? "";
    const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(response.headers.get("Content-Security-Policy")).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    );
    expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
  });

  test("leads from every entry of its contents to a place that is there once", () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id);
    const targets = [...page.matchAll(/href="#([^"]*)"/g)].map(([, id = ""]) => id);
    const entries = [...page.matchAll(/<li>(<a href="#[\s\S]*?<\/a>)/g)].map(([, entry = ""]) => entry);
    const words = entries.map((entry) => entry.replace(/<[^>]*>/g, ""));
    expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
    expect(targets.filter((target) => !ids.includes(target))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("has every endpoint, parameter, record and field of the contract, and every error", () => {
    const contract = contracts.get(version);
    for (const [path, { get }] of Object.entries(contract?.paths ?? {})) {
      expect(page).toContain(`<span>${path}</span>`);
      expect(page).toContain(` id="${get.operationId}"`);
    }
    for (const [name, schema] of Object.entries(contract?.components.schemas ?? {})) {
      expect(page).toContain(` id="${name}"`);
      for (const field of Object.keys(schema["properties"] as object))
        expect(page).toContain(`<code>${field}</code>`);
    }
    for (const { name } of Object.values(contract?.components.parameters ?? {}))
      expect(page).toContain(`<code>${name}</code>`);
    expect(page).toContain("<td>40101</td><td>The access token is missing</td>");
  });

  test("shows an answer of every endpoint, and folds it", () => {
    const articles = page.split('<article id="').slice(1);
    for (const [name, { get }] of Object.entries(contracts.get(version)?.paths ?? {})) {
      const article = articles.find((text) => text.startsWith(`${get.operationId}"`)) ?? "";
      expect([name, article.includes('<details class="fold"><summary>')]).toEqual([name, true]);
      const [, answer = ""] = /such as<\/p>\n<pre>([\s\S]*?)<\/pre>/.exec(article) ?? [];
      expect(Object.keys([JSON.parse(answer.replaceAll("&#34;", '"'))].flat()[0])).not.toBeEmpty();
    }
  });

  test("shows requests that work as they stand, but for names and numbers of one's own", async () => {
    const addresses = [...page.matchAll(/<pre>curl [^<]*?&#34;(http:[^<]*?)&#34;<\/pre>/g)].map(
      ([, address = ""]) => address,
    );
    expect(addresses).toHaveLength(Object.keys(contracts.get(version)?.paths ?? {}).length);
    for (const address of addresses) {
      const answer = await fetch(address.replace("/homes/1", "/homes/12"), {
        headers: { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" },
      });
      const { code } = (answer.status === 200 ? {} : await answer.json()) as { code?: number };
      expect([address, answer.status, code]).toEqual(
        address.includes("ITEMNAME") ? [address, 404, 40403] : [address, 200, undefined],
      );
    }
  });
});

test("documents are compressed where that is wanted, and name the address that they are asked at", async () => {
  for (const path of ["/v0.9/docs", "/v0.9/openapi.json"]) {
    const url = new URL(path, serving.api.url);
    const plain = await fetch(url, { headers: { "Accept-Encoding": "identity" } });
    const text = await plain.text();
    for (const coding of ["gzip", "zstd"]) {
      const response = await fetch(url, { headers: { "Accept-Encoding": coding } });
      expect(response.headers.get("Content-Encoding")).toBe(coding);
      expect(await response.text()).toBe(text);
    }
    expect(text).not.toContain("lintel.invalid");
  }
  const page = await fetch(new URL("/v0.9/docs", serving.api.url), {
    headers: { Host: "gateway.local:8080" },
  });
  expect(await page.text()).toContain("http://gateway.local:8080/v0.9/items");
});

test("the address that a server prints leads to the page of its version", async () => {
  for (const path of ["/v0.9", "/v0.9/", "/v0.1"]) {
    const answer = await fetch(new URL(path, serving.api.url), { redirect: "manual" });
    const [version] = path.match(/v0\.\d/) ?? [];
    expect([answer.status, answer.headers.get("Location")]).toEqual([303, `/${version}/docs`]);
  }
  const opened = await fetch(new URL("/v0.9", serving.api.url));
  expect([opened.status, new URL(opened.url).pathname]).toEqual([200, "/v0.9/docs"]);
});

test("whatever is put into a page is text", () => {
  expect(html`<p>${"<script>\"'&"}</p>`.text).toBe("<p>&#60;script&#62;&#34;&#39;&#38;</p>");
  expect(html`${["a", html`<b>${1}</b>`, undefined]}`.text).toBe("a<b>1</b>");
  expect(fromMarkdown("a `<b>` c\n\n- x\n- `y`").text).toBe(
    "<p>a <code>&#60;b&#62;</code> c</p><ul><li>x</li><li><code>y</code></li></ul>",
  );
});
