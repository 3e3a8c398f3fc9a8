/** Lives what its input names, a JSON line each, and answers each in a line. Run with disk.c preloaded, by workers.ts. */
import { mkdtempSync, rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { Disks } from "./disk.ts";
import { live } from "./life.ts";
import { planOf } from "./plan.ts";
import type { Job } from "./workers.ts";

const [library = "", below = ""] = process.argv.slice(2);
const root = mkdtempSync(`${below}/`);
const disks = new Disks(root, library);
process.on("SIGINT", () => undefined);
for await (const line of createInterface({ input: process.stdin })) {
  const { seed, keep, trace } = JSON.parse(line) as Job;
  const plan = planOf(seed);
  const kept = new Set(keep ?? plan.steps.keys());
  const steps = plan.steps.filter((_, index) => kept.has(index));
  const say = (told: string) => process.stdout.write(`${JSON.stringify({ trace: told })}\n`);
  const lived = await live({ ...plan, steps }, disks, trace === true ? say : undefined);
  process.stdout.write(`${JSON.stringify({ lived })}\n`);
}
rmSync(root, { recursive: true, force: true });
process.exit();
