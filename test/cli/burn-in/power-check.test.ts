import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Clock, SystemClock } from "../../../src/base/clock.ts";
import { checkPower } from "../../../src/cli/burn-in/power-check.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";

let sys: string;
beforeEach(() => {
  sys = mkdtempSync(join(tmpdir(), "lintel-power-"));
});
afterEach(() => rmSync(sys, { recursive: true, force: true }));

function put(file: string, text: string): void {
  mkdirSync(dirname(join(sys, file)), { recursive: true });
  writeFileSync(join(sys, file), text);
}

const throttled = "devices/platform/soc/soc:firmware/get_throttled";
const heat = "class/thermal/thermal_zone0/temp";

/** The finding on a machine with these files; `later` has what happens after so many looks. */
function found(later: Readonly<Record<number, () => void>> = {}) {
  const system = new SystemClock();
  let looks = 0;
  const clock: Clock = {
    boot: "",
    now: () => system.now(),
    after: (_, action) => {
      looks += 1;
      later[looks]?.();
      queueMicrotask(action);
      return () => {};
    },
  };
  const terminal = { progress: () => {} } as unknown as Terminal;
  return checkPower({ directory: sys, clock, stop: new AbortController().signal, terminal }, sys);
}

test("a power supply that gives enough under load passes", async () => {
  put(throttled, "50000");
  put(heat, "61200");
  expect(await found()).toEqual({
    outcome: "passed",
    found: "The power supply gave enough for 60 s with work for every core, and the box became 61 °C hot.",
  });
});

test("a weak power supply is named, and when it was", async () => {
  put(throttled, "0");
  const weak = { outcome: "failed", found: "The power supply was too weak 12 s after every core had work." };
  expect(await found({ 12: () => put(throttled, "50005") })).toEqual(weak as never);
});

test("a box that slows itself down from heat is named", async () => {
  put(throttled, "0");
  const hot = { outcome: "failed", found: "The box was too hot 30 s after every core had work: 83 °C." };
  const later = () => {
    put(heat, "83000");
    put(throttled, "20004");
  };
  expect(await found({ 30: later })).toEqual(hot as never);
});

test("a machine that tells nothing of its power supply is not tried", async () => {
  const found_ = "this machine does not tell whether its power supply is too weak.";
  expect(await found()).toEqual({ outcome: "skipped", found: found_ });
});
