import { expect, test } from "bun:test";
import { join } from "node:path";
import { faultsOf, restart } from "../../scripts/trial-programs/kills/restarting.ts";
import { testAtNight } from "../at-night.ts";

/** Makes of sticks besides Z-Stack, with which all other tests run. */
const otherMakes = ["ember", "deconz"];

/** Tests of this folder that have a Zigbee stick, of the make that LINTEL_TEST_STICK names. */
const zigbeeTests = [
  "any-sensor",
  "damaged",
  "gpio",
  "identity",
  "mesh",
  "missing-adapter",
  "other-network",
  "restarts",
  "restore",
  "strangers-words",
  "stray-request",
  "whole-home",
  "zigbee",
];

for (const make of otherMakes) {
  test(`a sensor at a stick of ${make} joins, and all that it says is served, once, in order, through restarts`, async () => {
    const restarts = await restart(2, { make });
    for (const { first, last } of restarts.runs) expect(last - first).toBeGreaterThanOrEqual(20);
    expect(faultsOf(restarts)).toEqual([]);
  });

  testAtNight(`every Zigbee test of this folder passes with a stick of ${make}`, async () => {
    const files = zigbeeTests.map((name) => join(import.meta.dir, `${name}.test.ts`));
    const run = Bun.spawn([process.execPath, "test", "--timeout", "600000", ...files], {
      cwd: join(import.meta.dir, "../.."),
      env: { ...process.env, LINTEL_TEST_STICK: make },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [said, code] = await Promise.all([run.stderr.text(), run.exited, run.stdout.text()]);
    expect({ code, failed: said.split("\n").filter((line) => line.startsWith("(fail)")) }).toEqual({
      code: 0,
      failed: [],
    });
  });
}
