import { expect, onTestFinished, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makes } from "../../drivers/zigbee/simulator/makes.ts";
import { faultsOf, itemOf, letIn, restart } from "../../scripts/trial-programs/kills/restarting.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
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

const directions = makes.flatMap((from) =>
  makes.filter((to) => to !== from).map((to) => [from, to] as const),
);

for (const [from, to] of directions)
  testAtNight(
    `a home moves from a stick of ${from} to one of ${to}, and its sensor is heard as before`,
    async () => {
      const site = new Site();
      onTestFinished(() => site.remove());
      const old = await site.simulator("zigbee", "--adapter", from);
      site.configure({ sections: old.section });
      const gateway = await site.run();
      const token = await site.token();
      const [ieee = ""] = await letIn(site, old, ["3041"]);
      expect(await gateway.stop()).toBe(0);
      const pulledOut = join(site.directory, "pulled-out.json");
      writeFileSync(pulledOut, JSON.stringify((await old.tell({ do: "export" }))["state"]));
      await old.kill();
      const stick = await site.simulator("zigbee", "--adapter", to, "--devices", pulledOut);
      site.configure({ sections: stick.section });
      const moved = await site.run();
      await site.listening();
      expect(await stick.tell({ do: "notify", ieee, status: 0x33 })).toEqual({ ok: true, heard: true });
      const events = await eventually(async () => {
        const found = await moved.events(itemOf(ieee), token);
        return found.length === 0 ? undefined : found;
      }, "the event of the sensor");
      expect(events).toMatchObject([{ event: 0x33 }]);
      expect(await stick.tell({ do: "interviews", ieee })).toEqual({ ok: true, interviews: 0 });
      expect(await moved.stop()).toBe(0);
    },
  );

for (const make of otherMakes) {
  // By day test/drivers/zigbee asks the drivers of each make.
  (make === "ember" ? test : testAtNight)(
    `a sensor at a stick of ${make} joins, and all that it says is served, once, in order, through restarts`,
    async () => {
      const restarts = await restart(2, { make });
      for (const { first, last } of restarts.runs) expect(last - first).toBeGreaterThanOrEqual(20);
      expect(faultsOf(restarts)).toEqual([]);
    },
  );

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
