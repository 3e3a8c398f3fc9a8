/**
 * Lives the nights of simulated homes and their central, each from a seed: nothing acknowledged is lost, doubled or moved
 *
 *   ./scripts/trials life --seed 17 [--keep 3,9,12-14] [--trace]
 *   ./scripts/trials life --seeds 1..2500 [--workers 2]
 *   ./scripts/trials life --devices --seeds 1..6 [--days 10]
 *   ./scripts/trials life --consent --seeds 1..50 [--homes 4] [--days 365] [--postgres]
 *   ./scripts/trials life --planted [NAME or FOLDER]
 *
 * Ingest, stores, uploads and central are the real ones, in one process, on real SQLite. Clocks, network and disks are simulated: power cuts keep any part of
 * what was not synchronised. --devices lives homes from the bytes of their devices instead (life/devices). --seeds lives one life after the other and stops at the first that breaks something, which it shrinks to the fewest
 * steps. --planted changes the source in a small wrong way at a time (life/planted), and prints how long it took to be found. Needs cc, and Linux.
 */

import { postgresServer } from "../../../testbed/postgres/server.ts";
import { figuresText } from "../../figures.ts";
import { optionsOf } from "../../program-options.ts";
import { consentPlanOf } from "./life/consent/plan.ts";
import { devicesPlanOf } from "./life/devices/plan.ts";
import type { Lived } from "./life/diary.ts";
import { planOf } from "./life/plan.ts";
import { findPlanted, plantedNames } from "./life/planted.ts";
import { placesIn, placesText, shrink } from "./life/shrink.ts";
import { Ground, type Job, LifeWorker } from "./life/workers.ts";

const options = optionsOf(
  "./scripts/trials life --seed N [--keep PLACES] [--trace]\n./scripts/trials life --seeds A..B [--workers 2]\n./scripts/trials life --devices --seeds A..B [--days 10]\n./scripts/trials life --consent --seeds A..B [--homes 4] [--days 365] [--postgres]\n./scripts/trials life --planted [NAME or FOLDER]",
  {
    devices: false,
    consent: false,
    postgres: false,
    homes: 4,
    days: undefined,
    seed: undefined,
    seeds: undefined,
    keep: undefined,
    workers: 2,
    trace: false,
    planted: false,
  },
  ({ seed, seeds, planted }) => planted || seed !== undefined || seeds !== undefined,
  { allowPositionals: true },
);
const positionals = options.words;
const devices_days = Number(options.days ?? 10);
const consent = { homes: options.homes, days: Number(options.days ?? 365) };
/** The words of a command that say which lives are lived. */
const ofKind = options.devices
  ? ` --devices --days ${devices_days}`
  : options.consent
    ? ` --consent --homes ${consent.homes} --days ${consent.days}${options.postgres ? " --postgres" : ""}`
    : "";
/** Rows of the table of a range: the words, and the counts. */
const told = [
  ["home-nights", "nights"],
  ["readings", "readings"],
  ["power cuts", "cuts"],
  ["kills of a gateway or central", "kills"],
  ["uploads that ended well", "uploads"],
  ["uploads that failed", "failed uploads"],
  ["readings sent", "sent"],
  ["readings pruned", "pruned"],
  ["full disks", "full"],
  ["disks that fail to synchronise", "failingSync"],
  ["slow disks", "slow"],
  ["clocks that leap", "clock"],
  ["networks that fail", "networkFails"],
  ["networks that lose, repeat and cut", "troubled"],
  ["uploaders killed", "killUploader"],
  ["cards lost", "cards lost"],
  ["erasures", "erase"],
  ["devices that move", "move"],
  ["central restored from a backup", "central restored"],
  ["home-nights an hour", "rate"],
  ["lives in which something broke", "broken"],
] as const;
/** The same of lives of devices. */
const toldOfDevices = [
  ["days", "nights"],
  ["readings", "readings"],
  ["things that happened", "facts"],
  ["of which a reading must be there", "owed"],
  ["power cuts", "cut"],
  ["kills of the gateway", "kill"],
  ["restarts", "restart"],
  ["adapters pulled out", "unplug"],
  ["clocks that leap", "leap"],
  ["slow disks", "slow"],
  ["days an hour", "rate"],
  ["lives in which something broke", "broken"],
] as const;
/** The same of lives in which people ask that nothing is recorded. */
const toldOfConsent = [
  ["home-days", "nights"],
  ["readings", "readings"],
  ["of these owed by consent, and looked for", "asked"],
  ["of these owed at the end, and at central", "owed"],
  ["pauses at the box: by command, button, for a time, of a kind", "boxPauses"],
  ["resumed at the box", "resume"],
  ["pauses at central", "centralPause"],
  ["withdrawals of participants, and of their devices", "withdrawals"],
  ["enrollments that end at midnight", "ends"],
  ["uploads that ended well", "uploads"],
  ["uploads that failed", "failed uploads"],
  ["boxes without network", "networkFails"],
  ["power cuts", "cut"],
  ["clocks that leap", "leap"],
  ["cards lost", "cards lost"],
  ["spare boxes with an older backup", "backups restored"],
  ["central restored from a backup", "central restored"],
  ["homes restricted", "restrict"],
  ["homes erased at central", "erase"],
  ["boxes with [remote] that were told at once", "told"],
  ["looks at all bytes of a box and of central", "looks"],
  ["of these with pages, packages and the mirror", "looks at what is shown"],
  ["home-days an hour", "rate"],
  ["lives in which something broke", "broken"],
] as const;
/** Where nobody watches, a line of progress stands for so many lives. */
const lives_of_a_line = 100;
/** Programs that a power cut ends leave a megabyte each in the process that they were simulated in. */
const lives_of_a_process = 250;

using ground = new Ground();
if (options.planted) process.exitCode = (await plantAll()) ? 0 : 1;
else if (options.seed !== undefined) process.exitCode = (await one(Number(options.seed))) ? 0 : 1;
else process.exitCode = (await many(options.seeds as string)) ? 0 : 1;

/** One life, with each of its lines where they are wanted. */
async function one(seed: number): Promise<boolean> {
  const worker = new LifeWorker(ground);
  const keep = options.keep === undefined ? undefined : placesIn(options.keep);
  const job = { ...jobOf(seed), ...(keep && { keep }), trace: options.trace };
  const lived = await live(worker, job, (line) => console.log(line));
  await worker.end();
  console.log(`seed ${seed}, digest ${lived.digest}: ${lived.broken ?? "nothing broken"}`);
  console.log(countsText(lived.counts));
  return lived.broken === undefined;
}

/** Lives a life, with a database of its own where central is to be on PostgreSQL. */
async function live(worker: LifeWorker, job: Job, onTrace?: (line: string) => void): Promise<Lived> {
  if (!options.postgres || job.consent === undefined) return worker.live(job, onTrace);
  await using database = await (await postgresServer()).database();
  return await worker.live({ ...job, consent: { ...job.consent, database: database.url } }, onTrace);
}

function jobOf(seed: number): Job {
  return options.devices ? { seed, devices_days } : options.consent ? { seed, consent } : { seed };
}

/** Steps of the life of a seed, and nights of all its homes. */
function sizeOf(seed: number): { steps: number; nights: number } {
  if (options.devices) return { steps: devicesPlanOf(seed, devices_days).steps.length, nights: devices_days };
  const { steps, homes, days } = options.consent ? consentPlanOf(seed, consent) : planOf(seed);
  return { steps: steps.length, nights: homes * days };
}

/** Lives of a range of seeds. Interrupted, it says where it goes on. */
async function many(range: string): Promise<boolean> {
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(range) ?? [];
  if (from === undefined || to === undefined)
    throw new Error(`${range} is no range of seeds such as 1..2500`);
  const last = Number(to);
  const { nights } = sizeOf(Number(from));
  const counts: Record<string, number> = {};
  const underWay = new Set<number>();
  const started = performance.now();
  let next = Number(from);
  let done = 0;
  let stopped = false;
  let failed: number | undefined;
  process.on("SIGINT", () => {
    stopped = true;
  });
  const rate = () => Math.round((done * nights * 3_600_000) / (performance.now() - started));
  const line = () =>
    `${done * nights} ${options.devices ? "days" : "home-nights"} of ${done} seeds in ${((performance.now() - started) / 1_000).toFixed(0)} s, ${rate()} an hour`;
  const work = async () => {
    const worker = new LifeWorker(ground);
    for (let lives = 1; !stopped && failed === undefined && next <= last; lives += 1) {
      const seed = next;
      next += 1;
      underWay.add(seed);
      const lived = await live(worker, jobOf(seed));
      underWay.delete(seed);
      done += 1;
      for (const [name, count] of Object.entries(lived.counts)) counts[name] = (counts[name] ?? 0) + count;
      if (lived.broken !== undefined) {
        console.log(`\nseed ${seed}: ${lived.broken}`);
        failed ??= seed;
      }
      if (process.stdout.isTTY) process.stdout.write(`\r${line()} `);
      else if (done % lives_of_a_line === 0) console.log(line());
      if (lives % lives_of_a_process === 0) await worker.end();
    }
    await worker.end();
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  console.log(`${process.stdout.isTTY ? "\n" : ""}${line()}`);
  console.log(countsText(counts));
  const lived: Record<string, number> = {
    ...counts,
    nights: done * nights,
    rate: rate(),
    broken: failed === undefined ? 0 : 1,
  };
  console.log(
    figuresText(
      Object.fromEntries(
        (options.devices ? toldOfDevices : options.consent ? toldOfConsent : told).map(([name, key]) => [
          name,
          lived[key] ?? 0,
        ]),
      ),
    ),
  );
  if (failed !== undefined) await sayShrunk(failed);
  else if (stopped)
    console.log(`go on with ./scripts/trials life${ofKind} --seeds ${Math.min(next, ...underWay)}..${last}`);
  else console.log(`seeds ${range}: nothing broken`);
  return failed === undefined;
}

async function sayShrunk(seed: number): Promise<void> {
  const command = `./scripts/trials life${ofKind}`;
  console.log(`again with ${command} --seed ${seed}; looking for the fewest steps`);
  const worker = new LifeWorker(ground);
  const { steps } = sizeOf(seed);
  const { keep, broken } = await shrink(steps, (places) => live(worker, { ...jobOf(seed), keep: places }));
  await worker.end();
  if (broken === "") console.log("no step can be left out");
  else console.log(`${broken}\n${command} --trace --seed ${seed} --keep ${placesText(keep)}`);
}

async function plantAll(): Promise<boolean> {
  const isAsked = (name: string) =>
    positionals.length === 0 || positionals.some((asked) => name === asked || name.startsWith(`${asked}/`));
  const names = plantedNames().filter(isAsked);
  if (names.length === 0) throw new Error(`no planted fault is called ${positionals.join(" or ")}`);
  const figures: Record<string, string> = {};
  let missed = 0;
  for (const name of names) {
    const found = await findPlanted(name, ground, options.workers);
    if (found.broken === undefined) missed += 1;
    const minutes = (found.ms / 60_000).toFixed(1);
    console.log(
      found.broken === undefined
        ? `${name}: not found in ${minutes} minutes, ${found.lives} lives`
        : `${name}: ${minutes} minutes, ${found.lives} lives: ${found.broken.split("\n")[0]}`,
    );
    const by =
      found.seed === undefined ? `not found in ${minutes} minutes` : `${minutes} minutes, seed ${found.seed}`;
    figures[name.replaceAll("-", " ")] = by;
  }
  console.log(`${names.length - missed} of ${names.length} planted faults were found`);
  console.log(figuresText(figures));
  return missed === 0;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ");
}
