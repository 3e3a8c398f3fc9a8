/**
 * Counts the bytes that a month of nightly looks for a release takes on the wire, and an update with and without Bun in it, by TLS
 *
 *   ./scripts/trials uploads updates [--nights 30]
 *
 * The packages are two of scripts/build, which takes some minutes. The box has another Bun than the first, and then that of the second. Each night it
 * reads the list of releases; the publisher signs that anew three times a month. Exits with 1 where an update ends otherwise than it should.
 */
import { realpathSync, rmSync, writeFileSync } from "node:fs";
import { join, normalize } from "node:path";
import { day_ms } from "../../../../src/base/time.ts";
import { issueCertificate } from "../../../../src/web/server/tls-certificate.ts";
import { architecture } from "../../../../testbed/updates/release-files.ts";
import { UpdatingBox } from "../../../../testbed/updates/updating-box.ts";
import { figuresText } from "../../../figures.ts";
import { optionsOf } from "../../../program-options.ts";
import { countingLine, onWire_bytes } from "./counting-line.ts";

const { nights } = optionsOf("./scripts/trials uploads updates [--nights 30]", { nights: 30 });
const scripts = normalize(join(import.meta.dir, "../../.."));
await using box = new UpdatingBox();
const { key, certificate } = issueCertificate({
  ...{ subject: "releases", names: ["127.0.0.1"], serial: crypto.getRandomValues(new Uint8Array(16)) },
  ...{ notBefore_ms: Date.now() - day_ms, notAfter_ms: Date.now() + day_ms },
});
const authority = join(box.site.directory, "authority.pem");
writeFileSync(authority, certificate);
await using server = Bun.serve({
  ...{ hostname: "127.0.0.1", port: 0, tls: { key, cert: certificate } },
  fetch: ({ url, headers }) => fetch(new URL(new URL(url).pathname, box.server.url), { headers }),
});
const line = await countingLine(server.port ?? 0);
const update = ["ring = 500", "trial_seconds = 60", "watch_seconds = 0", `directory = "${box.releases}"`];
box.site.configure({
  sections: `[update]\nmanifest = "https://127.0.0.1:${line.port}/releases"\n${update.join("\n")}`,
});
const ownBun = join(box.site.directory, "package/bun");
const bun = realpathSync(ownBun);
rmSync(ownBun);
writeFileSync(ownBun, `#!/bin/sh\nexec ${bun} "$@"\n`, { mode: 0o755 });
await box.boot();

/** Bytes on the wire of a run of the updater, which must end so. */
async function run(result: string): Promise<number> {
  const before = { ...line.sent };
  const { out, said } = await box.startUpdateBy(["env", `NODE_EXTRA_CA_CERTS=${authority}`]);
  if (!out.includes(`"${result}"`)) throw new Error(`the update is not ${result}: ${out}${said}`);
  const { up, down, connections } = line.sent;
  return onWire_bytes({
    ...{ up: up - before.up, down: down - before.down, connections: connections - before.connections },
  });
}

function publish(version: string): void {
  const out = join(box.site.directory, "built");
  const words = ["--arch", architecture, "--version", version, "--out", out];
  called([join(scripts, "build"), ...words, "--root", join(box.ledger, "root.json")]);
  const file = join(out, `lintel_${version}_${architecture}.deb`);
  // Not by the box's quick way: these are packed as people get them.
  called([join(scripts, "release"), "add", box.ledger, "--yes", "--ring", "500", file]);
}

function called(words: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync([...words]);
  if (exitCode !== 0) throw new Error(`${words[0]}: ${stderr.toString().slice(-500)}`);
}

publish("0.2.0");
const whole = await run("updated");
publish("0.3.0");
const without = await run("updated");
let looks = 0;
const { connections } = line.sent;
for (let night = 1; night <= nights; night += 1) {
  if (night % 10 === 0) box.list("refresh");
  looks += await run("newest");
}
line.stop();
console.log(
  figuresText({
    "MB of an update with another Bun, with IP and TCP": whole / 1e6,
    "MB of an update whose Bun the box has": without / 1e6,
    "nightly looks for a release": nights,
    "connections a look": (line.sent.connections - connections) / nights,
    "kB a look": looks / nights / 1_000,
    "MB of 30 looks": ((looks / nights) * 30) / 1e6,
  }),
);
