import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";

const site = new Site({ commands: lintelHere });
afterAll(() => site.remove());

interface Finding {
  readonly state: string;
  readonly text: string;
  readonly remedy?: string;
}

async function doctor(...words: string[]): Promise<{ code: number; findings: Finding[] }> {
  const { code, out } = await site.lintel("doctor", "--json", ...words);
  return { code, findings: JSON.parse(out) };
}

function faultsOf(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ state }) => state === "fault")
    .map(({ text, remedy }) => `${text}: ${remedy}`.replaceAll(site.directory, "<site>"));
}

test("each thing that is amiss is named with its remedy, and the exit code is 1", async () => {
  const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  writeFileSync(join(site.directory, "tls.crt"), "nonsense");
  site.configure({
    listen: `127.0.0.1:${other.port}`,
    api: 'tls_certificate = "tls.crt"\ntls_key = "tls.key"',
    sections: `[zigbee]\nport = "${site.directory}"\n[ble]\nport = "hci65000"\n`,
  });
  const { code, findings } = await doctor("--config", site.config);
  other.stop(true);
  expect(code).toBe(1);
  const faults = faultsOf(findings).join("\n");
  expect(faults).toMatch(/^\[zigbee\] <site> is not a serial port: set port to one of .*$/m);
  expect(faults).toMatch(/^\[ble\] there is no hci65000: plug it in, or set port to what is there \(.*\)$/m);
  expect(faults).toMatch(/^\[api\] 127\.0\.0\.1:\d+ is taken by another program: stop that one, .*$/m);
  expect(faults).toMatch(/^\[api\] <site>\/tls\.key cannot be read \(.*\): make it readable .*$/m);
  expect(findings).toContainEqual({
    state: "note",
    text: `data directory ${site.data} does not exist yet: it is made at the first start`,
  });
});

test("a configuration that does not parse is the first thing it says, and the only one", async () => {
  writeFileSync(site.config, "data = \n");
  const { code, findings } = await doctor("--config", site.config);
  expect(code).toBe(1);
  expect(findings).toHaveLength(1);
  expect(findings[0]?.text).toContain("is not valid TOML");
});

test("a gateway without a token is not fine; with one, running, all is", async () => {
  site.configure();
  const gateway = await site.run();
  const before = await doctor("--config", site.config);
  expect(faultsOf(before.findings)).toEqual([
    "there is no token: nobody can ask the API: make one with lintel token create NAME",
  ]);
  await site.token();
  const after = await doctor("--config", site.config);
  expect(faultsOf(after.findings)).toEqual([]);
  expect(after.code).toBe(0);
  const shown = await site.lintel("doctor", "--config", site.config);
  expect(shown.out).toContain(`✓ the gateway serves ${gateway.url} (process ${gateway.process.pid})`);
  expect(shown.out).toEndWith("All is fine.");
  await gateway.stop();
  const notes = after.findings.filter(({ state }) => state === "note").map(({ text }) => text);
  const warnings = (await gateway.process.said()).split("\n").filter((line) => line.includes(" clock"));
  const cautions = new SystemClock().cautions();
  expect(notes.filter((text) => text.includes(" clock"))).toEqual([...cautions]);
  expect(warnings).toEqual(cautions.map((caution) => expect.stringContaining(caution)));
});

test("at a central server it checks what a central needs, and nothing of a gateway", async () => {
  const data = ["--data", join(site.directory, "central")];
  const central = site.spawn(["central", "--port", "0", "--listen", "127.0.0.1", "--json", ...data]);
  await central.line();
  await site.lintel("token", "create", "home-12", "--scope", "sync", "--home", "12", ...data);
  const { code, findings } = await doctor(...data);
  central.kill("SIGTERM");
  await central.exited;
  const said = findings.map(({ text }) => text).join("\n");
  expect([code, said]).toEqual([0, expect.stringContaining("a central server keeps its data here")]);
  expect(said).toContain("1 of 1 tokens are accepted");
  expect(said).not.toMatch(/gateway|driver/);
});

/** As the user nobody, who may read this checkout wherever it is, and write nothing. */
const nobody = ["--reuid=65534", "--regid=65534", "--clear-groups"];
const reads = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"];

/** Does what a remedy says, as whoever may. */
function remedied(remedy: string) {
  const { success, stderr } = Bun.spawnSync(["sh", "-c", `sudo() { "$@"; }; ${remedy}`]);
  if (!success) throw new Error(`${remedy}: ${stderr}`);
}

describe.skipIf(process.getuid?.() !== 0)("a data directory that this user may not make or write", () => {
  const plain = new Site({ program: ["setpriv", ...nobody, ...reads, ...site.program] });
  chmodSync(plain.directory, 0o755);
  afterAll(() => plain.remove());
  const faults = async (data: string) => {
    plain.configure({ data });
    const { out } = await plain.lintel("doctor", "--json", "--config", plain.config);
    return (JSON.parse(out) as Finding[]).filter(
      ({ state, text }) => state === "fault" && /director|\/var\/lib/.test(text),
    );
  };

  test("is made by the remedy alone, and what others keep above it stays theirs", async () => {
    const shared = join(plain.directory, "shared");
    mkdirSync(join(shared, "dpkg"), { recursive: true });
    for (const path of [join(shared, "dpkg"), shared]) chownSync(path, 1, 1);
    chmodSync(shared, 0o755);
    const data = join(shared, "lintel");
    const [found] = await faults(data);
    expect(found?.text).toBe(
      `data directory ${data} does not exist, and nobody may not make it in ${shared}`,
    );
    expect(found?.remedy).not.toContain("chown");
    remedied(found?.remedy ?? "");
    expect(await faults(data)).toEqual([]);
    expect([shared, join(shared, "dpkg")].map((path) => statSync(path).uid)).toEqual([1, 1]);
  });

  test("has an owner, as whom doctor is to be run", async () => {
    const data = join(plain.directory, "theirs");
    mkdirSync(data);
    chmodSync(data, 0o700);
    chownSync(data, 1, 1);
    const [found] = await faults(join(data, "lintel"));
    expect(found?.text).toBe(`nobody may not look into the directory ${data}`);
    for (const closed of [...(await faults(data)), found])
      expect(closed?.remedy).toBe("run this as its owner: sudo -u '#1' lintel doctor");
  });

  test("is made by the remedy of lintel backup too, on a stick that is root's", async () => {
    const [data, stick] = [join(plain.directory, "its"), join(plain.directory, "stick")];
    mkdirSync(stick);
    await site.answer("token", "create", "test", "--new", "--json", "--data", data);
    Bun.spawnSync(["chown", "-R", "65534:65534", data]);
    const backup = () => plain.lintel("backup", join(stick, "lintel"), "--data", data);
    const { code, said } = await backup();
    expect([code, said]).toEqual([2, expect.stringContaining(`nobody may not write ${stick}/lintel: sudo`)]);
    remedied(/sudo install .*?(?= makes it)/.exec(said)?.[0] ?? "");
    expect((await backup()).code).toBe(0);
  });

  test("is no fault before setup, where systemd makes it", async () => {
    expect(await faults("/var/lib/lintel")).toEqual([]);
  });
});
