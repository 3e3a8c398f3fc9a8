import { expect, test } from "bun:test";
import { join } from "node:path";

test("memory is told where the process has no file descriptor left, which is when somebody asks", () => {
  const script = `
    import { openSync } from "node:fs";
    import { memoryMeter } from ${JSON.stringify(join(import.meta.dir, "../../src/base/machine-health.ts"))};
    const memory_bytes = memoryMeter();
    const open = [];
    try { for (;;) open.push(openSync("/dev/null", "r")); } catch {}
    let usual = "told";
    try { process.memoryUsage.rss(); } catch { usual = "failed"; }
    console.log(JSON.stringify({ usual, bytes: memory_bytes() }));`;
  const words = ["sh", "-c", 'ulimit -n 256 && exec "$0" -e "$1"', process.execPath, script];
  const { stdout, stderr } = Bun.spawnSync(words);
  const { usual, bytes } = JSON.parse(stdout.toString() || JSON.stringify({ usual: stderr.toString() }));
  expect(usual).toBe("failed");
  expect(bytes).toBeGreaterThan(10_000_000);
});
