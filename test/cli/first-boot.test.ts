import { afterAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lintel, Site } from "../../testbed/front-door.ts";
import { linesOf } from "../../testbed/lines.ts";

const layout = join(import.meta.dir, "fake-systemd.sh");
const site = new Site();
const bin = join(site.directory, "bin");
mkdirSync(bin);
symlinkSync(lintel, join(bin, "lintel"));
const machine = Bun.spawn(
  ["unshare", "--mount", layout, bin, "sh", "-c", "echo ready; exec sleep infinity"],
  { stdout: "pipe", stderr: "ignore" },
);
const { value: ready } = await linesOf(machine.stdout).next();
if (ready === undefined) console.error("NOT TESTED: the first boot of a box, for want of mounts");

afterAll(async () => {
  const { pid } = await site.answer("status", "--json", "--data", site.data);
  if (pid !== undefined) process.kill(pid, "SIGKILL");
  machine.kill("SIGKILL");
  await machine.exited;
  await site.remove();
});

/** `lintel-first-boot.service`, once. */
async function firstBoot(file: string): Promise<{ code: number; out: string }> {
  const words = ["nsenter", `--target=${machine.pid}`, "--mount", lintel, "setup", "--once", "--file", file];
  const run = Bun.spawn(words, {
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: site.home },
    stdout: "pipe",
    stderr: "inherit",
  });
  return { out: await new Response(run.stdout).text(), code: await run.exited };
}

test.skipIf(ready === undefined)(
  "a file is done once the gateway serves; until then it says beside itself why not, and is used again",
  async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const [file, done, faults] = ["", ".done", ".faults"].map((kind) =>
      join(site.directory, `lintel-home${kind}.${kind === ".faults" ? "txt" : "toml"}`),
    ) as [string, string, string];
    const token = "abcdefghijkl.the-secret-of-home-12";
    writeFileSync(
      file,
      `data = "${site.data}"\n[home]\nid = 12\ntimezone = "UTC"\n[api]\nlisten = "127.0.0.1:${other.port}"\n[upload]\nurl = "http://127.0.0.1:1"\n[setup]\nupload_token = "${token}"\n`,
    );
    const files = () => [file, done, faults].map((path) => existsSync(path));

    expect((await firstBoot(file)).code).toBe(1);
    expect(files()).toEqual([true, false, true]);
    const said = readFileSync(faults, "utf8");
    expect(said).toContain(`[api] 127.0.0.1:${other.port} is taken by another program: stop that one`);
    expect(said).not.toContain(token);

    other.stop(true);
    expect((await firstBoot(file)).code).toBe(0);
    expect(files()).toEqual([false, true, false]);
    expect(readFileSync(done, "utf8")).not.toContain(token);
    expect(await site.answer("status", "--json", "--data", site.data)).toMatchObject({ running: true });
  },
);
