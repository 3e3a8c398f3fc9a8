import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Ground, type Job, LifeWorker, processEnded } from "./workers.ts";

/** Small wrong changes of the source, each a patch; lives of devices must find those in `devices/`, and lives of consent those in `consent/`. */
const folder = join(import.meta.dir, "planted");
const root = join(import.meta.dir, "../../../..");

export function plantedNames(): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".patch"))
    .map((name) => name.slice(0, -".patch".length))
    .sort();
}

/** Applies a patch to a directory that has the source. @throws where it does not fit */
export function plant(name: string, directory: string, { check = false } = {}): void {
  const patch = join(folder, `${name}.patch`);
  const words = ["git", "apply", ...(check ? ["--check"] : []), patch];
  // Outside of any repository, also where the directory lies in one.
  const env = { ...process.env, GIT_CEILING_DIRECTORIES: join(directory, "..") };
  const { exitCode, stderr } = Bun.spawnSync(words, { cwd: directory, env, stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${name}.patch does not fit the source: ${stderr.toString().trim()}`);
}

/** Lives seeds from 1 on in a copy of the source with a fault in it, until one breaks something. */
export async function findPlanted(
  name: string,
  ground: Ground,
  workers: number,
): Promise<{
  readonly broken?: string;
  readonly seed?: number;
  readonly lives: number;
  readonly ms: number;
}> {
  const copy = mkdtempSync(join(ground.directory, "copy-"));
  for (const part of ["src", "scripts", "testbed", "drivers", "docs", "package.json", "tsconfig.json"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  plant(name, copy);
  const started = performance.now();
  const { lives_max, ...job } = livesOf[dirname(name)] ?? nights;
  let found: { broken: string; seed: number } | undefined;
  let lives = 0;
  let next = 1;
  const work = async () => {
    const worker = new LifeWorker(ground, join(copy, "scripts/trial-programs/with-source/life/worker.ts"));
    while (found === undefined && next <= lives_max) {
      const seed = next;
      next += 1;
      const lived = await worker.live({ seed, ...job });
      lives += 1;
      if (lives === 1 && lived.digest === "" && lived.broken === processEnded)
        throw new Error(`with ${name} planted the program does not start`);
      if (lived.broken !== undefined) found ??= { broken: `seed ${seed}: ${lived.broken}`, seed };
    }
    await worker.end();
  };
  await Promise.all(Array.from({ length: workers }, work));
  rmSync(copy, { recursive: true, force: true });
  return { ...found, lives, ms: performance.now() - started };
}

/** Lives, and after how many of them a fault counts as not found: on a machine that has much to do these are as many. */
interface Search extends Omit<Job, "seed"> {
  readonly lives_max: number;
}

const nights: Search = { lives_max: 2_500 };
/** The lives that find a fault, by its folder. Short ones find most faults sooner. */
const livesOf: Readonly<Record<string, Search>> = {
  devices: { devices_days: 2, lives_max: 60 },
  consent: { consent: { homes: 2, days: 12 }, lives_max: 100 },
  // Of a month of a home that is erased in a later one.
  "consent/years": { consent: { homes: 1, days: 365 }, lives_max: 20 },
};
