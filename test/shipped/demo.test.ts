import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { eventually, type LintelProcess, type Ready, RunningServer, Site } from "../../testbed/front-door.ts";
import { testAtNight } from "../at-night.ts";
import { interruptedOnScreen, qrLines, readQr } from "../cli/qr-screen.ts";

const sensors = [
  ...["bedroom", "bathroom", "kitchen", "living", "hall"].map((room) => `${room}-wall`),
  ...["front-door", "fridge-door", "medicine-door"],
  ...[1, 2, 3, 4].map((place) => `hall-curtain-${place}`),
];
const items = {
  wirelesssensors: [...sensors, "balcony-door"],
  pillboxes: ["pillbox-morning", "pillbox-evening"],
  scales: ["scale-bathroom"],
  watches: ["watch-1"],
};

const site = new Site();
afterAll(() => site.remove());

/** The command of a demo on free ports, with these words behind it. */
function demoWords(...words: readonly string[]): string[] {
  return ["demo", "--port", "0", "--central-port", "0", ...words];
}

const temporary = join(site.directory, "tmp");
let demo: LintelProcess;
let gateway: RunningServer;
let ready: Ready & Record<"token" | "central_url", string>;

/** The HTML of a page, to whoever may read. */
async function pageOf(address: string): Promise<string> {
  const cookie = `lintel-${new URL(address).port}=${ready.token}`;
  return (await fetch(address, { headers: { accept: "text/html", cookie } })).text();
}

test("the demo serves a furnished flat with history, then live events", async () => {
  mkdirSync(temporary);
  demo = site.spawn(demoWords("--days", "8", "--json"), { TMPDIR: temporary });
  ready = JSON.parse((await demo.line()) ?? "");
  const started_s = Math.floor(Date.now() / 1000);
  expect(Object.keys(ready)).toEqual(["url", "dashboard", "token", "central_url", "admin_token"]);
  gateway = new RunningServer(demo, ready);

  // Furnished from the first answer on.
  const inventory = await gateway.records<unknown[]>("/inventory/wirelesssensors", ready.token);
  expect(inventory).toHaveLength(items.wirelesssensors.length);

  const history = await gateway.events("kitchen-wall", ready.token);
  expect(history.length).toBeGreaterThan(100);
  const stamps = history.map(({ stamp }) => stamp);
  expect(stamps).toEqual(stamps.toSorted((one, other) => other - one));

  for (const [name, paths, from_s] of live(started_s))
    await eventually(
      async () => {
        const stamps = paths.map(async (path) => {
          const newest = await gateway.get(`/items/${path}?limit=1`, ready.token);
          const [first] = (await newest.json()) as { stamp: number }[];
          return first?.stamp ?? 0;
        });
        return Math.max(...(await Promise.all(stamps))) >= from_s ? true : undefined;
      },
      `a live reading of ${name}`,
      { pause_ms: 100 },
    );
  for (const [kind, names] of Object.entries(items)) {
    const listed = await gateway.records<{ itemname: string }[]>(`/inventory/${kind}`, ready.token);
    expect([kind, listed.map(({ itemname }) => itemname)]).toEqual([kind, names]);
  }

  const before = `before=${started_s - 60}&limit=1000`;
  const copied = await eventually(
    async () => {
      const path = `${ready.central_url}/items/wirelesssensors/kitchen-wall/events?${before}`;
      const page = await fetch(path, {
        headers: { authorization: `bearer ${ready.token}`, accept: "application/json" },
      });
      const text = page.ok ? await page.text() : "[]";
      return text === "[]" ? undefined : text;
    },
    "the copy of central",
    { pause_ms: 100 },
  );
  const own = await gateway.get(`/items/wirelesssensors/kitchen-wall/events?${before}`, ready.token);
  expect(copied).toBe(await own.text());

  expect(await pageOf(`${gateway.origin}/recorded`)).toContain(new URL(ready.central_url).host);

  // The records of both are one set, also after an upload.
  for (const path of ["/homes/1/inventory", "/subjects/1/inventory", "/homes/1", "/subjects/1"]) {
    const headers = { authorization: `bearer ${ready.token}`, accept: "application/json" };
    const [one, other] = await Promise.all(
      [ready.url, ready.central_url].map(async (url) => (await fetch(`${url}${path}`, { headers })).text()),
    );
    expect([path, one]).toEqual([path, other]);
  }
});

test("central makes the same measures of the days that it has, walks on the lines of the configuration among them", async () => {
  // In the first hours of a day central does not have the end of the day before.
  const before = (Math.floor(Date.now() / 86_400_000) - 1) * 86_400;
  const headers = { authorization: `bearer ${ready.token}`, accept: "application/json" };
  for (const name of ["walks", "room_days", "doses", "nights", "weight_daily"]) {
    const of = async (url: string) =>
      (await fetch(`${url}/homes/1/derived/${name}?before=${before}&limit=1000`, { headers })).text();
    const own = await of(ready.url);
    expect([name, JSON.parse(own).length]).not.toEqual([name, 0]);
    expect([name, await of(ready.central_url)]).toEqual([name, own]);
  }
});

test("central has lived through the last nights of four homes, three of which need a visit", async () => {
  const homes = await pageOf(new URL(ready.central_url).origin);
  expect(homes).toContain("3 of 4 homes need a visit.");
  for (const name of ["balcony-door", "front-door-2", "bathroom-wall-2", "a spare gateway"])
    expect(homes).toContain(name);
});

test("sensors that lie unpacked join when somebody lets devices in, are heard, and one takes the place of the broken one", async () => {
  const data = join(temporary, readdirSync(temporary).find((name) => name.startsWith("lintel-demo-")) ?? "");
  const sensorsOf = () => gateway.records<{ itemname: string }[]>("/inventory/wirelesssensors", ready.token);
  // The demo lets its own sensors in first, and no two open joining at once.
  const pairing = await eventually(async () => {
    const pair = site.spawn(["pair", "--seconds", "100", "--json", "--data", data]);
    return (await pair.line())?.includes('"open"') ? pair : undefined;
  }, "joining is open");
  const all = await eventually(
    async () => {
      const found = await sensorsOf();
      return found.length === items.wirelesssensors.length + 5 ? found : undefined;
    },
    "five more sensors",
    { pause_ms: 200 },
  );
  pairing.kill("SIGINT");
  await pairing.exited;
  for (const { itemname } of all.slice(-5))
    await eventually(
      async () => ((await gateway.events(itemname, ready.token)).length > 0 ? true : undefined),
      `an event of ${itemname}`,
      { pause_ms: 100 },
    );
  const door = all.at(-5)?.itemname ?? "";
  expect(await pageOf(gateway.origin)).toMatch(/balcony-door<\/bdi> has not been heard for/);
  const { code, said } = await site.lintel("items", "replace", "balcony-door", door, "--data", data);
  expect({ code, said }).toEqual({ code: 0, said: "" });
  const home = await pageOf(gateway.origin);
  expect(home).not.toContain("has not been heard");
  expect(home).toContain("replaced by");
  expect(home).not.toContain(`<bdi>${door}</bdi>`);
});

test("a demo that is stopped leaves nothing behind, and had nothing to warn of", async () => {
  expect(await gateway.stop("SIGINT")).toBe(0);
  expect(await demo.rest()).toBe("");
  // On a machine too busy to answer a radio in time, its driver says so, and starts the radio again.
  const warnings = (await demo.said())
    .split("\n")
    .filter((line) => !line.endsWith("(trying again by itself)"));
  expect(warnings).toEqual([""]);
  expect(readdirSync(temporary)).toEqual([]);
});

/** Series of every kind, and from when on its readings cannot be history. */
function live(started_s: number): [name: string, paths: string[], from_s: number][] {
  return [
    ["the sensors", sensors.map((name) => `wirelesssensors/${name}/events`), started_s],
    ["the polled pill box", ["pillboxes/pillbox-morning/status"], started_s - 5],
    ["the broadcasting pill box", ["pillboxes/pillbox-evening/events"], started_s],
    ["the scale", ["scales/scale-bathroom/weights"], started_s],
    ["the heart", ["scales/scale-bathroom/heart"], started_s],
    // History ends eight hours back: the watch tells the rest.
    ["the watch", ["watches/watch-1/epochs"], started_s - 7.5 * 3600],
  ];
}

testAtNight(
  "a demo on kept data goes on where the last one ended: no event twice, nothing to warn of",
  async () => {
    const words = demoWords("--days", "3", "--data", join(site.directory, "again"), "--json");
    const told: string[][] = [];
    let doorsBefore: Record<string, number>[] = [];
    for (let run = 0; run < 2; run++) {
      const demo = site.spawn(words);
      const gateway = new RunningServer(demo, JSON.parse((await demo.line()) ?? ""));
      const started_s = Math.floor(Date.now() / 1000);
      const { token } = gateway.ready as unknown as { token: string };
      const all = async (path: string) =>
        (await (await gateway.get(`/items/${path}?limit=1000`, token)).json()) as Record<string, number>[];
      const polls = await eventually(
        async () => {
          const status = await all("pillboxes/pillbox-morning/status");
          const fresh = (status[0]?.["stamp"] ?? 0) >= Math.floor(Date.now() / 1000) - 10;
          return fresh && (run === 0 || status.length > (told[0]?.length ?? 0)) ? status : undefined;
        },
        "a poll",
        { pause_ms: 100 },
      );
      const counted = polls[0]?.["eventcount"] ?? 0;
      expect(counted).toBeGreaterThan(412);
      // The evening's box is first opened when the other devices have long told what they kept.
      await eventually(
        async () => {
          const [epoch] = await all("watches/watch-1/epochs");
          const evening = await all("pillboxes/pillbox-evening/events");
          const told = (epoch?.["stamp"] ?? 0) > Date.now() / 1000 - 7.5 * 3600;
          const dose = evening.some(({ event = 0, stamp = 0 }) => event > 0 && stamp >= started_s);
          return told && dose ? true : undefined;
        },
        "the watch's log and a dose",
        { pause_ms: 100 },
      );
      const doors = await all("pillboxes/pillbox-morning/events");
      if (run === 1) expect(doors).toEqual(doorsBefore);
      doorsBefore = doors;
      told.push(polls.map(({ stamp }) => String(stamp)));
      if (run === 1) expect(counted).toBeGreaterThanOrEqual(polls[1]?.["eventcount"] ?? Infinity);
      expect(await gateway.stop()).toBe(0);
      expect(await demo.said()).toBe("");
    }
  },
);

test("on a terminal's pipe it says how to look and ask, with links and a line that works when pasted", async () => {
  const demo = site.spawn(demoWords("--days", "1", "--data", join(site.directory, "kept")));
  const before: string[] = [];
  const line = await eventually(async () => {
    const text = (await demo.line()) ?? "";
    before.push(text);
    return text.includes("curl ") ? text : undefined;
  }, "a curl line");
  const links = before.flatMap((text) => text.match(/http:\/\/127\.0\.0\.1:\d+\/#token=\S+$/) ?? []);
  expect(links).toHaveLength(2);
  expect(line).toContain(new URL(links[0] ?? "").origin);
  expect(before.join("\n")).toContain(`pair --data ${join(site.directory, "kept")}`);
  const rest: string[] = [];
  await eventually(async () => {
    rest.push((await demo.line()) ?? "");
    return rest.at(-1)?.includes("Live") ? true : undefined;
  }, "the end of what it says first");
  const words = / fetch (--url .*)$/m.exec(Bun.stripANSI(rest.join("\n")))?.[1]?.split(" ") ?? [];
  expect(rest.join("\n")).toContain("/v0.9/docs");
  const output = join(site.directory, "fetched");
  const fetched = await site.lintel("fetch", ...words.with(-1, output));
  expect({ code: fetched.code, files: readdirSync(output).includes("README.md") }).toEqual({
    code: 0,
    files: true,
  });
  for (const link of links.map((text) => new URL(text))) {
    const authorization = `bearer ${link.hash.replace("#token=", "")}`;
    const headers = { authorization, accept: "application/json" };
    expect((await fetch(new URL("/v0.9/items", link), { headers })).status).toBe(200);
  }
  const pasted = Bun.spawnSync(["sh", "-c", line.replace("curl ", "curl --silent --fail ")]);
  // A machine without curl has Bun all the same, and the tests above.
  if (Bun.which("curl") !== null) expect(JSON.parse(pasted.stdout.toString())).toHaveLength(5);
  demo.kill("SIGTERM");
  expect(await demo.exited).toBe(0);
});

test("a terminal of a demo that phones reach shows the link as a QR code; of one that they do not, none", async () => {
  const shown = (...words: string[]) =>
    interruptedOnScreen(site, { columns: 100, rows: 60 }, demoWords("--days", "0", ...words), (text) =>
      text.includes("Live"),
    );
  const open = await shown("--listen", "0.0.0.0");
  const [home] = /http:\S+#token=[\w.-]+/.exec(Bun.stripANSI(open.join("\n"))) ?? [];
  // A machine in no network has no address for a phone.
  const alone = home?.startsWith("http://127.0.0.1:") ?? false;
  expect(readQr(open)).toBe(alone ? undefined : home);
  expect(qrLines(await shown())).toEqual([]);
});

test("a port that is taken is said in the words of the demo", async () => {
  const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  const { code, said } = await site.lintel("demo", "--port", String(other.port));
  other.stop(true);
  expect({ code, said }).toEqual({
    code: 2,
    said: `lintel: cannot listen on 127.0.0.1:${other.port}: another program has the port: stop that program, or set --port to another port, such as 0 for a free one\n`,
  });
});
