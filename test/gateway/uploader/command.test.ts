import { afterAll, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TCPSocketListener } from "bun";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { lintelHere } from "../../../testbed/command-here.ts";
import { eventually, Site } from "../../../testbed/front-door.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";
import { CentralProcess } from "../../../testbed/uploader-processes.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";
import { daysOfEvents } from "./programme.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-upload-command-"));
const central = await CentralProcess.start({ directory: join(directory, "central") }, directory);
const token = join(directory, "token");
writeFileSync(token, await central.token(7), { mode: 0o600 });
const url = `http://127.0.0.1:${central.port}`;
const sites: Site[] = [];
const listeners: TCPSocketListener<undefined>[] = [];
afterAll(async () => {
  for (const listener of listeners) listener.stop(true);
  for (const site of sites) await site.remove();
  await central.kill();
  rmSync(directory, { recursive: true, force: true });
});

/** A gateway's data with so many readings, and a configuration that uploads to `to`. */
async function site(count: number, to = url): Promise<Site> {
  const made = new Site({ commands: lintelHere });
  sites.push(made);
  const clock = new TravellingClock();
  const store = await openGatewayStore({
    directory: made.data,
    clock,
    log: keptLog().log,
    ...writerOfTests(),
  });
  if (count > 0) await store.append(daysOfEvents({ from_ms: Date.UTC(2026, 10, 1), days: 2, count }));
  await store.close();
  made.configure({ sections: `[upload]\nurl = "${to}"\ntoken_file = "${token}"` });
  return made;
}

/** Listens and never says a word. */
function silence(): string {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  listeners.push(listener);
  return `http://127.0.0.1:${listener.port}`;
}

test("upload and verify print what they did as JSON, beside a running gateway and without one", async () => {
  const home = await site(500);
  const gateway = await home.run();
  const upload = await home.lintel("upload", "--config", home.config, "--json");
  expect(upload).toEqual({
    code: 0,
    out: '{"sent":500,"confirmed_seq":500,"differing_days":0}',
    said: upload.said,
  });
  await gateway.stop();
  const words = ["--data", home.data, "--url", url, "--token-file", token];
  const verify = await home.lintel("verify", ...words, "--json");
  expect([verify.code, verify.out]).toEqual([0, '{"sent":0,"confirmed_seq":500,"differing_days":0}']);
  const { out } = await home.lintel("upload", ...words);
  expect(out).toBe("0 readings sent, central holds them up to number 500; no day differs.");
  const status = await home.lintel("status", "--config", home.config);
  expect(status.out).toMatch(/^Upload {2}last \d+ s ago, central holds every reading$/m);
});

test("a line of curtain sensors that a report has no place for does not keep the upload from central", async () => {
  const home = await site(10);
  const line = (name: string, first: string) =>
    `"${name}" = [${[first, "b", "c"].map((item, metres) => `{ item = "${item}", metres = ${metres} }`)}]`;
  const walking = ["[walking]", line("hall", "a"), line("n".repeat(201), "a"), line("long", "i".repeat(201))];
  home.configure({ sections: `[upload]\nurl = "${url}"\ntoken_file = "${token}"\n${walking.join("\n")}` });
  const upload = await home.lintel("upload", "--config", home.config, "--json");
  expect([upload.code, upload.out]).toEqual([0, '{"sent":10,"confirmed_seq":10,"differing_days":0}']);
});

test("a second upload on the same data says who is at it, and goes on once the first is gone, however it ended", async () => {
  const home = await site(10, silence());
  const first = home.spawn(["upload", "--config", home.config, "--json"]);
  await eventually(() => existsSync(join(home.data, "upload.pid")) || undefined, "the first upload's lock");
  const second = await home.lintel("upload", "--config", home.config, "--json");
  expect([second.code, second.out]).toEqual([2, ""]);
  expect(second.said).toBe(
    `lintel: another upload (process ${first.pid}) of ${home.data} is under way: wait until it has ended: it sends the same; journalctl -u lintel-upload shows how far it is\n`,
  );
  first.kill("SIGKILL");
  await first.exited;
  const third = await home.lintel(
    "upload",
    "--data",
    home.data,
    "--url",
    url,
    "--token-file",
    token,
    "--json",
  );
  expect([third.code, third.out]).toEqual([0, '{"sent":10,"confirmed_seq":10,"differing_days":0}']);
});

test("a signal ends an upload in order", async () => {
  const home = await site(10, silence());
  const upload = home.spawn(["upload", "--config", home.config]);
  await eventually(() => existsSync(join(home.data, "upload.pid")) || undefined, "the upload's lock");
  upload.kill("SIGTERM");
  expect(await upload.exited).toBe(130);
  expect(await upload.said()).toContain("Interrupted: what central has confirmed stays");
  const status = await home.lintel("status", "--config", home.config);
  expect(status.out).not.toContain("Upload");
});

test("central that cannot take it now is exit 1, said in status and told to central once it can", async () => {
  const full = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () =>
      Response.json({ message: "The disk is full" }, { status: 507, headers: { "retry-after": "0" } }),
  });
  const { port } = full;
  const home = await site(10, `http://127.0.0.1:${port}`);
  const upload = await home.lintel("upload", "--config", home.config, "--json");
  await full.stop(true);
  expect([upload.code, upload.out]).toEqual([1, ""]);
  const fault = `central at 127.0.0.1:${port} cannot take this now (it answers 507: The disk is full; 8 attempts)`;
  expect(upload.said.trim().split("\n").at(-1)).toContain(fault);
  const status = await home.lintel("status", "--config", home.config);
  expect(status.out).toMatch(/^Upload {2}none has ended well yet, 10 readings wait for the next$/m);
  expect(status.out).toContain(`ago: ${fault}`);
  const doctor = await home.lintel("doctor", "--config", home.config);
  expect(doctor.out).toContain("uploads: none has ended well yet, 10 readings wait for the next; failed");
});

test("what a person has to correct is one line and exit 2, and nothing has changed", async () => {
  const home = await site(10);
  const bad = join(home.directory, "bad");
  writeFileSync(bad, "not a token\nat all\n", { mode: 0o600 });
  const wrong = join(home.directory, "wrong");
  writeFileSync(wrong, "abcdefghijkl.wrong", { mode: 0o600 });
  const cases: [words: string[], said: string][] = [
    [["--data", home.data], "--data names a store and no central: give --url and --token-file too"],
    [
      ["--data", home.data, "--config", home.config],
      "--config and --data both name a store: give one of them",
    ],
    [["--config", home.config, "--token-file", "/nowhere"], "the token file /nowhere cannot be read"],
    [["--config", home.config, "--token-file", bad], `${bad} does not hold a token alone`],
    [["--config", home.config, "--token-file", wrong], "refuses the token: The access token is invalid"],
    [["--config", home.config, "--url", "ftp://central"], "ftp://central is not the address of a server"],
    [
      ["--config", home.config, "--url", `${url}/v0.9`],
      "is not a Lintel central server (it answers 404): check [upload] url",
    ],
    [["--config", home.config, "--bytes-per-second", "1"], "It must be a whole number from 1000"],
  ];
  for (const [words, said] of cases) {
    const { code, out, said: line } = await home.lintel("upload", ...words);
    expect([words, code, out]).toEqual([words, 2, ""]);
    expect(line).toContain(said);
    expect(line.trim().split("\n")).toHaveLength(1);
  }
  const bare = new Site({ commands: lintelHere });
  sites.push(bare);
  bare.configure();
  const { code, said } = await bare.lintel("upload", "--config", bare.config);
  expect([code, said]).toEqual([
    2,
    `lintel: ${bare.config} has no [upload]: this gateway sends nothing anywhere: add the section with url and token_file, as systemd/lintel.toml shows it\n`,
  ]);
});

test("a token of another home than the configuration names is refused before central notes anything of the box", async () => {
  const home = await site(10);
  const upload = async (id: number, ...words: string[]) => {
    home.configure({
      sections: `[home]\nid = ${id}\n[upload]\nurl = "${url}"\ntoken_file = "${token}"`,
    });
    return home.lintel("upload", "--config", home.config, ...words);
  };
  const { code, out, said } = await upload(8);
  expect([code, out]).toEqual([2, ""]);
  expect(said).toBe(
    `lintel: central at 127.0.0.1:${central.port} knows the token as another home's (The token is of home 7, and the gateway is in home 8): correct [home] id in the configuration, or write the token of this home into the token file\n`,
  );
  // Its own home's token finds the box unclaimed.
  const eight = join(directory, "token-8");
  writeFileSync(eight, await central.token(8), { mode: 0o600 });
  expect(await upload(8, "--token-file", eight)).toMatchObject({ code: 0 });
});

test("a token that everybody on the machine can read is warned of at every upload", async () => {
  const home = await site(1);
  const open = join(home.directory, "token");
  writeFileSync(open, await Bun.file(token).text());
  chmodSync(open, 0o644);
  home.configure({ sections: `[upload]\nurl = "${url}"\ntoken_file = "token"` });
  const { code, said } = await home.lintel("upload", "--config", home.config, "--json");
  expect(code).toBe(0);
  expect(said).toContain("can be read by every user of this machine");
});
