/** Lives what its input names, a JSON line each, and answers each in a line. Run with disk.c preloaded, by workers.ts. */
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { liveConsent } from "./consent/life.ts";
import { consentPlanOf } from "./consent/plan.ts";
import { liveDevices } from "./devices/life.ts";
import { devicesPlanOf } from "./devices/plan.ts";
import { Disks } from "./disk.ts";
import { live } from "./life.ts";
import { planOf } from "./plan.ts";
import type { Job } from "./workers.ts";

const [library = "", below = ""] = process.argv.slice(2);
const root = mkdtempSync(`${below}/`);
const disks = new Disks(root, library);
process.on("SIGINT", () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const { seed, devices_days, consent, keep, trace } = JSON.parse(line) as Job;
  const say = (told: string) => process.stdout.write(`${JSON.stringify({ trace: told })}\n`);
  const onTrace = trace === true ? say : undefined;
  const lived =
    consent !== undefined
      ? await liveConsent(kept(consentPlanOf(seed, consent), keep), disks, onTrace)
      : devices_days === undefined
        ? await live(kept(planOf(seed), keep), disks, onTrace)
        : await liveDevices(kept(devicesPlanOf(seed, devices_days), keep), disks, onTrace);
  process.stdout.write(`${JSON.stringify({ lived })}\n`);
}
rmSync(root, { recursive: true, force: true });
process.exit();

/** The plan with some of its steps, by their places. */
function kept<Plan extends { readonly steps: readonly object[] }>(
  plan: Plan,
  keep?: readonly number[],
): Plan {
  const places = new Set(keep ?? plan.steps.keys());
  return { ...plan, steps: plan.steps.filter((_, place) => places.has(place)) };
}
