import { afterAll, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, type RunningServer, Site } from "../../testbed/front-door.ts";
import { acting, actingLines, onTerminal } from "./terminal-words.ts";

/** Erases the screen, names the window, and is a formula. A sensor's interview has room for some 40 bytes of each. */
const model = "=cmd|'/C calc'!A0\u001b[2J\u001b]0;own\u0007";
/** Ends a line and begins one of the journal's, moves the cursor by C1, and turns letters around. */
const vendor = "Acme\r\n<3>all is lost\u009b31m\u202enedd\u2028ih";
/** The letters that are left of them. */
const plain = { model: "=cmd|'/C calc'!A0[2J]0;own", vendor: "Acme <3>all is lost31mnedd ih" };

describe("a sensor that tells a hostile model and maker", () => {
  const site = new Site();
  afterAll(() => site.remove());
  let gateway: RunningServer;
  let token = "";

  test("joins, and lintel pair shows one line of it", async () => {
    const stick = await site.simulator("zigbee");
    site.configure({ sections: stick.section });
    gateway = await site.run({ JOURNAL_STREAM: "8:1" });
    token = await site.token();
    await site.listening();
    const pair = site.spawn(["pair", "--seconds", "60", "--data", site.data]);
    const lines = [await pair.line()];
    const told = { identifier: model, manufacturer: vendor };
    const { ieee } = await stick.tell({ do: "add", model: "motion", ...told });
    expect(await stick.tell({ do: "join", ieee })).toMatchObject({ joined: true });
    const lamp = (await stick.tell({ do: "add", model: "lamp", ...told })) as { ieee: string };
    expect(await stick.tell({ do: "join", ieee: lamp.ieee })).toMatchObject({ joined: true });
    while (
      !(lines.some((line) => line?.includes("joined: ")) && lines.some((line) => line?.includes("could not")))
    ) {
      const line = await pair.line();
      if (line === undefined) throw new Error(await pair.said());
      lines.push(line);
    }
    pair.kill("SIGINT");
    const pairing = lines.join("\n");
    expect(pairing).toContain(`joined: ${plain.vendor} ${plain.model} wall`);
    expect(await pair.exited).toBe(0);
    expect(actingLines(pairing)).toEqual([]);
    await stick.tell({ do: "alarm", ieee });
  });

  test("is an item whose model and maker are plain lines, in the interface too", async () => {
    const [item] = await eventually(async () => {
      const found = await gateway.records<Record<string, unknown>[]>("/inventory/wirelesssensors", token);
      return found.length === 0 ? undefined : found;
    }, "the item");
    expect(item).toMatchObject({ modelname: plain.model, vendorname: plain.vendor });
  });

  test.each(["items", "status", "items --json", "status --json", "report"])(
    "does nothing to a terminal by lintel %s",
    async (words) => {
      const shown = await onTerminal(site, ...words.split(" "), "--data", site.data);
      expect(shown.length).toBeGreaterThan(40);
      expect(actingLines(shown)).toEqual([]);
      if (words.startsWith("items")) expect(shown).toContain(plain.model);
    },
  );

  test("is no formula in a CSV, and exact in NDJSON", async () => {
    const out = join(site.directory, "out");
    const file = join(site.directory, "token");
    writeFileSync(file, await site.token("--scope", "admin"));
    for (const format of ["csv", "ndjson"]) {
      const words = ["--url", gateway.url, "--token-file", file, "--output", out, "--format", format];
      expect((await site.lintel("fetch", "--identifiers", ...words)).code).toBe(0);
    }
    const csv = await Bun.file(join(out, "items.csv")).text();
    expect(csv).toContain(`,'${plain.model},`);
    expect(csv).not.toMatch(/(^|,)"?=/m);
    expect(actingLines(csv)).toEqual([]);
    const [item] = (await Bun.file(join(out, "items.ndjson")).text()).trimEnd().split("\n");
    expect(JSON.parse(item ?? "")).toMatchObject({ modelname: plain.model, vendorname: plain.vendor });
  });

  test("begins no line of the journal", async () => {
    expect(await gateway.stop()).toBe(0);
    const lines = (await gateway.process.said()).trimEnd().split("\n");
    expect(lines.filter((line) => !/^<[3-7]>\S/.test(line))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("<3>"))).toEqual([]);
    expect(lines.join("\n")).toContain("all is lost");
    expect(actingLines(lines.join("\n"))).toEqual([]);
  });
});

describe("a gateway that reports hostile words to central", () => {
  const site = new Site();
  afterAll(() => site.remove());
  const both = `${model}${vendor}`;
  const epoch = "0123456789abcdef0123456789abcdef";
  let central: RunningServer;
  let sync = "";

  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    fetch(`${central.origin}/sync/v1${path}`, {
      method: "POST",
      headers: { authorization: `bearer ${sync}`, "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  test("has its devices, listeners, version and failure taken as plain lines", async () => {
    central = await site.central("--data", site.data);
    sync = await site.token("--scope", "sync", "--home", "12");
    const now_ms = Date.now();
    const report = {
      version: both,
      now_ms,
      clock_synchronised: true,
      timezone: vendor,
      last_seq: 0,
      waiting: 0,
      disk_free_bytes: 1,
      bytes_on_disk: 1,
      dropped: { [model]: 3 },
      differing_days: 0,
      failure: both,
    };
    const device = { kind: "wirelesssensors", address: "00:0d:6f:00:00:00:00:01" };
    const condition = {
      devices: [{ ...device, subtype: vendor, model, vendor }],
      listeners: [{ name: vendor, first_ms: now_ms - 1e9, last_ms: now_ms - 5e8 }],
      states: [
        { device: 0, first_ms: now_ms - 1e9, heard_ms: now_ms - 5e8, listener: vendor, battery_percent: 3 },
      ],
      after_note: 0,
      to_note: 1,
      outages: [{ listener: vendor, start_ms: now_ms - 1e8, stop_ms: now_ms }],
      silences: [],
      gaps: [],
    };
    const answer = await post("/report", {
      epochs: [{ epoch, first_seq: 1, last_seq: 0 }],
      condition,
      report,
    });
    expect([answer.status, await answer.json()]).toMatchObject([200, { home: 12 }]);
    const fleet = await site.answer("fleet", "--json", "--data", site.data);
    expect(JSON.stringify(fleet)).toContain(plain.model);
    expect(actingTexts(fleet)).toEqual([]);
  });

  const commands = ["fleet --all", "fleet --json", "items", "items --json", "status", "token list"];
  test.each(commands)("does nothing to a terminal by lintel %s", async (words) => {
    const shown = await onTerminal(site, ...words.split(" "), "--data", site.data);
    expect(shown.length).toBeGreaterThan(20);
    expect(actingLines(shown)).toEqual([]);
  });

  test("gets no line of the log by a path, a Host, a header, a token or a body", async () => {
    for (const path of [`/v0.9/${encodeURIComponent(both)}`, `/${vendor}`, "/v0.9/items/\u001b[2J"])
      await rawRequest(
        central.origin,
        `GET ${path.replace(/[\r\n ]/g, "_")} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      );
    await rawRequest(central.origin, "GET / HTTP/1.1\r\nHost: a\u001b[2Jb\r\nConnection: close\r\n\r\n");
    await rawRequest(
      central.origin,
      `GET /v0.9/items HTTP/1.1\r\nHost: x\r\nAuthorization: bearer \u001b[2J\u009b\r\nAccept: \u001b[2J\r\nConnection: close\r\n\r\n`,
    );
    const wrong = await post("/report", { [both]: both });
    const home = await post("/report", {}, { "Lintel-Home": "\u001b[2J13" }).catch(() => undefined);
    for (const answer of [wrong, home]) expect(actingTexts(await answer?.json())).toEqual([]);
    await central.stop();
    const said = await central.process.said();
    expect(said).toContain("code 42204");
    expect(actingLines(said)).toEqual([]);
  });
});

describe("words of an operator's own files and arguments", () => {
  const site = new Site();
  afterAll(() => site.remove());

  test.each([
    ["a name of a token", ["token", "create", "\u001b[2J\u202e\nx", "--new"]],
    ["a file to import", ["import", "/nowhere/\u001b[2J\u009b\u202e.csv"]],
    ["a file whose name tells nothing", ["import", "\u001b[2J\u202e"]],
    ["an unknown command", ["\u001b[2J\u202e"]],
    ["an unknown option", ["items", "--\u001b[2J"]],
    ["a configuration", ["run", "--config", "/nowhere/\u001b]0;x\u0007"]],
    ["an address", ["fetch", "--url", "http://\u001b[2J\u202e/", "--token", "x"]],
    ["an item", ["report", "--item", "\u001b[2J\u202e"]],
  ])("of %s are plain in the line that quotes them", async (_, words) => {
    const { out, said } = await site.lintel(...words, "--data", site.data);
    expect(out + said).not.toBe("");
    expect(actingLines(`${out}\n${said}`)).toEqual([]);
  });

  test("of a configuration and a file of records are plain in its faults", async () => {
    const config = join(site.directory, "odd.toml");
    writeFileSync(
      config,
      `data = "${site.data}"\n[home]\ntimezone = "\\u001b[2J\\u202e\\u009b"\n["\\u001b]0;x"]\n`,
    );
    const ran = await site.lintel("run", "--config", config);
    expect(ran.code).toBe(2);
    const records = join(site.directory, "all.json");
    writeFileSync(
      records,
      JSON.stringify({ [model]: [], subjects: [{ subjectid: 1, lname: model, [vendor]: 1 }] }),
    );
    const taken = await site.lintel("import", records, "--data", site.data, "--new");
    expect(taken.code).toBe(2);
    expect(taken.said).toContain("subjects lname");
    expect(actingLines(`${ran.said}\n${taken.said}\n${taken.out}`)).toEqual([]);
  });
});

/** Texts anywhere in a value, names of fields too, with a character that acts. */
function actingTexts(value: unknown): string[] {
  if (typeof value === "string") return acting.test(value) ? [JSON.stringify(value)] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, of]) => [...actingTexts(name), ...actingTexts(of)]);
}

/** The answer of a server to bytes that no client would send. */
async function rawRequest(origin: string, text: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  const { promise, resolve } = Promise.withResolvers<void>();
  let answer = "";
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => {
        answer += bytes.toString();
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  socket.write(text);
  await promise;
  return answer;
}
