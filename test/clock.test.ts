import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { SystemClock } from "../src/clock.ts";

test("processes of one boot share its name and, to a hundredth of a second, its monotonic time", () => {
  const clock = new SystemClock();
  const source = `
    import { readFileSync } from "node:fs";
import { SystemClock } from ${JSON.stringify(Bun.resolveSync("../src/clock.ts", import.meta.dir))};
    const clock = new SystemClock();
    console.log(JSON.stringify({ boot: clock.boot, monotonic_ms: clock.now().monotonic_ms }));
  `;
  const before_ms = clock.now().monotonic_ms;
  const uptime_ms = Number.parseFloat(readFileSync("/proc/uptime", "utf8")) * 1000;
  expect(before_ms - uptime_ms).toBeLessThanOrEqual(10);
  const child = Bun.spawnSync([process.execPath, "-e", source]);
  expect(clock.now().monotonic_ms).toBeGreaterThanOrEqual(uptime_ms - 10);
  const after_ms = clock.now().monotonic_ms;
  const other = JSON.parse(child.stdout.toString());
  expect(other.boot).toBe(clock.boot);
  expect(other.monotonic_ms).toBeGreaterThanOrEqual(before_ms - 10);
  expect(other.monotonic_ms).toBeLessThanOrEqual(after_ms + 10);
});
