import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, type RunningServer, Site } from "../../testbed/front-door.ts";
import { firstOf, headersOf, heldBy, openPages, stillHeld } from "./held-pages.ts";
import {
  allowed,
  type Caller,
  callers,
  centralRoutes,
  changingCentral,
  changingGateway,
  type Family,
  familyOf,
  gatewayRoutes,
  open,
  type Route,
  session,
  syncReaders,
} from "./route-table.ts";
import { changedIn, tablesOf } from "./tables.ts";

/**
 * Somebody on the network asks a gateway and a central for every route that there is, by every method, with every kind of token and with none.
 * The servers are the program that people start. Secrets are in every answer that has any; the database is compared with what it was.
 */

const otherMethods = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

test("the only routes that change a gateway are the seven forms of setting up and those of a pause and of notes, and those that change central are uploads and the forms of alerts and notes", () => {
  const changing = (routes: readonly Route[]) =>
    routes
      .filter(({ method }) => method !== "GET")
      .map(({ method, pattern }) => `${method} ${pattern}`)
      .toSorted();
  expect(changing(gatewayRoutes)).toEqual([...session, ...changingGateway].toSorted());
  expect(changing(centralRoutes)).toEqual([...session, ...changingCentral].toSorted());
});

const site = new Site();
const centralSite = new Site();
let gateway: RunningServer;
let central: RunningServer;
/** Words that only the home, its programme and its people have. */
const secrets = ["Kitchen of Mabel", "Mabel-the-resident"];
let address = "";
const tokens = { gateway: {} as Record<Caller, string>, central: {} as Record<Caller, string> };

beforeAll(async () => {
  const stick = await site.simulator("zigbee");
  central = await centralSite.central("--data", centralSite.data, "--metrics");
  const uploadToken = join(site.directory, "upload-token");
  writeFileSync(uploadToken, await centralSite.token("--scope", "sync", "--home", "12"), { mode: 0o600 });
  site.configure({
    api: "metrics = true",
    sections: [
      `[home]\nid = 12\ntimezone = "Europe/London"\nmay_pause = true\n[zigbee]\nport = "${stick.path}"`,
      `[upload]\nurl = "${central.origin}"\ntoken_file = "${uploadToken}"`,
    ].join("\n"),
  });
  gateway = await site.run();
  await site.listening("zigbee");
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  const { ieee } = (await stick.tell({ do: "add", model: "3011" })) as { ieee: string };
  await stick.tell({ do: "join", ieee });
  address = await eventually(async () => {
    const [item] = await site.answer("items", "--json", "--data", site.data);
    return item?.macaddress ?? undefined;
  }, "the item");
  pair.kill("SIGINT");
  await pair.exited;
  await stick.tell({ do: "alarm", ieee });
  await site.lintel("items", "name", address, "Kitchen of Mabel", "--room", "Kitchen", "--data", site.data);
  secrets.push(address, address.replaceAll(":", ""));
  const records = join(site.directory, "programme.json");
  writeFileSync(
    records,
    JSON.stringify({
      homes: [{ homeid: 12, cityname: "Mabel-the-resident" }, { homeid: 13 }],
      items: [
        {
          itemid: 7,
          itemname: "Kitchen of Mabel",
          typename: "wirelesssensors",
          macaddress: address,
          currenthomeid: 12,
          currenthomestart: 1_700_000_000,
        },
      ],
    }),
  );
  const imported = await centralSite.lintel("import", records, "--data", centralSite.data);
  expect([imported.code, imported.said]).toEqual([0, expect.any(String)]);
  expect((await site.lintel("upload", "--config", site.config)).code).toBe(0);
  for (const [at, of] of [
    ["gateway", site],
    ["central", centralSite],
  ] as const) {
    const revoked = await of.token("--scope", "admin");
    tokens[at] = {
      nobody: "",
      revoked,
      read: await of.token(),
      "read of another home": await of.token("--home", "13"),
      admin: await of.token("--scope", "admin"),
      sync: await of.token("--scope", "sync", "--home", "12"),
      "sync of another home": await of.token("--scope", "sync", "--home", "13"),
    };
    await of.answer("token", "revoke", revoked, "--json", "--data", of.data);
  }
});
afterAll(async () => {
  await site.remove();
  await centralSite.remove();
});

const values: Readonly<Record<string, string>> = {
  typename: "wirelesssensors",
  kind: "wirelesssensors",
  itemname: encodeURIComponent("Kitchen of Mabel"),
  name: encodeURIComponent("Kitchen of Mabel"),
  home: "12",
  id: "12",
  measure: "openings",
  file: "events.json",
  build: "x",
};

/** A box that knows pauses that are none is told so at once, and waits for nothing. */
const queries: Readonly<Record<string, string>> = { "/sync/v1/remote": "?pauses_tag=other" };

function pathOf(pattern: string): string {
  return pattern.replace(/:(\w+)/g, (_, name) => values[name] ?? "1") + (queries[pattern] ?? "");
}

async function ask(server: RunningServer, method: string, pattern: string, token: string, body?: BodyInit) {
  const path = pathOf(pattern);
  const asked = new AbortController();
  const response = await fetch(server.origin + path, {
    method,
    redirect: "manual",
    signal: asked.signal,
    headers: { ...headersOf(server.origin, token), accept: "application/json, text/html" },
    ...(body !== undefined && { body }),
  });
  const streams = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const { status, headers } = response;
  const text = streams ? await firstOf(response) : await response.text();
  if (streams) asked.abort();
  const head = [...headers].map((pair) => pair.join(": ")).join("\n");
  // A refusal names the path that was asked for.
  const words = secrets.filter((one) => !decodeURIComponent(path).includes(one));
  return { status, headers, text, told: words.filter((one) => `${head}\n${text}`.includes(one)) };
}

async function joining(): Promise<boolean> {
  const answer = await fetch("http://gateway/status", { unix: join(site.data, "control.sock") });
  return ((await answer.json()) as { joining: boolean }).joining;
}

function leadsToSignIn({ status, headers }: { status: number; headers: Headers }): boolean {
  return status === 303 && headers.get("location")?.startsWith("/sign-in") === true;
}

/** Whether a token of another home is answered with what is its own, which is nothing here. */
function ofAnotherHome(caller: Caller, family: Family, role: "gateway" | "central"): boolean {
  if (caller === "read of another home") return family === "interface" || family === "pages";
  return caller === "sync of another home" && family === "sync" && role === "central";
}

describe.each(["gateway", "central"] as const)("every route of a %s", (role) => {
  const routes = role === "gateway" ? gatewayRoutes : centralRoutes;
  const [here, server] = role === "gateway" ? [site, () => gateway] : [centralSite, () => central];
  const gets = routes.filter(({ method }) => method === "GET");

  test.each(callers)(
    "answers %s within its scope, tells nothing of the home beyond it, and changes nothing",
    async (caller) => {
      const before = tablesOf(here);
      const faults: unknown[] = [];
      let told = 0;
      for (const method of ["GET", "HEAD"])
        for (const route of gets) {
          const family = familyOf(route);
          const answer = await ask(server(), method, route.pattern, tokens[role][caller]);
          const may: readonly Caller[] = family === "sync" ? syncReaders[role] : allowed[family];
          told += answer.told.length;
          if (answer.headers.get("access-control-allow-origin") !== null) faults.push({ ...route, answer });
          if (family === "open") {
            const statuses = open.find(([one]) => one.test(`GET ${route.pattern}`))?.[1] ?? [];
            // Whether a session holds is a guess like any other.
            const isGuess = answer.status === 429 && caller === "revoked" && route.pattern === "/session";
            if ((!statuses.includes(answer.status) && !isGuess) || answer.told.length > 0)
              faults.push({ ...route, method, answer });
          } else if (!may.includes(caller)) {
            // A page of setting up says what a token that may look must be able to besides.
            const refused = [401, 403, 404, 429].includes(answer.status) || leadsToSignIn(answer);
            if ((!refused && !ofAnotherHome(caller, family, role)) || answer.told.length > 0)
              faults.push({ ...route, method, status: answer.status, told: answer.told });
          } else if ([401, 403, 429].includes(answer.status) || answer.status >= 500)
            faults.push({ ...route, method, status: answer.status });
        }
      expect(faults.slice(0, 5)).toEqual([]);
      // Those who may are told it: the words would have been found.
      if (allowed.interface.includes(caller)) expect(told).toBeGreaterThan(20);
      expect(changedIn(before, tablesOf(here))).toEqual([]);
    },
  );

  test("refuses an administrator every method that the table of routes does not have", async () => {
    const before = tablesOf(here);
    const faults: unknown[] = [];
    const patterns = [...new Set(routes.map(({ pattern }) => pattern))];
    for (const pattern of patterns)
      for (const method of otherMethods) {
        if (routes.some((route) => route.pattern === pattern && route.method === method)) continue;
        const { status } = await ask(
          server(),
          method,
          pattern,
          tokens[role].admin,
          method === "OPTIONS" ? undefined : "x",
        );
        if (status !== 405 && status !== 404) faults.push({ method, pattern, status });
      }
    expect(faults.slice(0, 5)).toEqual([]);
    expect(changedIn(before, tablesOf(here))).toEqual([]);
  });
});

describe("the forms of setting up", () => {
  const forms: Readonly<Record<string, Record<string, string>>> = {
    "/walk/joining": { do: "open" },
    "/walk/name": { device: "", name: "Stolen", room: "Hall" },
    "/walk/line": {},
    "/walk/conflict": { device: "", seen: "0", from: "walk", do: "accept" },
    "/walk/replace": { old: "", device: "00:0d:6f:00:00:00:00:99" },
    "/walk/try": { of: "00:0d:6f:00:00:00:00:99" },
    "/walk/finish": { tester: "Ann" },
  };
  const fieldsOf = (path: string) => {
    const fields = new URLSearchParams(forms[path]);
    if (path === "/walk/name") fields.set("device", address);
    if (path === "/walk/conflict") fields.set("device", address);
    if (path === "/walk/line") fields.set(address, "1.5");
    if (path === "/walk/replace") fields.set("old", address);
    return fields;
  };

  test.each(callers.filter((caller) => caller !== "admin"))(
    "change nothing for the caller %s",
    async (caller) => {
      const before = tablesOf(site);
      for (const path of Object.keys(forms)) {
        const { status } = await ask(gateway, "POST", path, tokens.gateway[caller], fieldsOf(path));
        expect([path, [401, 403, 404, 429].includes(status)]).toEqual([path, true]);
      }
      expect(changedIn(before, tablesOf(site))).toEqual([]);
      expect(await joining()).toBe(false);
    },
  );

  test("and every other form are refused when another site sends them with the cookie of an administrator", async () => {
    const { port } = new URL(gateway.origin);
    const cookie = `lintel-${port}=${tokens.gateway.admin}`;
    const before = tablesOf(site);
    const posts = gatewayRoutes.filter(({ method }) => method !== "GET");
    expect(posts.length).toBe(11);
    for (const { method, pattern } of posts)
      for (const from of [
        { "Sec-Fetch-Site": "cross-site" },
        { "Sec-Fetch-Site": "same-site" },
        { "Sec-Fetch-Site": "cross-site", Origin: gateway.origin },
        { Origin: "http://elsewhere.test" },
        { Origin: `http://127.0.0.1:${Number(port) + 1}` },
        { Origin: "null" },
        {},
      ] as Record<string, string>[])
        for (const type of [
          "application/x-www-form-urlencoded",
          "text/plain",
          "multipart/form-data; boundary=x",
        ]) {
          const response = await fetch(gateway.origin + pattern, {
            method,
            redirect: "manual",
            headers: { ...from, cookie, "content-type": type },
            body: `${forms[pattern] === undefined ? `token=${tokens.gateway.read}` : fieldsOf(pattern)}`,
          });
          expect([pattern, from, response.status]).toEqual([pattern, from, 403]);
          expect(response.headers.getSetCookie()).toEqual([]);
        }
    expect(changedIn(before, tablesOf(site))).toEqual([]);
    expect(await joining()).toBe(false);
  });

  test("open joining and give a name for an administrator, and change nothing else", async () => {
    const admin = tokens.gateway.admin;
    const before = tablesOf(site);
    expect((await ask(gateway, "POST", "/walk/joining", admin, fieldsOf("/walk/joining"))).status).toBe(303);
    await eventually(async () => (await joining()) || undefined, "joining opens");
    await ask(gateway, "POST", "/walk/joining", admin, new URLSearchParams({ do: "close" }));
    await eventually(async () => !(await joining()) || undefined, "joining closes");
    expect(changedIn(before, tablesOf(site))).toEqual([]);
    expect((await ask(gateway, "POST", "/walk/name", admin, fieldsOf("/walk/name"))).status).toBe(303);
    expect(changedIn(before, tablesOf(site)).toSorted()).toEqual(["given_names"]);
  });
});

describe("the form of a pause", () => {
  const sendPause = (caller: Caller, fields: Record<string, string>) =>
    ask(gateway, "POST", "/recorded/pause", tokens.gateway[caller], new URLSearchParams(fields));

  test.each(callers.filter((caller) => !allowed.pages.includes(caller)))(
    "changes nothing for the caller %s",
    async (caller) => {
      const before = tablesOf(site);
      for (const fields of [{ for: "1 day" }, { do: "resume" }] as Record<string, string>[]) {
        const { status } = await sendPause(caller, fields);
        expect([fields, [401, 403, 404, 429].includes(status)]).toEqual([fields, true]);
      }
      expect(changedIn(before, tablesOf(site))).toEqual([]);
    },
  );

  test.each([...allowed.pages])(
    "pauses the recording for the caller %s, and changes nothing else",
    async (caller) => {
      const before = tablesOf(site);
      expect((await sendPause(caller, { for: "1 year" })).status).toBe(422);
      expect(changedIn(before, tablesOf(site))).toEqual([]);
      expect((await sendPause(caller, { for: "1 hour" })).status).toBe(303);
      expect(changedIn(before, tablesOf(site))).toEqual(["pauses"]);
      expect((await sendPause(caller, { do: "resume" })).status).toBe(303);
    },
  );
});

test("the sync token of one home cannot replace the files of another home at central", async () => {
  const before = tablesOf(centralSite);
  const body = () => JSON.stringify({ files: { "given-names.json": btoa("[]") } });
  const put = (caller: Caller) =>
    fetch(`${central.origin}/sync/v1/backups`, {
      method: "PUT",
      headers: { ...headersOf(central.origin, tokens.central[caller]), "content-type": "application/json" },
      body: body(),
    });
  for (const caller of callers.filter((one) => !one.startsWith("sync")))
    expect([caller, [401, 429].includes((await put(caller)).status)]).toEqual([caller, true]);
  expect(changedIn(before, tablesOf(centralSite))).toEqual([]);
  const own = await ask(central, "GET", "/sync/v1/backups", tokens.central.sync);
  expect((await put("sync of another home")).status).toBe(204);
  expect((await ask(central, "GET", "/sync/v1/backups", tokens.central.sync)).text).toBe(own.text);
});

describe("a home that is restricted", () => {
  const restricted = { gateway: "", central: "" };
  const reason = ["--reason", "a letter"];
  /** Every GET of a server with each of its tokens: what each answers of the home, and with which status. */
  const toldBy = async (role: "gateway" | "central", extra: Readonly<Record<string, string>> = {}) => {
    const [routes, server] = role === "gateway" ? [gatewayRoutes, gateway] : [centralRoutes, central];
    const found: { caller: string; pattern: string; status: number; told: string[] }[] = [];
    for (const [caller, token] of Object.entries({ ...tokens[role], ...extra }))
      for (const { pattern } of routes.filter(({ method }) => method === "GET")) {
        const { status, told } = await ask(server, "GET", pattern, token);
        if (told.length > 0) found.push({ caller, pattern, status, told });
      }
    return found;
  };

  test("is in no answer of central or its box, whoever asks, once both know it", async () => {
    const at = ["--data", centralSite.data];
    const paths = centralRoutes
      .filter(({ method }) => method === "GET")
      .map(({ pattern }) => pathOf(pattern));
    const ofHome = Object.entries(tokens.central).filter(([caller]) => !caller.includes("another home"));
    const held = await heldBy(
      central,
      paths,
      ofHome.map(([, token]) => token),
    );
    expect([held.length > 5, (await stillHeld(central, held)).length > 5]).toEqual([true, true]);
    const followed = await openPages(central, paths, tokens.central.read);
    const telling = followed.filter(({ first }) => secrets.some((secret) => first.includes(secret)));
    expect(telling.length).toBeGreaterThan(2);
    restricted.central = await centralSite.token("--restricted");
    restricted.gateway = await site.token("--restricted");
    expect((await toldBy("central")).length).toBeGreaterThan(50);
    const done = await centralSite.answer("restrict", "--home", "12", ...reason, "--json", ...at);
    expect(done).toEqual({ restricted: [12] });
    expect(await toldBy("central")).toEqual([]);
    expect(await stillHeld(central, held)).toEqual([]);
    for (const { path, next } of telling) {
      const text = await next();
      expect([path, secrets.filter((secret) => text.includes(secret))]).toEqual([path, []]);
    }
    // It is there, says central's own staff: restricted, with nothing else of it.
    const [fleet] = await centralSite.answer("fleet", "--json", "--all", ...at);
    expect(fleet).toMatchObject({ homeid: 12, restricted: true, silent: [], needs: [] });
    expect(await centralSite.answer("items", "--json", ...at)).toEqual([]);
    const exported = join(centralSite.directory, "exported");
    const { code, said } = await centralSite.lintel("export", "--format", "csv", "--output", exported, ...at);
    expect([code, said]).toEqual([0, expect.stringContaining("restricted are left out")]);
    const files = readdirSync(exported, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    );
    const texts = files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1"));
    expect(secrets.filter((secret) => texts.some((one) => one.includes(secret)))).toEqual([]);

    expect((await site.lintel("upload", "--config", site.config)).code).toBe(0);
    expect(await toldBy("gateway")).toEqual([]);
    const { status, text: shown } = await ask(gateway, "GET", "/recorded", tokens.gateway.read);
    expect([status, shown]).toEqual([200, expect.stringContaining("is kept, and shown to nobody")]);
    const page = await ask(central, "GET", "/homes/:home/recorded", tokens.central.read);
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("is kept, and shown to nobody")]);
  });

  test("is seen by a token for that, and the journal has each request", async () => {
    const path = "/v0.9/homes/12/inventory/";
    const { told } = await ask(central, "GET", path, restricted.central);
    expect(told).toContain("Kitchen of Mabel");
    const pages = await ask(central, "GET", "/homes/:home", restricted.central);
    expect(pages.told).toContain("Kitchen of Mabel");
    const { journal } = await centralSite.answer("restrict", "--list", "--json", "--data", centralSite.data);
    const acts = journal.map(({ act, words }: { act: string; words: string }) => [act, words]);
    expect(acts).toEqual([
      ["restrict", "a letter"],
      ["use", `GET ${path}`],
      ["use", "GET /homes/12"],
    ]);
    const list = await centralSite.lintel("token", "list", "--data", centralSite.data);
    expect(list.out).toContain("also restricted homes");
  });

  test("is seen again once that is lifted, and its recording stays stopped", async () => {
    const at = ["--home", "12", "--data", centralSite.data];
    const resumed = await centralSite.lintel("resume", "--again", ...at);
    expect([resumed.code, resumed.said]).toEqual([2, expect.stringContaining("restricted")]);
    expect((await centralSite.lintel("restrict", "--lift", ...reason, ...at)).code).toBe(0);
    const { told } = await ask(central, "GET", "/v0.9/homes/:home/inventory/", tokens.central.read);
    expect(told).toContain("Kitchen of Mabel");
    expect((await site.lintel("upload", "--config", site.config)).code).toBe(0);
    const page = await ask(gateway, "GET", "/recorded", tokens.gateway.read);
    expect(page.told).toContain("Kitchen of Mabel");
    expect(page.text).toContain("the consent was withdrawn");
  });
});
