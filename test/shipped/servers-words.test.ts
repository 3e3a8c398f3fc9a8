import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Site } from "../../testbed/front-door.ts";
import { actingLines, onTerminal } from "./terminal-words.ts";

const hostile = "=cmd|'/C calc'!A0\u001b[2J\u001b]0;own\u0007\r\n<3>all is lost\u009b31m\u202enedd\u2028ih";
const plain = "=cmd|'/C calc'!A0[2J]0;own <3>all is lost31mnedd ih";

const servers: Bun.Server<undefined>[] = [];
afterAll(() => {
  for (const server of servers) server.stop(true);
});

/** A server that answers every request by its path and method. */
function answering(answer: (path: string, request: Request) => Response): string {
  const fetch = (request: Request) => answer(new URL(request.url).pathname, request);
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

describe("a central server that answers with hostile words", () => {
  const site = new Site();
  afterAll(() => site.remove());
  let status = 500;
  let body: object = {};
  const url = answering(() => Response.json(body, { status, headers: { Location: "http://x/%1b[2J" } }));

  beforeAll(async () => {
    const token = join(site.directory, "upload-token");
    writeFileSync(token, `abcdefghijkm.${"A".repeat(43)}`, { mode: 0o600 });
    site.configure({ sections: `[home]\nid = 12\n[upload]\nurl = "${url}"\ntoken_file = "${token}"` });
    const gateway = await site.run();
    await gateway.stop();
  });

  test.each([
    [401, { code: 40103, message: hostile }],
    [404, { code: 1, message: hostile }],
    [409, { code: 40902, message: hostile, reason: "foreign", held_seq: 0 }],
    [409, { code: 40902, message: hostile, reason: hostile, held_seq: 0 }],
    [422, { code: 42204, message: hostile }],
    [302, {}],
    [200, { home: 12, now_ms: 0, version: hostile, epochs: hostile }],
    [200, { [hostile]: hostile }],
  ])("%i: upload ends with a plain line, and status shows one", async (said, told) => {
    [status, body] = [said, told];
    const upload = await site.lintel("upload", "--config", site.config);
    expect(upload.code).not.toBe(0);
    expect(actingLines(`${upload.said}\n${upload.out}`)).toEqual([]);
    expect(actingLines(await onTerminal(site, "upload", "--config", site.config))).toEqual([]);
    expect(actingLines(await onTerminal(site, "status", "--config", site.config))).toEqual([]);
    expect(actingLines(await onTerminal(site, "status", "--json", "--config", site.config))).toEqual([]);
  });

  test("its letters are there, so that somebody can find out", async () => {
    [status, body] = [422, { code: 42204, message: hostile }];
    const { said } = await site.lintel("upload", "--config", site.config);
    expect(said).toContain(plain);
    expect((await site.lintel("status", "--config", site.config)).out).toContain("all is lost");
  });
});

describe("a server that hands out hostile records", () => {
  const site = new Site();
  afterAll(() => site.remove());
  const item = {
    itemid: 1,
    itemname: hostile,
    serialnum: hostile,
    macaddress: null,
    modelid: null,
    modelname: hostile,
    subjectspecific: null,
    vendorid: null,
    vendorname: null,
    typeid: 2,
    typename: "wirelesssensors",
    subtypeid: null,
    subtypename: "null",
    currenthomeid: null,
    currenthomestart: null,
    active: 0,
    activename: "Inactive",
    statusid: null,
    statusname: null,
    batterymonths: null,
    lastbatterychange: "null",
    hasbatteries: null,
  };
  const url = answering((path, { url }) => {
    if (path.endsWith("/token")) return Response.json({ scope: "admin", bound: false, leftout: [] });
    if (path.endsWith("/items")) return Response.json([{ typeid: 2, typename: "wirelesssensors", count: 1 }]);
    if (path.endsWith("/inventory/wirelesssensors")) return Response.json([item]);
    if (/\/(inventory\/\w+|homes|subjects|projects|studies|issues|consents)\/?$/.test(path))
      return Response.json([]);
    if (path.endsWith("/events"))
      return Response.json([{ stamp: 1, event: 2, homeid: null, clock: "synchronised" }], {
        headers: { Link: `<${url}?since=x>; rel="next"` },
      });
    return Response.json({ code: 1, message: hostile }, { status: 404 });
  });

  test.each(["csv", "ndjson", "parquet"])(
    "does nothing to the terminal of lintel fetch, nor to one that shows the files: %s",
    async (format) => {
      const out = join(site.directory, format);
      const words = [
        "fetch",
        "--url",
        url,
        "--token",
        "x",
        "--output",
        out,
        "--format",
        format,
        "--identifiers",
      ];
      const { code, said, out: printed } = await site.lintel(...words);
      expect([code, said]).toEqual([0, expect.any(String)]);
      expect(actingLines(`${said}\n${printed}`)).toEqual([]);
      expect(actingLines(await onTerminal(site, ...words.with(6, `${out}-again`)))).toEqual([]);
      const names = readdirSync(out).filter((name) => name.endsWith(format));
      expect(names).toContain(`items.${format}`);
      if (format === "parquet") return;
      for (const name of names) {
        const text = await Bun.file(join(out, name)).text();
        // A cell of several lines stays one, in quotes.
        expect([name, actingLines(text.replaceAll("\r\n", "\n"))]).toEqual([name, []]);
        expect(text).not.toMatch(/(^|,)"?=/m);
      }
      if (format === "ndjson") {
        const [line = ""] = (await Bun.file(join(out, "items.ndjson")).text()).split("\n");
        expect(JSON.parse(line)).toEqual({ ...item, subtypename: null, lastbatterychange: null });
      }
    },
  );

  test("does nothing to it by an address, a token or a certificate that is none", async () => {
    const file = join(site.directory, "token");
    writeFileSync(file, `\u001b[2J\r\nX-Header: 1\u009b`);
    for (const words of [
      ["--url", url, "--token-file", file],
      ["--url", "http://\u001b[2J\u202e/", "--token", "x"],
      ["--url", url, "--token", hostile],
      ["--url", url.replace("http", "https"), "--token", "x", "--certificate", file],
      ["--url", url, "--token-file", `${file}\u001b[2J`],
    ]) {
      const { code, said, out } = await site.lintel(
        "fetch",
        ...words,
        "--output",
        join(site.directory, "none"),
      );
      expect([words, code]).toEqual([words, 2]);
      expect(actingLines(`${said}\n${out}`)).toEqual([]);
    }
  });
});
