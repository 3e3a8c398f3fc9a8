import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SystemClock } from "../../../src/base/clock.ts";
import { receiverOf } from "../../../src/central/receiver/receiver.ts";
import { batchType, syncPath } from "../../../src/transfer/protocol.ts";
import { encoded, gatewayOf, headerOf, type Receiving, receive, reportBody } from "./receiving.ts";

const gateway = gatewayOf(12, 10);
const { epoch } = gateway;
const day = Math.floor(Date.UTC(2026, 10, 20) / 86_400_000);
const json = (body: object) => ({ body: JSON.stringify(body), type: "application/json" });
const batch = { body: encoded(gateway.all()), type: batchType };
const address = gateway.readings[0]?.device.address ?? "";
const dayQuery = `epoch=${epoch}&through=10&series=wirelesssensor_events&kind=wirelesssensors&address=${address}&day=${day}&after=0`;

/** A good request to every route of central, in the order in which home 12 can send them. */
const requests: readonly {
  route: string;
  query?: string;
  sent?: { body: string | Uint8Array<ArrayBuffer>; type: string };
  who: "home" | "admin";
  answers: number;
}[] = [
  { route: "POST /batches", sent: batch, who: "home", answers: 200 },
  { route: "POST /report", sent: json(reportBody(gateway)), who: "home", answers: 200 },
  {
    route: "POST /verify",
    sent: json({
      epoch,
      through_seq: 10,
      from_ms: day * 86_400_000,
      before_ms: (day + 1) * 86_400_000,
      digests: [],
    }),
    who: "home",
    answers: 200,
  },
  { route: "PUT /days", query: dayQuery, sent: batch, who: "home", answers: 200 },
  { route: "GET /days", query: dayQuery, who: "home", answers: 200 },
  { route: "GET /held", query: `epoch=${epoch}`, who: "home", answers: 200 },
  { route: "GET /roster", who: "home", answers: 200 },
  { route: "PUT /backups", sent: json({ files: { "zigbee.json": "e30=" } }), who: "home", answers: 204 },
  { route: "GET /backups", who: "home", answers: 200 },
  { route: "GET /history", query: "from=0", who: "home", answers: 200 },
  { route: "GET /fleet", who: "admin", answers: 200 },
  {
    route: "POST /remote",
    sent: json({ number: 1, outcome: "done", words: "done" }),
    who: "home",
    answers: 204,
  },
  // Who knows pauses that are none is told so at once.
  { route: "GET /remote", query: "pauses_tag=other", who: "home", answers: 200 },
];

let receiving: Receiving;
const tokens: Record<string, string> = {};
beforeAll(async () => {
  receiving = await receive();
  tokens["sync of home 12"] = await receiving.homeToken(12);
  tokens["sync without a home"] = await receiving.token("sync");
  tokens["read"] = await receiving.token("read");
  tokens["read of home 12"] = await receiving.boundToken({ homes: [12] });
  tokens["admin"] = await receiving.token("admin");
  tokens["expired sync of home 12"] = await receiving.token("sync", 12, 1);
  tokens["invented"] = `${tokens["admin"]?.slice(0, -1)}x`;
});
afterAll(() => receiving[Symbol.asyncDispose]());

async function ask(row: (typeof requests)[number], authorization: string | undefined): Promise<Response> {
  const [method = "", path = ""] = row.route.split(" ");
  return fetch(`${receiving.url}${path}${row.query === undefined ? "" : `?${row.query}`}`, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(row.sent === undefined ? {} : { "content-type": row.sent.type }),
    },
    ...(row.sent === undefined ? {} : { body: row.sent.body }),
  });
}

/** Code of the refusal that each kind of token gets on a route of homes and of administrators; absent: it is let in. */
const expected: Readonly<Record<string, { home?: number; admin?: number }>> = {
  "sync of home 12": { admin: 40104 },
  "sync without a home": { home: 40105, admin: 40104 },
  read: { home: 40104, admin: 40104 },
  "read of home 12": { home: 40104, admin: 40104 },
  admin: { home: 40104 },
  "expired sync of home 12": { home: 40102, admin: 40102 },
  invented: { home: 40103, admin: 40103 },
};

test("the table of requests has every route of central", () => {
  const { app } = receiverOf({ store: receiving.store, clock: new SystemClock(), version: "1" });
  const { routes } = app;
  expect(requests.map(({ route }) => route).sort()).toEqual(
    routes.map(({ method, path }) => `${method} ${path.slice(syncPath.length)}`).sort(),
  );
});

describe.each(requests.map((row) => [row.route, row] as const))("%s", (_, row) => {
  test.each(Object.keys(expected))("with a token %s", async (name) => {
    const code = expected[name]?.[row.who];
    const response = await ask(row, `bearer ${tokens[name]}`);
    if (code === undefined) expect(response.status).toBe(row.answers);
    else {
      expect([response.status, ((await response.json()) as { code: number }).code]).toEqual([401, code]);
      expect(response.headers.get("WWW-Authenticate")).toStartWith(
        "OAuth2.0 realm=lintel, error=invalid_token",
      );
    }
  });

  test("without a token, or with another form of one, is 401", async () => {
    expect((await ask(row, undefined)).status).toBe(401);
    expect((await ask(row, `Basic ${tokens["admin"]}`)).status).toBe(401);
    const good = row.who === "home" ? tokens["sync of home 12"] : tokens["admin"];
    const inQuery = { ...row, query: `${row.query ?? ""}&access_token=${good}` };
    for (const authorization of [undefined, "Basic x", "bearer", ""])
      expect((await ask(inQuery, authorization)).status).toBe(401);
  });

  test("by another method is 405 and names those that there are", async () => {
    const [, path = ""] = row.route.split(" ");
    const there = requests.flatMap(({ route }) =>
      route.endsWith(` ${path}`) ? [route.split(" ")[0] as string] : [],
    );
    if (there.includes("GET")) there.push("HEAD");
    const response = await fetch(`${receiving.url}${path}`, {
      method: "DELETE",
      headers: { authorization: `bearer ${tokens["admin"]}` },
    });
    expect([response.status, response.headers.get("Allow")]).toEqual([405, there.join(", ")]);
  });
});

describe("the interface", () => {
  test.each([
    ["read", 200],
    ["admin", 200],
    ["sync of home 12", 401],
    ["sync without a home", 401],
  ])("answers a token %s with %i", async (name, status) => {
    const headers = { authorization: `bearer ${tokens[name]}`, accept: "application/json" };
    expect((await fetch(`${receiving.central.url}/items`, { headers })).status).toBe(status);
  });
});

describe("what home 12 has sent, to the token of home 13", () => {
  const ask13 = (
    method: string,
    path: string,
    sent?: { body: string | Uint8Array<ArrayBuffer>; type: string },
  ) => receiving.ask(13, method, path, sent);
  const foreign = async (response: Response) => {
    const body = (await response.json()) as Record<string, unknown>;
    expect([response.status, body["code"], body["reason"], body["held_seq"]]).toEqual([
      409,
      40902,
      "foreign",
      0,
    ]);
  };

  test("cannot be added to: neither by a batch that it holds, by the next one, nor by a guess from its header", async () => {
    const more = gatewayOf(12, 20);
    await foreign(await receiving.send(13, gateway.all()));
    await foreign(await receiving.send(13, more.batch(11, 20)));
    await foreign(await receiving.send(13, gateway.all(), { "Lintel-Batch": headerOf(gateway.batch(1, 1)) }));
    expect((await receiving.store.held([epoch]))[0]).toMatchObject({ home: 12, held_seq: 10 });
  });

  test("cannot be repaired, compared or reported on", async () => {
    await foreign(await ask13("PUT", `/days?${dayQuery}`, batch));
    await foreign(await ask13("POST", "/report", json(reportBody(gateway))));
    const verify = requests.find(({ route }) => route === "POST /verify")?.sent;
    await foreign(await ask13("POST", "/verify", verify));
  });

  test("cannot be read: no day, no history, no backup, no record", async () => {
    await foreign(await ask13("GET", `/days?${dayQuery}`));
    await foreign(await ask13("GET", `/held?epoch=${epoch}`));
    expect((await ask13("GET", "/history?from=0")).status).toBe(204);
    expect(await (await ask13("GET", "/backups")).json()).toEqual({ files: {} });
    const roster = await (await ask13("GET", "/roster")).text();
    expect(roster).not.toContain(address);
  });

  test("cannot be overwritten: a backup of the same name is its own", async () => {
    expect((await ask13("PUT", "/backups", json({ files: { "zigbee.json": "W10=" } }))).status).toBe(204);
    expect(await (await receiving.ask(12, "GET", "/backups")).json()).toEqual({
      files: { "zigbee.json": "e30=" },
    });
  });
});

test("a path with a slash at its end is the same one, and HEAD is answered as GET is, without the body", async () => {
  // As it is: a large answer is compressed for whoever takes that.
  const headers = { authorization: `bearer ${tokens["admin"]}`, "accept-encoding": "identity" };
  const whole = await fetch(`${receiving.url}/fleet`, { headers });
  const slashed = await fetch(`${receiving.url}/fleet/`, { headers });
  const head = await fetch(`${receiving.url}/fleet`, { method: "HEAD", headers });
  const body = await whole.text();
  expect(await slashed.text()).toBe(body);
  expect([head.status, await head.text()]).toEqual([200, ""]);
  expect(Number(head.headers.get("Content-Length"))).toBe(body.length);
});

test("an app answers under its own path alone", async () => {
  const authorization = `bearer ${tokens["admin"]}`;
  const statusOf = async (path: string) =>
    (await fetch(`${receiving.central.origin}${path}`, { headers: { authorization } })).status;
  const paths = ["/sync/v1/fleet", "/sync/v1", "/sync/v10/fleet", "/v0.9/fleet", "/fleet"];
  expect(await Promise.all(paths.map(statusOf))).toEqual([200, 404, 404, 404, 404]);
});
