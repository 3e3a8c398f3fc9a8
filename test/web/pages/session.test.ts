import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rawExchange } from "../../../testbed/serving.ts";
import { type PagesServer, servePages } from "./pages-server.ts";

let server: PagesServer;
beforeAll(async () => {
  server = await servePages();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A browser's word of where a form is, at an address without TLS, where it leaves Sec-Fetch-Site out. */
const from = (origin: string) => ({ Origin: origin });

const signIn = (token: string, fields: Record<string, string> = {}, headers?: Record<string, string>) =>
  server.send("/sign-in", { token, ...fields }, headers);

describe("signing in", () => {
  test.each(["read", "admin"] as const)("with a token that may %s begins a session", async (scope) => {
    const response = await signIn(` ${server.tokens[scope]}\n`);
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/"]);
    const [cookie = "", ...others] = response.headers.getSetCookie();
    expect(others).toEqual([]);
    expect(cookie).toBe(`lintel-${server.port}=${server.tokens[scope]}; Path=/; HttpOnly; SameSite=Strict`);
    expect((await server.page("/", server.tokens[scope])).status).toBe(200);
  });

  test("with any other token says why, begins nothing, and keeps where one goes on to", async () => {
    const unlike = `${server.tokens.read.slice(0, -1)}${server.tokens.read.endsWith("A") ? "B" : "A"}`;
    const revoked = await server.mint("read");
    await server.store.revokeToken(revoked.split(".")[0] ?? "");
    for (const [token, said] of [
      ["", "not valid here"],
      ["nonsense", "not valid here"],
      [unlike, "not valid here"],
      [revoked, "not valid here"],
      [server.tokens.expired, "has expired"],
      [server.tokens.sync, "for uploads"],
    ] as const) {
      const response = await signIn(token, { next: "/items?x=1" });
      expect([token, response.status, response.headers.getSetCookie()]).toEqual([token, 403, []]);
      const text = await response.text();
      expect(text).toContain(said);
      expect(text).toContain('name="next" value="/items?x=1"');
      // What was given is nowhere in the answer.
      if (token.length > 20) expect(text).not.toContain(token.slice(13));
    }
  });

  test.each([
    ["/devices/kitchen?from=1#x", "/devices/kitchen?from=1#x"],
    ["//evil.example", "/"],
    ["/\\evil.example", "/"],
    ["\\/evil.example", "/"],
    ["/\t/evil.example", "/"],
    ["/\n/evil.example", "/"],
    ["https://evil.example/", "/"],
    ["javascript:alert(1)", "/"],
    [" //evil.example", "/"],
    ["evil.example", "/"],
    ["/%2F/evil.example", "/%2F/evil.example"],
    ["/.//evil.example", "/.//evil.example"],
    ["/é", "/"],
    ["/\r\nSet-Cookie: a=b", "/"],
    ["", "/"],
  ])("goes on from %j to %j, and stays on this server", async (next, expected) => {
    const response = await signIn(server.tokens.read, { next });
    const location = response.headers.get("Location") ?? "";
    expect(location).toBe(expected);
    expect(new URL(location, server.origin).origin).toBe(server.origin);
    const form = await (await server.page(`/sign-in?${new URLSearchParams({ next })}`)).text();
    expect(form).toContain(`name="next" value="${expected}"`);
  });

  test("by a form of another site is refused, and so is signing out", async () => {
    const port = server.port;
    const foreign: Record<string, string>[] = [
      { "Sec-Fetch-Site": "cross-site" },
      // Another service on the same machine, or in the same domain.
      { "Sec-Fetch-Site": "same-site" },
      { "Sec-Fetch-Site": "cross-site", ...from(server.origin) },
      from("http://evil.example"),
      from(`http://127.0.0.1:${port + 1}`),
      from(`http://127.0.0.1:${port}.evil.example`),
      from("null"),
      {},
    ];
    for (const headers of foreign)
      for (const path of ["/sign-in", "/sign-out"]) {
        const response = await server.send(path, { token: server.tokens.read }, headers);
        expect([headers, response.status, response.headers.getSetCookie()]).toEqual([headers, 403, []]);
        expect(await response.text()).toContain("was not sent by a page of this server");
      }
    for (const headers of [from(server.origin), { "Sec-Fetch-Site": "same-origin" }])
      expect((await signIn(server.tokens.read, {}, headers)).status).toBe(303);
  });

  test("behind a proxy with TLS gives a cookie that is for TLS alone", async () => {
    const host = { Host: "central.example" };
    const response = await signIn(server.tokens.read, {}, { ...host, ...from("https://central.example") });
    expect(response.headers.getSetCookie()).toEqual([
      `__Host-lintel-http=${server.tokens.read}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    ]);
    const headers = { ...host, Cookie: `__Host-lintel-http=${server.tokens.read}` };
    expect((await server.page("/", undefined, { headers })).status).toBe(200);
  });

  test.each([
    ["X-Forwarded-Proto", "https"],
    ["X-Forwarded-Proto", "HTTPS, http"],
    ["Forwarded", 'for=192.0.2.1;proto="https", for=10.0.0.1;proto=http'],
  ])(
    "behind a proxy that says %s: %s gives such a cookie though the browser names no origin, and reads no other",
    async (name, value) => {
      const proxied = { Host: "central.example", [name]: value };
      const response = await signIn(server.tokens.read, {}, { ...proxied, "Sec-Fetch-Site": "same-origin" });
      expect(response.headers.getSetCookie()).toEqual([
        `__Host-lintel-http=${server.tokens.read}; Path=/; HttpOnly; SameSite=Strict; Secure`,
      ]);
      const asked = async (cookie: string) =>
        (
          await server.page("/", undefined, {
            headers: { ...proxied, Cookie: `${cookie}=${server.tokens.read}` },
          })
        ).status;
      expect([await asked("__Host-lintel-http"), await asked("lintel-http")]).toEqual([200, 303]);
    },
  );

  test("takes a small form that comes soon, and no other", async () => {
    const large = await signIn("x".repeat(5_000));
    expect([large.status, large.headers.getSetCookie()]).toEqual([413, []]);
    expect(await large.text()).toContain("<h1>This cannot be done</h1>");
    const head = `POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 100\r\n\r\ntoken=`;
    const slow = rawExchange(server.port, head);
    const limit = setInterval(() => server.clock.advance(1_000), 20);
    expect(await slow).toStartWith("HTTP/1.1 408 ");
    clearInterval(limit);
  });
});

describe("a session", () => {
  test("that is none leads to the way in, and from there back", async () => {
    for (const [path, way] of [
      ["/", "/sign-in"],
      ["/?day=2026-11-03", "/sign-in?next=%2F%3Fday%3D2026-11-03"],
    ] as const) {
      const response = await server.page(path);
      expect([response.status, response.headers.get("Location")]).toEqual([303, way]);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test("that no longer holds is taken from the browser, and it is said why", async () => {
    const revoked = await server.mint("read");
    await server.store.revokeToken(revoked.split(".")[0] ?? "");
    for (const [token, fault, said] of [
      [revoked, "ended", "You have been signed out"],
      [server.tokens.expired, "expired", "has expired"],
      [server.tokens.sync, "scope", "for uploads"],
    ] as const) {
      const response = await server.page("/", token);
      const location = response.headers.get("Location") ?? "";
      expect([response.status, location]).toEqual([303, `/sign-in?fault=${fault}`]);
      expect(response.headers.getSetCookie()).toHaveLength(2);
      for (const cookie of response.headers.getSetCookie()) expect(cookie).toContain("Max-Age=0");
      expect(await (await server.page(location)).text()).toContain(said);
    }
    expect(await (await server.page("/sign-in?fault=<b>x")).text()).not.toContain("<b>x");
  });

  test("opens nothing of the interface: that takes tokens in its header alone", async () => {
    for (const path of ["/v0.9/items", "/v0.9/items/wirelesssensors/wall/events"]) {
      const headers = { Accept: "application/json" };
      const response = await server.page(path, server.tokens.admin, { headers });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ code: 40101 });
    }
  });

  test("of another server on the same host is another one", async () => {
    await using other = await servePages();
    const jar = `lintel-${other.port}=${other.tokens.read}; lintel-${server.port}=${server.tokens.read}`;
    const headers = { Cookie: jar };
    for (const one of [server, other]) expect((await one.page("/", undefined, { headers })).status).toBe(200);
    const ended = (await server.send("/sign-out", {})).headers.getSetCookie();
    expect(ended.map((cookie) => cookie.split("=")[0])).toEqual([
      `lintel-${server.port}`,
      `__Host-lintel-${server.port}`,
    ]);
  });

  test("is told to the way in without a page", async () => {
    const of = async (token?: string) => (await server.page("/session", token)).json();
    expect(await of()).toEqual({ signed_in: false });
    expect(await of(server.tokens.expired)).toEqual({ signed_in: false });
    expect(await of(server.tokens.read)).toEqual({ signed_in: true });
  });
});

test("under TLS the cookie is for TLS alone, and one without its name is none", async () => {
  const directory = mkdtempSync(join(tmpdir(), "lintel-pages-tls-"));
  const [certificate, key] = [join(directory, "certificate.pem"), join(directory, "key.pem")];
  const made = Bun.spawnSync([
    ...["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"],
    ...["-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=127.0.0.1"],
  ]);
  expect(made.exitCode).toBe(0);
  try {
    await using secure = await servePages({ tls: { certificate, key } });
    const { read } = secure.tokens;
    const response = await secure.send("/sign-in", { token: read });
    expect(response.headers.getSetCookie()).toEqual([
      `__Host-lintel-${secure.port}=${read}; Path=/; HttpOnly; SameSite=Strict; Secure`,
    ]);
    expect((await secure.page("/", read)).status).toBe(200);
    const planted = { Cookie: `lintel-${secure.port}=${read}` };
    expect((await secure.page("/", undefined, { headers: planted })).status).toBe(303);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("wrong tokens are bound per address at the way in as everywhere, and right ones pass", async () => {
  await using guarded = await servePages({ attempts_max: 3 });
  const guess = () => guarded.send("/sign-in", { token: `aaaaaaaaaaaa.${"A".repeat(43)}` });
  for (let count = 0; count < 2; count++) expect((await guess()).status).toBe(403);
  // A cookie is a guess like any other.
  expect((await guarded.page("/", "aaaaaaaaaaaa.x")).status).toBe(303);
  const refused = await guess();
  expect([refused.status, refused.headers.get("Retry-After")]).toEqual([429, "60"]);
  expect(refused.headers.get("Content-Security-Policy")).toContain("default-src 'none'");
  const text = await refused.text();
  expect(text).toContain("<h1>Too many tries</h1>");
  expect(text).toContain("Wait 60 seconds");
  expect(text).not.toContain("in 60 s.");
  expect((await guarded.page("/", "aaaaaaaaaaaa.x")).status).toBe(429);
  expect((await guarded.send("/sign-in", { token: guarded.tokens.read })).status).toBe(303);
  expect((await guarded.page("/", guarded.tokens.read)).status).toBe(200);
  guarded.clock.advance(60_000);
  expect((await guess()).status).toBe(403);
});

describe("every page", () => {
  const pages: readonly [path: string, token: boolean, status: number][] = [
    ["/", true, 200],
    ["/sign-in", false, 200],
    ["/nothing", false, 404],
    ["/assets/none/main.js", false, 404],
    ["/sign-out", true, 405],
  ];

  test("runs this server's script alone, is kept by nobody, and has nothing inline", async () => {
    for (const [path, signedIn, status] of pages) {
      const response = await server.page(path, signedIn ? server.tokens.read : undefined);
      expect([path, response.status]).toEqual([path, status]);
      expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
      expect(response.headers.get("Cache-Control")).toBe("no-store");
      expect(response.headers.get("X-Content-Type-Options")).toBe("nosniff");
      const policy = response.headers.get("Content-Security-Policy") ?? "";
      expect(policy).toStartWith("default-src 'none'; ");
      expect(policy).not.toMatch(/unsafe|https?:|\*|data:|blob:/);
      for (const directive of ["form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'"])
        expect(policy).toContain(directive);
      const text = await response.text();
      expect(text).not.toMatch(/\sstyle=|\son\w+=|<style|javascript:/i);
      const scripts = [...text.matchAll(/<script([^>]*)>([^<]*)/g)];
      for (const [, attributes = "", inner] of scripts)
        expect(/type="application\/json"/.test(attributes) || inner === "").toBe(true);
      for (const [, address] of text.matchAll(/(?:src|href|action)="([^"]*)"/g))
        expect(address).toStartWith("/");
    }
  });

  test("loads what browsers keep for ever, in whatever coding they take", async () => {
    const text = await (await server.page("/sign-in")).text();
    const paths = [...text.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    for (const ending of ["js", "css", "svg"]) expect(paths.join()).toContain(`.${ending}`);
    for (const path of paths) {
      const bodies = new Set<string>();
      for (const coding of ["identity", "gzip", "zstd", "gzip, zstd, br"]) {
        const response = await server.page(path, undefined, { headers: { "Accept-Encoding": coding } });
        expect(response.headers.get("Cache-Control")).toBe("public, max-age=31536000, immutable");
        expect(response.headers.get("Vary")).toBe("Accept-Encoding");
        bodies.add(await response.text());
      }
      expect(bodies.size).toBe(1);
    }
  });

  test("answers HEAD as GET, without the body", async () => {
    for (const [path, signedIn, status] of pages) {
      const token = signedIn ? server.tokens.read : undefined;
      const response = await server.page(path, token, { method: "HEAD" });
      expect([path, response.status, await response.text()]).toEqual([path, status, ""]);
    }
  });

  test("that is none is a page to browsers and an error record to programs", async () => {
    const asked = async (path: string, accept: string) => {
      const response = await server.page(path, undefined, { headers: { Accept: accept } });
      return [response.status, response.headers.get("Content-Type")];
    };
    const browser = "text/html,application/xhtml+xml,*/*;q=0.8";
    expect(await asked("/nothing", browser)).toEqual([404, "text/html; charset=utf-8"]);
    expect(await asked("/nothing", "application/json")).toEqual([404, "application/json"]);
    expect(await asked("/nothing", "*/*")).toEqual([404, "application/json"]);
    for (const path of ["/v0.9/nothing", "/v9.9/items"])
      expect(await asked(path, browser)).toEqual([404, "application/json"]);
    expect(await asked(`/${"x".repeat(5_000)}`, browser)).toEqual([414, "text/html; charset=utf-8"]);
  });

  test("says no words of an address as markup", async () => {
    const text = await (await server.page("/sign-in?next=/%22%3E%3Cscript%3Ealert(1)%3C/script%3E")).text();
    expect(text).not.toContain("<script>alert");
  });
});
