import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { kindNames } from "../../../src/domain/kinds.ts";
import { Item, type ItemType } from "../../../src/domain/records/item.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { ErrorRecord } from "../../../src/web/server/http-errors.ts";
import { append, now_ms, reading, type Serving, serve } from "../../../testbed/serving.ts";

let serving: Serving;
let sensor: string;

beforeAll(async () => {
  serving = await serve();
  const readings = Array.from({ length: 5 }, (_, index) =>
    reading(
      { kind: "wirelesssensors", address: `00:0d:6f:00:05:a1:b2:0${index}`, subtype: "wall" },
      "wirelesssensor_events",
      now_ms - index,
      { event: 2 },
    ),
  );
  [sensor = ""] = await append(serving.store, readings);
});
afterAll(() => serving[Symbol.asyncDispose]());

const good = (): Record<string, string> => ({
  Authorization: `bearer ${serving.tokens.read}`,
  Accept: "application/json",
});

async function expectError(response: Response, status: number, code: number): Promise<ErrorRecord> {
  expect(response.status).toBe(status);
  expect(response.headers.get("Content-Type")).toBe("application/json");
  const body = (await response.json()) as ErrorRecord;
  expect(Value.Check(ErrorRecord, body)).toBe(true);
  expect(Object.keys(body)).toEqual(["code", "message"]);
  expect(body.code).toBe(code);
  return body;
}

describe("the inventory", () => {
  test("lists every type with its count", async () => {
    const response = await serving.ask("/items");
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/json");
    const types = (await response.json()) as ItemType[];
    expect(types.map(({ typename }) => typename)).toEqual(kindNames);
    expect(types[1]).toEqual({ typeid: 2, typename: "wirelesssensors", count: 5 });
  });

  test("lists the items of a type, in windows of skip and limit that link to each other", async () => {
    const all = (await (await serving.ask("/inventory/wirelesssensors")).json()) as Item[];
    expect(all).toHaveLength(5);
    expect(all.every((item) => Value.Check(Item, item))).toBe(true);
    const page = await serving.ask("/inventory/wirelesssensors?skip=1&limit=2");
    expect(await page.json()).toEqual(all.slice(1, 3));
    const link = page.headers.get("Link");
    expect(link).toBe(`<${serving.api.url}/inventory/wirelesssensors?skip=3&limit=2>; rel="next"`);
    const last = await serving.ask("/inventory/wirelesssensors?skip=3&limit=2");
    expect(await last.json()).toEqual(all.slice(3));
    expect(last.headers.get("Link")).toBeNull();
    expect(await (await serving.ask("/inventory/scales")).json()).toEqual([]);
    expect(await (await serving.ask("/inventory/wirelesssensors?skip=1000000000000")).json()).toEqual([]);
  });

  test("has one item by its name, or by its itemid", async () => {
    const item = (await (await serving.ask(`/inventory/wirelesssensors/${sensor}`)).json()) as Item;
    expect(item.itemname).toBe(sensor);
    expect(await (await serving.ask(`/inventory/wirelesssensors/${item.itemid}`)).json()).toEqual(item);
  });
});

describe("a request without what it needs", () => {
  const paths = () => [
    "/items",
    "/inventory/wirelesssensors",
    `/inventory/wirelesssensors/${sensor}`,
    `/items/wirelesssensors/${sensor}/events`,
  ];
  const challenge = (text: string) => `OAuth2.0 realm=lintel, error=invalid_token, error_description=${text}`;

  test("is answered 401 with the challenge that says why, on every path", async () => {
    const { expired, sync } = serving.tokens;
    const reasons: [string | undefined, number, string][] = [
      [undefined, 40101, "The access token is missing"],
      [`bearer ${expired}`, 40102, "The access token has expired"],
      ["bearer nonsense", 40103, "The access token is invalid"],
      ["bearer", 40103, "The access token is invalid"],
      [`Basic ${serving.tokens.read}`, 40103, "The access token is invalid"],
      [serving.tokens.read, 40103, "The access token is invalid"],
      [`bearer${serving.tokens.read}`, 40103, "The access token is invalid"],
      [`bearer ${serving.tokens.read} x`, 40103, "The access token is invalid"],
      [`bearer ${sync}`, 40104, "The scope of the access token does not allow this request"],
    ];
    for (const path of paths())
      for (const [authorization, code, text] of reasons) {
        const headers: Record<string, string> = { Accept: "application/json" };
        if (authorization !== undefined) headers["Authorization"] = authorization;
        const response = await serving.ask(path, { headers });
        expect(response.headers.get("WWW-Authenticate")).toBe(challenge(text));
        expect(await expectError(response, 401, code)).toEqual({ code, message: text });
      }
  });

  test("is not let in by a token in the address", async () => {
    for (const name of ["access_token", "%00", ""]) {
      const response = await serving.ask(`/items?${name}=${serving.tokens.read}`, {
        headers: { Accept: "application/json" },
      });
      await expectError(response, 401, 40101);
    }
  });

  test("is not let in by a token in the address beside another header", async () => {
    for (const Authorization of ["Basic x", "bearer", "Bearer", "Bearers x", ""]) {
      const response = await serving.ask(`/items?access_token=${serving.tokens.read}`, {
        headers: { Accept: "application/json", Authorization },
      });
      await expectError(response, 401, 40103);
    }
  });

  test("is let in whatever the case of the scheme, and with an admin token", async () => {
    for (const authorization of [
      `Bearer ${serving.tokens.read}`,
      `BEARER  ${serving.tokens.read}`,
      `bearer ${serving.tokens.admin}`,
    ]) {
      const response = await serving.ask("/items", {
        headers: { ...good(), Authorization: authorization },
      });
      expect(response.status).toBe(200);
    }
  });

  test("is answered 400 when Accept does not name JSON", async () => {
    for (const path of paths()) {
      const wild = await serving.ask(path, { headers: { ...good(), Accept: "*/*" } });
      await expectError(wild, 400, 40002);
      const refused = await serving.ask(path, { headers: { ...good(), Accept: "application/json;q=0" } });
      await expectError(refused, 400, 40002);
    }
  });

  test("is refused once its token is revoked", async () => {
    const { token, text } = mintToken({ name: "leaver", scope: "read", clock: serving.clock });
    await serving.store.addToken(token);
    const headers = { ...good(), Authorization: `bearer ${text}` };
    expect((await serving.ask("/items", { headers })).status).toBe(200);
    await serving.store.revokeToken(token.id);
    await expectError(await serving.ask("/items", { headers }), 401, 40103);
  });
});

describe("what is not there", () => {
  test("is 404, each with its own number", async () => {
    const cases: [string, number][] = [
      ["/inventory/toasters", 40402],
      ["/inventory/__proto__", 40402],
      ["/inventory/Scales", 40402],
      ["/inventory/toasters/x", 40402],
      ["/inventory/scales/nobody", 40403],
      [`/inventory/scales/${sensor}`, 40403],
      ["/inventory/scales/%00", 40403],
      ["/inventory/scales/a%2Fb", 40403],
      ["/items/scales/nobody/weights", 40403],
      [`/items/scales/${sensor}/weights`, 40403],
      ["/items/scales/nobody/events", 40401],
      ["/items/toasters/nobody/events", 40401],
      [`/items/wirelesssensors/${sensor}`, 40401],
      [`/items/wirelesssensors/${sensor}/events/x`, 40401],
      ["/inventory", 40401],
      ["/inventory/", 40401],
      ["/inventory//x", 40401],
      ["/items//", 40401],
      ["/Items", 40401],
    ];
    for (const [path, code] of cases) await expectError(await serving.ask(path), 404, code);
  });

  test("is 404 in versions and places that are not served", async () => {
    const origin = new URL(serving.api.url).origin;
    for (const path of ["/", "/items", "/v9.9/items", "/v0.10/items", "/v0.9x/items", "/V0.9/items"])
      await expectError(await fetch(`${origin}${path}`, { headers: good() }), 404, 40401);
  });

  test("is 422 where the path or a parameter cannot be understood", async () => {
    const malformed = await expectError(await serving.ask("/inventory/scales/%zz"), 422, 42203);
    expect(malformed.message).toContain("itemname");
    await expectError(await serving.ask("/inventory/%FF"), 422, 42203);
    const limit = await expectError(await serving.ask("/inventory/scales?limit=1001"), 422, 42201);
    expect(limit.message).toBe("limit must be an integer from 1 to 1000");
    await expectError(await serving.ask("/inventory/scales?skip=1&skip=2"), 422, 42202);
    const path = `/items/wirelesssensors/${sensor}/events`;
    for (const query of ["before=soon", "through=x", "precision=us", "skip=-1"])
      await expectError(await serving.ask(`${path}?${query}`), 422, 42201);
  });
});

describe("both forms of every path", () => {
  test("with and without a slash at the end, answer the same", async () => {
    for (const path of [
      "/items",
      "/inventory/wirelesssensors",
      `/inventory/wirelesssensors/${sensor}`,
      `/items/wirelesssensors/${sensor}/events`,
    ]) {
      const [plain, slashed] = [await serving.ask(path), await serving.ask(`${path}/`)];
      expect([slashed.status, await slashed.text()]).toEqual([200, await plain.text()]);
      await expectError(await serving.ask(`${path}//`), 404, 40401);
    }
  });
});

describe("methods", () => {
  test("other than GET and HEAD are 405 on every path that exists, whoever asks", async () => {
    for (const path of ["/items", "/inventory/scales", "/inventory/scales/x/", "/items/scales/x/heart"])
      for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
        const response = await serving.ask(path, { method, headers: {} });
        expect(response.headers.get("Allow")).toBe("GET, HEAD");
        await expectError(response, 405, 40501);
      }
  });

  test("HEAD answers as GET does, with the length and no body", async () => {
    for (const [path, headers] of [
      ["/items", good()],
      [`/items/wirelesssensors/${sensor}/events?limit=1`, good()],
      ["/inventory/scales/nobody", good()],
      ["/nothing", good()],
      ["/items", {}],
    ] as const) {
      const get = await serving.ask(path, { headers: { ...headers } });
      const head = await serving.ask(path, { method: "HEAD", headers: { ...headers } });
      expect(head.status).toBe(get.status);
      for (const name of ["Content-Type", "Content-Length", "WWW-Authenticate", "Link"])
        expect([name, head.headers.get(name)]).toEqual([name, get.headers.get(name)]);
      expect(Number(head.headers.get("Content-Length"))).toBe((await get.arrayBuffer()).byteLength);
      expect(await head.text()).toBe("");
    }
  });

  test("a body sent along is not looked at", async () => {
    const response = await fetch(`${serving.api.url}/items`, {
      method: "POST",
      headers: { ...good(), "Content-Type": "application/json" },
      body: "{not json",
    });
    await expectError(response, 405, 40501);
  });
});

describe("of several faults the first in order is answered", () => {
  // In the order of docs/errors.md: each says how it spoils a request, and what it is answered with.
  interface Draft {
    path: string;
    query: string;
    method: string;
    headers: Record<string, string>;
  }
  const faults: { name: string; code: number; spoil: (draft: Draft) => void }[] = [
    {
      name: "path",
      code: 40401,
      spoil: (draft) => void Object.assign(draft, { path: `${draft.path}/more` }),
    },
    { name: "method", code: 40501, spoil: (draft) => void Object.assign(draft, { method: "DELETE" }) },
    {
      name: "token",
      code: 40101,
      spoil: (draft) => void Reflect.deleteProperty(draft.headers, "Authorization"),
    },
    {
      name: "Accept",
      code: 40002,
      spoil: (draft) => void Object.assign(draft.headers, { Accept: "text/html" }),
    },
    { name: "parameter", code: 42201, spoil: (draft) => void Object.assign(draft, { query: "?limit=0" }) },
    {
      name: "record",
      code: 40403,
      spoil: (draft) => void Object.assign(draft, { path: draft.path.replace(sensor, "nobody") }),
    },
  ];
  const subsets = Array.from({ length: 2 ** faults.length }, (_, bits) =>
    faults.filter((_fault, index) => bits & (1 << index)),
  );

  test.each(subsets.map((subset) => [subset.map(({ name }) => name).join(", ") || "none", subset] as const))(
    "wrong: %s",
    async (_, subset) => {
      const draft: Draft = {
        path: `/items/wirelesssensors/${sensor}/events`,
        query: "?limit=1",
        method: "GET",
        headers: good(),
      };
      for (const fault of [...subset].reverse()) fault.spoil(draft);
      const response = await serving.ask(`${draft.path}${draft.query}`, draft);
      const first = subset[0];
      if (first === undefined) expect(response.status).toBe(200);
      else await expectError(response, Math.floor(first.code / 100), first.code);
    },
  );
});
