import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { version } from "../../../src/base/version.ts";
import { endpoints } from "../../../src/web/api/endpoints.ts";
import { versions } from "../../../src/web/api/versions.ts";
import { fill } from "../../../testbed/programme.ts";
import { rawExchange, type Serving, serve } from "../../../testbed/serving.ts";
import { gatewayOf, type Receiving, receive, reportBody } from "../../central/receiver/receiving.ts";

let serving: Serving;
let receiving: Receiving;
beforeAll(async () => {
  serving = await serve();
  await fill(serving.store);
  receiving = await receive({ metrics: true });
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await receiving[Symbol.asyncDispose]();
});

/** Values that exist for every name in a path. */
const known: Readonly<Record<string, string>> = { typename: "wirelesssensors", itemname: "wall" };
const series = /^\/items\/(\w+)\//;
const itemOf: Readonly<Record<string, string>> = {
  pillboxes: "box-polled",
  wirelesssensors: "wall",
  scales: "scale",
  watches: "watch",
};
const paths = endpoints.map(({ template }) => {
  const itemname = itemOf[series.exec(template)?.[1] ?? "wirelesssensors"] ?? "wall";
  const fixed: Record<string, string> = { ...known, itemname };
  const number = template.startsWith("/homes") ? "12" : "1";
  return template.replace(/\{(\w+)\}/g, (_, name: string) => fixed[name] ?? number);
});

/** All of a response's headers that tell too much, or let too much be done with it. */
function faultsOf(response: Response): string[] {
  const { headers } = response;
  const faults: string[] = [];
  if (headers.get("X-Content-Type-Options") !== "nosniff") faults.push("is sniffed");
  for (const name of ["Server", "X-Powered-By", "Via"]) if (headers.has(name)) faults.push(`has ${name}`);
  for (const [name, value] of headers)
    if (value.includes(version)) faults.push(`tells its version in ${name}`);
  if (headers.has("Access-Control-Allow-Origin")) faults.push("is open to pages of other origins");
  return faults;
}

describe("every endpoint", () => {
  test.each(paths)("%s is kept by nobody between, and is what it says", async (path) => {
    const response = await serving.ask(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(faultsOf(response)).toEqual([]);
    // A page of a series may be held by the client alone, and never used without asking.
    const expected = response.headers.has("ETag") ? "private, no-cache" : "no-store";
    expect(response.headers.get("Cache-Control")).toBe(expected);
  });

  test("of a person's records is never kept at all", async () => {
    const people = paths.filter(
      (path) => /^\/(subjects|homes|issues)/.test(path) && !path.endsWith("/events"),
    );
    expect(people.length).toBeGreaterThan(10);
    for (const path of people)
      expect([path, (await serving.ask(path)).headers.get("Cache-Control")]).toEqual([path, "no-store"]);
  });

  test("is kept by nobody where it is refused, whatever for", async () => {
    const asked: [path: string, headers: Record<string, string>, status: number][] = [
      ["/items", {}, 401],
      ["/items", { Authorization: "bearer x", Accept: "application/json" }, 401],
      ["/items", { Authorization: `bearer ${serving.tokens.read}` }, 400],
      ["/nothing", {}, 404],
      ["/subjects/77", { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" }, 404],
      ["/homes/x", { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" }, 422],
      [`/${"x".repeat(5000)}`, {}, 414],
    ];
    for (const [path, headers, status] of asked) {
      const response = await serving.ask(path, { headers: { Accept: "*/*", ...headers } });
      expect([path.slice(0, 20), response.status]).toEqual([path.slice(0, 20), status]);
      expect(response.headers.get("Cache-Control")).toBe("no-store");
      expect(faultsOf(response)).toEqual([]);
    }
    expect((await serving.ask("/items", { method: "DELETE" })).headers.get("Cache-Control")).toBe("no-store");
  });
});

test("a page for people loads nothing, is framed by nobody, and tells nobody where its reader came from", async () => {
  for (const name of versions) {
    const page = await fetch(new URL(`/v${name}/docs`, serving.api.url));
    expect(page.headers.get("Content-Security-Policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]+'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(page.headers.get("Referrer-Policy")).toBe("no-referrer");
    expect(faultsOf(page)).toEqual([]);
    expect(await page.text()).not.toContain(version);
  }
});

test("central's answers to gateways, administrators and monitors are kept by nobody", async () => {
  const home = await receiving.homeToken(12);
  const admin = await receiving.token("admin");
  const asked: [method: string, path: string, token: string, body?: object][] = [
    ["POST", "/sync/v1/report", home, reportBody(gatewayOf(12, 1))],
    ["POST", "/sync/v1/report", home, { wrong: 1 }],
    ["GET", "/sync/v1/roster", home],
    ["GET", `/sync/v1/held?epoch=${"a".repeat(32)}`, home],
    ["GET", "/sync/v1/backups", home],
    ["PUT", "/sync/v1/backups", home, { files: { a: "e30=" } }],
    ["GET", "/sync/v1/history?from=0", home],
    ["GET", "/sync/v1/fleet", admin],
    ["GET", "/sync/v1/fleet", "wrong"],
    ["GET", "/metrics", admin],
    ["GET", "/metrics", home],
  ];
  for (const [method, path, token, body] of asked) {
    const response = await fetch(new URL(path, receiving.url), {
      method,
      headers: { authorization: `bearer ${token}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect([path, response.headers.get("Cache-Control")]).toEqual([path, "no-store"]);
    expect(faultsOf(response)).toEqual([]);
  }
});

test("bytes that are no request are answered without a word about the program", async () => {
  for (const text of [
    "x\r\n\r\n",
    "GET / HTTP/1.1\r\n\r\n",
    `GET / HTTP/1.1\r\nHost: x\r\nA: ${"x".repeat(20_000)}\r\n\r\n`,
  ]) {
    const answer = await rawExchange(serving.api.port, text);
    expect(answer).not.toMatch(/^(server|x-powered-by):/im);
    expect(answer).not.toContain("Bun");
    expect(answer).not.toContain(version);
  }
});
