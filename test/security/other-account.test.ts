import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lintelHere } from "../../testbed/command-here.ts";
import { type RunningServer, Site } from "../../testbed/front-door.ts";

/** Somebody who has another account on the box. Only root can take another account's place, so others skip this. */

const setpriv = process.getuid?.() === 0 ? Bun.which("setpriv") : null;
const curl = Bun.which("curl");
const site = new Site({ commands: lintelHere });
let gateway: RunningServer;

beforeAll(async () => {
  if (setpriv === null) return;
  site.configure({ api: 'tls = "self-signed"', sections: '[home]\nid = 12\ntimezone = "Europe/London"' });
  const tokenFile = join(site.directory, "upload-token");
  writeFileSync(tokenFile, "secret", { mode: 0o600 });
  await site.token();
  gateway = await site.run();
  // The way to the data directory is open, as /var/lib is.
  chmodSync(site.directory, 0o755);
});
afterAll(async () => {
  await gateway?.stop();
  await site.remove();
});

/** Runs a command as nobody. */
function asNobody(...words: readonly string[]): { code: number; out: string } {
  const ran = Bun.spawnSync([setpriv ?? "", "--reuid=65534", "--regid=65534", "--clear-groups", ...words]);
  return { code: ran.exitCode, out: ran.stdout.toString() };
}

test.skipIf(setpriv === null || curl === null)(
  "another account reads no file of a running gateway and opens no joining by its socket",
  async () => {
    const files = readdirSync(site.data, { recursive: true }).map((name) => join(site.data, String(name)));
    expect(files.join()).toContain("lintel.db");
    expect(files.join()).toContain("tls-key.pem");
    for (const path of [...files, join(site.directory, "upload-token")]) {
      expect([path, asNobody("cat", path)]).toEqual([path, { code: 1, out: "" }]);
      expect([path, asNobody("sh", "-c", `echo x >> '${path}'`).code === 0]).toEqual([path, false]);
    }
    // Also where the directory had been opened to everybody.
    chmodSync(site.data, 0o755);
    const socket = join(site.data, "control.sock");
    for (const words of [["/status"], ["-X", "POST", "/joining?seconds=60"], ["-X", "DELETE", "/joining"]]) {
      const path = words.at(-1) ?? "";
      const asked = asNobody(
        curl ?? "",
        "-s",
        "--unix-socket",
        socket,
        ...words.slice(0, -1),
        `http://gateway${path}`,
      );
      expect([path, asked.out, asked.code === 0]).toEqual([path, "", false]);
    }
    const own = await fetch("http://gateway/status", { unix: socket });
    expect(await own.json()).toMatchObject({ joining: false });
  },
);
