import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rawExchange, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
});
afterAll(() => serving[Symbol.asyncDispose]());

/** Status and body of the answer to a request line and headers, to which what every request needs is added. */
async function answer(
  line: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; head: string; body: string }> {
  const all: Record<string, string> = {
    Host: "pi.local",
    Accept: "application/json",
    Authorization: `bearer ${serving.tokens.read}`,
    Connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = await rawExchange(serving.api.port, `${line}\r\n${lines.join("")}\r\n`);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), head, body };
}

const codeIn = (body: string) => (JSON.parse(body) as { code: number }).code;

describe("a request line", () => {
  test("is read by its path, whatever stands before it", async () => {
    expect((await answer("GET /v0.9/items HTTP/1.1")).status).toBe(200);
    expect((await answer("GET http://elsewhere/v0.9/items HTTP/1.1")).status).toBe(200);
    expect((await answer("GET /v0.9/items HTTP/1.0")).status).toBe(200);
  });

  test.each([
    "//v0.9/items",
    "/v0.9//items",
    "/v0.9/%69tems/x/y/z",
    "/v0.9/inventory\\scales\\x\\y",
    "/v0.9/items%2F",
    "/v0.9/items#x",
    "/v0.9/items/../../x",
    "/v0.9/items\u00e9",
    "/v0.9/items;x=1",
  ])("to %j finds nothing: 404", async (path) => {
    const { status, body } = await answer(`GET ${path} HTTP/1.1`);
    expect([status, codeIn(body)]).toEqual([404, 40401]);
  });

  test("with bytes that are no UTF-8 in a name is answered, and not with 500", async () => {
    for (const name of ["\u00ff\u00fe", "%ff%fe", "%", "%2", "%c0%80", "%ed%a0%80", "%u0041"])
      expect([404, 422]).toContain((await answer(`GET /v0.9/inventory/scales/${name} HTTP/1.1`)).status);
  });

  test.each(["TRACE", "OPTIONS", "PROPFIND", "M-SEARCH", "PURGE"])(
    "with the method %s is 405",
    async (method) => {
      const { status, head, body } = await answer(`${method} /v0.9/items HTTP/1.1`);
      expect([status, codeIn(body)]).toEqual([405, 40501]);
      expect(head).toMatch(/^allow: GET, HEAD\r?$/im);
    },
  );

  test("without a path is an error that is clean", async () => {
    const { status, body } = await answer("CONNECT lintel:80 HTTP/1.1");
    expect([status, codeIn(body)]).toEqual([400, 40003]);
  });

  test("to HEAD is answered with headers alone", async () => {
    const { status, head, body } = await answer("HEAD /v0.9/items HTTP/1.1");
    expect([status, body]).toEqual([200, ""]);
    expect(head).toMatch(/^content-length: [1-9]\d*\r?$/im);
  });
});

describe("headers", () => {
  test("name a host of any length, which moves no path and ends no link", async () => {
    const path = "/v0.9/inventory/scales";
    for (const Host of ["a", "pi", "pi:8080", "127.0.0.1", "[::1]:8080", "x".repeat(200), "UPPER.example"])
      expect((await answer(`GET ${path} HTTP/1.1`, { Host })).status).toBe(200);
    for (const Host of ["", "a b", "a/b", "a?b", "a#b", "user@a", "a>b", 'a"b', "a:b", "[::1", "a\\b"]) {
      const { status, body } = await answer(`GET ${path} HTTP/1.1`, { Host });
      expect([Host, status, codeIn(body)]).toEqual([Host, 400, 40003]);
    }
  });

  test("with an empty or doubled token, or one with other things around it, are refused", async () => {
    const { read } = serving.tokens;
    for (const Authorization of [
      "",
      "bearer",
      "bearer ",
      `bearer ${read}, bearer ${read}`,
      `bearer\t${read}`,
      `bearer ${read};`,
      `bearer "${read}"`,
    ]) {
      const { status, head } = await answer("GET /v0.9/items HTTP/1.1", { Authorization });
      expect([Authorization, status]).toEqual([Authorization, 401]);
      expect(head).toMatch(
        /^www-authenticate: OAuth2\.0 realm=lintel, error=invalid_token, error_description=[\w ]+\r?$/im,
      );
    }
    const twice = `bearer ${read}\r\nAuthorization: bearer ${read}`;
    expect((await answer("GET /v0.9/items HTTP/1.1", { Authorization: twice })).status).toBe(401);
  });

  test("of Accept given twice count together", async () => {
    const Accept = "text/html\r\nAccept: application/json";
    expect((await answer("GET /v0.9/items HTTP/1.1", { Accept })).status).toBe(200);
  });

  test("above the bounds of Bun are refused with a bare status", async () => {
    expect((await answer("GET /v0.9/items HTTP/1.1", { X: "y".repeat(20_000) })).status).toBe(431);
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`x-${index}`, "1"]));
    expect((await answer("GET /v0.9/items HTTP/1.1", many)).status).toBe(431);
  });

  test("that ask for another protocol are passed over", async () => {
    const upgrade = { Connection: "close, Upgrade", Upgrade: "websocket", Expect: "nothing" };
    expect((await answer("GET /v0.9/items HTTP/1.1", upgrade)).status).toBe(200);
  });
});

describe("a body", () => {
  test("on GET is not looked at", async () => {
    const body = "Content-Length: 5\r\n\r\nhello";
    const text = await rawExchange(
      serving.api.port,
      `GET /v0.9/items HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${body}`,
    );
    expect(text).toStartWith("HTTP/1.1 401");
  });

  test("above the bound is refused before it is sent", async () => {
    const { status } = await answer("POST /v0.9/items HTTP/1.1", { "Content-Length": "70000" });
    expect(status).toBe(413);
  });
});

test("what is no HTTP at all is refused, and those who ask properly are served on", async () => {
  for (const text of [
    "nonsense\r\n\r\n",
    "\u0016\u0003\u0001\u0002\u0000\r\n\r\n",
    "GET /v0.9/items HTTP/1.1\r\n\r\n",
  ])
    expect(await rawExchange(serving.api.port, text)).toMatch(/^(HTTP\/1\.1 400|$)/);
  for (const text of ["get /v0.9/items HTTP/1.1\r\nHost: a\r\n\r\n", "GET  HTTP/9.9\r\n\r\n"])
    expect(await rawExchange(serving.api.port, text)).not.toContain(" 200 ");
  expect((await serving.ask("/items")).status).toBe(200);
});
