/**
 * A box behind a router that translates addresses is asked for things from afar: does it answer within 30 s, refuse what it should, and stay below 30 MB a month?
 *
 *   sudo ./scripts/trials remote [--minutes 12] [--reports 1]
 *
 * Box, router and central have network namespaces of their own; nobody outside can reach the box. The bytes are those of the box's network interface, with TLS, TCP and Ethernet. `--minutes` is for how long it is
 * left alone, `--reports` how many fault reports a day the month has. Needs iptables.
 */
import { Database } from "bun:sqlite";
import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Site } from "../../testbed/front-door.ts";
import { endWith, optionsOf } from "../program-options.ts";

const { minutes, reports } = optionsOf("sudo ./scripts/trials remote [--minutes 12] [--reports 1]", {
  minutes: 12,
  reports: 1,
});
const name = `lt${process.pid}`;
const [home, router, world] = [`${name}h`, `${name}r`, `${name}w`];
const box_address = "192.168.7.2";
const central_address = "10.9.0.1";
const faults: string[] = [];

function run(...words: string[]): string {
  const done = Bun.spawnSync(words);
  if (done.exitCode !== 0) throw new Error(`${words.join(" ")}: ${done.stderr}`);
  return done.stdout.toString();
}
const within = (namespace: string, ...words: string[]) => run("ip", "netns", "exec", namespace, ...words);

/** A home with a router that lets connections out and none in. */
function makeNetworks(): void {
  for (const namespace of [home, router, world]) run("ip", "netns", "add", namespace);
  const link = (one: string, other: string, [inside, outside]: [string, string], at: string) => {
    run(
      "ip",
      "link",
      "add",
      `${at}a`,
      "netns",
      one,
      "type",
      "veth",
      "peer",
      "name",
      `${at}b`,
      "netns",
      other,
    );
    within(one, "ip", "address", "add", `${inside}/24`, "dev", `${at}a`);
    within(other, "ip", "address", "add", `${outside}/24`, "dev", `${at}b`);
    within(one, "ip", "link", "set", `${at}a`, "up");
    within(other, "ip", "link", "set", `${at}b`, "up");
  };
  link(home, router, [box_address, "192.168.7.1"], "lan");
  link(world, router, [central_address, "10.9.0.2"], "wan");
  for (const namespace of [home, router, world]) within(namespace, "ip", "link", "set", "lo", "up");
  within(home, "ip", "route", "add", "default", "via", "192.168.7.1");
  within(router, "sysctl", "-qw", "net.ipv4.ip_forward=1");
  within(router, "iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "wanb", "-j", "MASQUERADE");
}

const siteIn = (namespace: string) =>
  new Site({
    program: [Bun.which("ip") ?? "ip", "netns", "exec", namespace, join(import.meta.dir, "../lintel")],
  });
const box = siteIn(home);
const central = siteIn(world);
const store = ["--data", central.data];
const keyFile = join(central.directory, "study.key");

/** Bytes that the box has received and sent. */
const bytes = () =>
  ["rx", "tx"]
    .map((way) => Number(within(home, "cat", `/sys/class/net/lana/statistics/${way}_bytes`)))
    .reduce((sum, one) => sum + one, 0);

async function send(line: string) {
  const file = join(central.directory, "request");
  writeFileSync(file, line);
  const began_ms = performance.now();
  const { out, said } = await central.lintel("remote", "send", file, ...store, "--json");
  return { said, seconds: (performance.now() - began_ms) / 1000, ...(out === "" ? {} : JSON.parse(out)) };
}

async function ask(...words: string[]) {
  const { out } = await central.lintel("remote", "sign", "12", ...words, "--key", keyFile, "--for", "2min");
  return send(out);
}

/** A line as `lintel remote sign` prints it, also of what that refuses to sign. */
function signed(request: string, key: KeyObject, { valid_ms = 60_000 } = {}): string {
  const fields = { home: 12, number: Date.now(), expires_ms: Date.now() + valid_ms, request };
  const text = JSON.stringify([
    "lintel remote 1",
    fields.home,
    fields.number,
    fields.expires_ms,
    request,
    null,
  ]);
  return JSON.stringify({ ...fields, signature: sign(null, Buffer.from(text), key).toString("base64") });
}

function expectThat(what: string, holds: boolean, seen: unknown): void {
  if (!holds) faults.push(`${what}: ${JSON.stringify(seen)}`);
  console.log(`  ${holds ? "yes" : "NO "}  ${what}`);
}

const figures: Record<string, number | string> = {};
makeNetworks();
try {
  await central.token();
  const server = await central.serve([
    ...["central", "--listen", central_address, "--port", "8443", "--json", "--tls", "self-signed"],
    ...["--tls-names", central_address, ...store],
  ]);
  const { key } = await central.answer("remote", "key", keyFile, "--json");
  const tokenFile = join(box.directory, "token");
  writeFileSync(tokenFile, await central.token("--scope", "sync", "--home", "12"), { mode: 0o640 });
  const certificate = join(central.data, "tls-certificate.pem");
  box.configure({
    sections: `[home]\nid = 12\n[upload]\nurl = "https://${central_address}:8443"\ntoken_file = "${tokenFile}"\ncertificate = "${certificate}"\n[remote]\nallow = ["status", "fault-report", "upload"]\nkeys = ["${key}"]`,
  });
  const gateway = await box.run();
  const reached = Bun.spawnSync([
    ...["ip", "netns", "exec", world, "timeout", "3", "bash", "-c"],
    `exec 3<>/dev/tcp/${box_address}/${new URL(gateway.origin).port}`,
  ]);
  expectThat("nobody outside can reach the box", reached.exitCode !== 0, reached.exitCode);

  const status = await ask("status");
  expectThat("a status is answered within 30 s", status.outcome === "done" && status.seconds < 30, status);
  const before_report = bytes();
  const report = await ask("fault-report");
  figures["bytes of a fault report"] = bytes() - before_report;
  expectThat(
    "a fault report is answered within 30 s",
    report.outcome === "done" && report.seconds < 30,
    report,
  );
  figures["seconds to a status"] = status.seconds;
  figures["seconds to a fault report"] = report.seconds;

  const study = createPrivateKey(readFileSync(keyFile));
  const forged = await send(signed("status", generateKeyPairSync("ed25519").privateKey));
  expectThat("a forged request is refused", forged.outcome === "refused", forged);
  const unlisted = await send(signed("shell", study));
  expectThat("an unlisted request is refused", unlisted.outcome === "refused", unlisted);
  const barred = await ask("blink");
  expectThat("one that the box does not allow is refused", barred.outcome === "refused", barred);
  // test/gateway/remote tries a central that hands it on all the same.
  const expired = await send(signed("status", study, { valid_ms: -1_000 }));
  expectThat("one that has expired is not handed on", expired.outcome === "unanswered", expired);
  const line = signed("status", study);
  await send(line);
  const again = await send(line);
  expectThat("one that is sent again is refused by central", /sign the request anew/.test(again.said), again);
  // Who has the database of central sends it again under another number.
  const database = new Database(join(central.data, "lintel.db"));
  const number = Date.now();
  database.run("UPDATE remote_requests SET number = ?, request = ?, answered_ms = NULL WHERE number = ?", [
    number,
    JSON.stringify({ ...JSON.parse(line), number }),
    JSON.parse(line).number,
  ]);
  let replayed: { outcome?: string } = {};
  for (let look = 0; look < 60 && replayed.outcome === undefined; look += 1) {
    await Bun.sleep(500);
    const listed = await central.answer("remote", "list", "--home", "12", "--json", ...store);
    replayed =
      listed.find((one: { request: { number: number } }) => one.request.number === number).answered ?? {};
  }
  database.close();
  expectThat(
    "one that is replayed by whoever holds central is refused",
    replayed.outcome === "refused",
    replayed,
  );
  const here = await box.answer("remote", "list", "--json", "--data", box.data);
  expectThat(
    "both ends have written it down",
    here.filter((one: { outcome: string }) => one.outcome === "refused").length >= 4,
    here,
  );

  console.log(`  the box is left alone for ${minutes} minutes`);
  const [before, began_ms] = [bytes(), performance.now()];
  await Bun.sleep(minutes * 60_000);
  const idle_a_day = ((bytes() - before) / (performance.now() - began_ms)) * 86_400_000;
  const month = 30 * (idle_a_day + reports * Number(figures["bytes of a fault report"]));
  figures["bytes a day without a request"] = Math.round(idle_a_day);
  figures[`MB in a month with ${reports} fault reports a day`] = Math.round(month / 10_000) / 100;
  expectThat("a month costs at most 30 MB", month <= 30_000_000, month);
  await gateway.stop();
  await server.stop();
} finally {
  await box.remove();
  await central.remove();
  for (const namespace of [home, router, world]) Bun.spawnSync(["ip", "netns", "del", namespace]);
}
endWith("remote", figures, faults);
