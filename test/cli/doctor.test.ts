import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { Site } from "../../testbed/front-door.ts";

const site = new Site();
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
