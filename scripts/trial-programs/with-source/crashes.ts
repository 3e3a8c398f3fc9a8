/**
 * Cuts the power at every moment of what the program does to its disk, and opens each state that the disk may have then: nothing acknowledged is lost
 *
 *   ./scripts/trials crashes [--states 20000] [--seed 1] [SCENE …]
 *
 * The program as people start it lives, uploads, is backed up, restored, erased and brought up to date, and each write, rename and fsync is recorded. After each of them
 * disks are made as they may be found: what was synchronised, any sectors of the rest, and any of the newest names. The real store opens them. Another --seed draws other
 * states; --keep DIR leaves the first one that breaks something there. Needs cc, and Linux from 5.19.
 */

import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { seeded } from "../../../testbed/sample.ts";
import { optionsOf } from "../../program-options.ts";
import { Nth } from "../faults/calls.ts";
import { HomeBefore } from "../faults/home.ts";
import { backup, replacement, restore } from "./crashes/copies.ts";
import { ReplayedDisk } from "./crashes/disk.ts";
import { firstStart, gateway, oldVersion } from "./crashes/living.ts";
import { central, erasure, upload } from "./crashes/nights.ts";
import { readRecording } from "./crashes/recording.ts";
import { Place, type Recorded, type Scene } from "./crashes/scene.ts";

const scenes: Readonly<Record<string, Scene>> = {
  gateway,
  "first-start": firstStart,
  "old-version": oldVersion,
  central,
  upload,
  erasure,
  backup,
  restore,
  replacement,
};
const options = optionsOf(
  `./scripts/trials crashes [--states 20000] [--seed 1] [--keep DIR] [${Object.keys(scenes).join("|")} …]`,
  { states: 20_000, seed: 1, keep: undefined },
  () => true,
  { allowPositionals: true },
);
const positionals = options.words;
const names = Object.keys(scenes).filter((name) => positionals.length === 0 || positionals.includes(name));
const ground = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "lintel-crashes-"));
using nth = new Nth();
const made: Promise<HomeBefore>[] = [];
/** A home that is set up when it is first asked for. */
const home = (options: { doors?: number; apart_ms?: number } = {}) => {
  let set: Promise<HomeBefore> | undefined;
  return () => {
    if (set === undefined) {
      set = HomeBefore.make(options);
      made.push(set);
    }
    return set;
  };
};
const homes = {
  small: home({ doors: 20 }),
  large: home(),
  old: home({ doors: 1_440, apart_ms: (200 * 86_400_000) / 1_440 }),
};
/** Characters of what is wrong with a state. */
const said_max = 400;
const rows: string[] = [];
let broken = 0;
try {
  for (const name of names) {
    await using place = new Place(nth);
    const judge = await (scenes[name] as Scene)(place, homes);
    await look(name, await place.recorded(judge));
  }
} finally {
  for (const one of made) (await one).remove();
  rmSync(ground, { recursive: true, force: true });
}
console.log("| what is done | calls on the disk | crash states | broken |\n|---|---:|---:|---:|");
for (const row of rows) console.log(row);
process.exitCode = broken === 0 ? 0 : 1;

/** Opens states of the disk after each call of a recording. */
async function look(name: string, { before, recording, disk, owed, judge }: Recorded): Promise<void> {
  const calls = readRecording(recording, disk);
  const states = Math.ceil(options.states / names.length);
  const replayed = new ReplayedDisk(before);
  let opened = 0;
  let found = 0;
  for (const [place, call] of [undefined, ...calls].entries()) {
    if (call !== undefined) replayed.do(call);
    const next_ms = calls[place]?.at_ms ?? Number.POSITIVE_INFINITY;
    const owes = (what: string) =>
      Math.max(
        0,
        ...owed.filter((one) => one.what === what && one.at_ms < next_ms).map(({ count }) => count),
      );
    // As many after each call as the number of states allows.
    const wanted = Math.floor(((place + 1) * states) / (calls.length + 1));
    for (; opened < wanted; opened += 1) {
      const into = join(ground, "disk");
      mkdirSync(into);
      replayed.image(seeded(options.seed * 1_000_003 + opened), into);
      try {
        await judge(into, owes);
      } catch (thrown) {
        found += 1;
        if (options.keep !== undefined && !existsSync(options.keep))
          cpSync(into, options.keep, { recursive: true });
        const { name: kind, message, stack } = thrown as Error;
        console.log(
          `${name}, state ${opened} after call ${place} (${call?.kind} ${call?.path}): ${(kind === "Broken" ? message : (stack ?? "")).slice(0, said_max)}`,
        );
      }
      rmSync(into, { recursive: true });
    }
  }
  broken += found;
  console.log(`${name}: ${opened} states of ${calls.length} calls, ${found} broken`);
  rows.push(`| ${name} | ${calls.length} | ${opened} | ${found} |`);
}
