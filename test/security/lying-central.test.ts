import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";

/** A central server that lies to a gateway which uploads to it, and to a spare box that asks it for its home. */

const site = new Site({ commands: lintelHere });
const mark = `lintel-pwned-${process.pid}`;
/** The requests of the gateway: path, headers and body, decompressed. */
const sent: string[] = [];
const elsewhere: string[] = [];
let answer: (path: string) => Response = () => new Response(null, { status: 404 });
const central = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    const bytes = await request.bytes();
    const coding = request.headers.get("content-encoding");
    const body = Buffer.from(coding === "zstd" ? Bun.zstdDecompressSync(bytes) : bytes).toString("latin1");
    const { pathname, search } = new URL(request.url);
    sent.push(`${request.method} ${pathname}${search}\n${JSON.stringify([...request.headers])}\n${body}`);
    return answer(pathname.replace("/sync/v1", ""));
  },
});
const third = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    elsewhere.push(`${request.method} ${request.url} ${request.headers.get("authorization")}`);
    return Response.json({});
  },
});
const uploadToken = `abcdefghijkm.${"A".repeat(43)}`;
let readToken = "";

beforeAll(async () => {
  const tokenFile = join(site.directory, "upload-token");
  writeFileSync(tokenFile, uploadToken, { mode: 0o600 });
  writeFileSync(join(site.directory, "private-notes"), "never-leaves-this-box");
  site.configure({
    sections: [
      '[home]\nid = 12\ntimezone = "Europe/London"',
      `[upload]\nurl = "http://127.0.0.1:${central.port}"\ntoken_file = "${tokenFile}"`,
    ].join("\n"),
  });
  readToken = await site.token("--scope", "admin");
  const gateway = await site.run();
  await gateway.stop();
});
afterAll(async () => {
  await central.stop(true);
  await third.stop(true);
  await site.remove();
});

/** Commands as a central would give them if a gateway took any. */
const orders = {
  run: `touch ${join(tmpdir(), mark)}`,
  command: ["touch", join(tmpdir(), mark)],
  exec: `$(touch ${join(tmpdir(), mark)})`,
  read: ["/etc/passwd", "../private-notes"],
  files: ["../private-notes"],
  from_ms: 0,
};
const report = () => ({
  version: "9.9.9",
  now_ms: Date.now(),
  home: 12,
  epochs: [],
  held: [],
  noted: 0,
  ...orders,
});

test("a central that answers with orders or sends the gateway elsewhere has nothing run, and gets nothing but the uploads", async () => {
  const redirect = (status: number) => () =>
    new Response(null, { status, headers: { Location: `http://127.0.0.1:${third.port}/sync/v1/report` } });
  const lies: ((path: string) => Response)[] = [
    () => Response.json(report()),
    () => Response.json(orders),
    () => new Response(`<script>alert(1)</script>\n#!/bin/sh\ntouch ${join(tmpdir(), mark)}`),
    ...[301, 302, 303, 307, 308].map(redirect),
  ];
  for (const lie of lies) {
    answer = lie;
    expect((await site.lintel("upload", "--config", site.config)).code).not.toBe(0);
  }
  expect(elsewhere).toEqual([]);
  expect(existsSync(join(tmpdir(), mark))).toBe(false);
  expect(sent.length).toBeGreaterThanOrEqual(lies.length);
  for (const request of sent) {
    expect(request).toMatch(/^(GET|POST|PUT) \/sync\/v1\/(report|batches|verify|days|roster|backups)\b/);
    expect(request).toContain(uploadToken);
    for (const word of [readToken.split(".")[1] ?? "", "never-leaves-this-box", "root:x:", site.directory])
      expect(request).not.toContain(word);
  }
});

test("a spare box that is restored from it has no file but its own, whatever names and contents central gives", async () => {
  const files = (contents: Record<string, string>) =>
    Object.fromEntries(Object.entries(contents).map(([name, text]) => [name, btoa(text)]));
  const paths = [`../../${mark}`, join(tmpdir(), mark), `drivers/${mark}.sh`, "zigbee-network.json/../../x"];
  const broken = ["cursors.json", "admitted.json", "identities.json"];
  const gifts: [files: Record<string, string>, isTaken: boolean][] = [
    ...broken.flatMap((name): [Record<string, string>, boolean][] =>
      ["{", "[", "null", '{"epoch":1}'].map((text) => [files({ [name]: text }), false]),
    ),
    ...paths.map((path): [Record<string, string>, boolean] => [files({ [path]: "x" }), false]),
    [
      files({
        "..": "x",
        "lintel.toml": "data = '/'",
        [`${mark}.sh`]: "#!/bin/sh\n",
        "given-names.json": "{",
      }),
      true,
    ],
  ];
  let given: Record<string, string> = {};
  answer = (path) => {
    if (path === "/backups") return Response.json({ files: given });
    if (path === "/roster")
      return Response.json({ homes: [{ homeid: 12 }], erasures: [] }, { headers: { ETag: '"1"' } });
    if (path === "/history") return new Response(null, { status: 204 });
    return new Response(null, { status: 404 });
  };
  // Other tests of this machine make directories of their own beside this one.
  const outside = () => [...readdirSync(site.directory), existsSync(join(tmpdir(), mark))];
  const before = outside();
  for (const [files, isTaken] of gifts) {
    given = files;
    const restored = await site.lintel("restore", "--from-central", "--replace", "--config", site.config);
    expect([restored.code === 0, restored.said]).toEqual([isTaken, expect.any(String)]);
    // One line about central, and none about a fault of this program.
    if (!isTaken)
      expect(restored).toMatchObject({ code: 2, said: expect.stringMatching(/^lintel: .*central.*\n$/) });
    expect(outside()).toEqual(before);
    const inside = readdirSync(site.data, { recursive: true }).map(String);
    expect(inside.filter((name) => name.includes("pwned") || name.endsWith(".toml"))).toEqual([]);
  }
});
