/**
 * Has the Nth write, fsync, open, read or rename of the program fail, for each N until there are no more: it ends healthy or stops clearly, and a restart heals it
 *
 *   ./scripts/trials faults [PLACE …] [--results FILE] [--every 1] [--workers 2]
 *
 * Of the program as people start it: gateway, upload, central, backup, restore, update. A PLACE is gateway, gateway/write, gateway/write/EIO or
 * gateway/write/EIO/7; without one all are tried. --results keeps what was tried in a file, and goes on from it; --every 9 tries each ninth N. Needs cc, and Linux from 5.19.
 */

import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { optionsOf } from "../program-options.ts";
import { backupPart, restorePart } from "./faults/backup.ts";
import { faultsOf, type Given, Nth } from "./faults/calls.ts";
import { gatewayPart } from "./faults/gateway.ts";
import { HomeBefore } from "./faults/home.ts";
import { Broken, Machine, type Part, type Tried } from "./faults/part.ts";
import { updatePart } from "./faults/update.ts";
import { centralPart, uploadPart } from "./faults/upload.ts";

const options = optionsOf(
  "./scripts/trials faults [PART[/CALL[/ERROR[/N]]] …] [--results FILE] [--every 1] [--workers 2]",
  { results: undefined, every: 1, workers: 2 },
  () => true,
  { allowPositionals: true },
);
const { every, words: positionals } = options;

/** A trial and what came of it; `broken` is what never may be. */
interface Result extends Partial<Tried> {
  readonly place: string;
  readonly given: Given | undefined;
  readonly broken?: string;
}

const parts: Readonly<Record<string, (home: HomeBefore) => Promise<Part>>> = {
  gateway: gatewayPart,
  upload: uploadPart,
  central: centralPart,
  backup: backupPart,
  restore: restorePart,
  update: updatePart,
};
const isWanted = (place: string) =>
  positionals.length === 0 ||
  positionals.some((one) => `${place}/`.startsWith(`${one}/`) || `${one}/`.startsWith(`${place}/`));
/** N are tried in order until so many calls were not there; more is a fault of the trial itself. */
const nth_max = 20_000;

const results = new Map<string, Result>();
if (options.results !== undefined && existsSync(options.results))
  for (const line of readFileSync(options.results, "utf8").trimEnd().split("\n")) {
    const result = JSON.parse(line) as Result;
    results.set(result.place, result);
  }
if (options.results !== undefined) mkdirSync(dirname(options.results), { recursive: true });
let stopped = false;
process.on("SIGINT", () => {
  stopped = true;
});
using nth = new Nth();
const home = await HomeBefore.make();
try {
  for (const [name, make] of Object.entries(parts)) {
    if (!isWanted(name) || stopped) continue;
    const part = await make(home);
    for (const [call, errors] of Object.entries(faultsOf))
      for (const error of errors)
        if (isWanted(`${name}/${call}/${error}`)) await sweep(part, `${name}/${call}/${error}`);
    await part.close();
  }
} finally {
  home.remove();
}
sayTable();
const broken = [...results.values()].filter((one) => one.broken !== undefined);
for (const { place, broken: what } of broken) console.error(`${place}: ${what}`);
process.exitCode = broken.length > 0 || stopped ? 1 : 0;

/** Tries N after N of a call and an error, until there are fewer calls. */
async function sweep(part: Part, of: string): Promise<void> {
  let next = 1;
  let clean = false;
  let tried = 0;
  const work = async () => {
    while (!clean && !stopped && next <= nth_max) {
      const number = next;
      next += every;
      const place = `${of}/${number}`;
      if (!isWanted(place)) continue;
      const result = results.get(place) ?? (await once(part, place));
      tried += 1;
      if (result.given !== undefined && result.given.calls < number) clean = true;
    }
  };
  await Promise.all(Array.from({ length: options.workers }, work));
  console.log(`${of}: ${tried} tried`);
}

async function once(part: Part, place: string): Promise<Result> {
  const [, call, error, number] = place.split("/");
  const fault = { call: call as keyof typeof faultsOf, error: error as string, nth: Number(number) };
  await using machine = new Machine(nth, fault);
  let outcome: Tried | { broken: string };
  try {
    outcome = await part.run(machine);
  } catch (thrown) {
    const broken = thrown instanceof Broken ? thrown.message : `the trial failed: ${(thrown as Error).stack}`;
    outcome = { broken };
    console.log(`${place} (${machine.given?.path}): ${broken}`);
  }
  const result = { place, given: machine.given, ...outcome };
  results.set(place, result);
  if (options.results !== undefined) appendFileSync(options.results, `${JSON.stringify(result)}\n`);
  return result;
}

function sayTable(): void {
  console.log(
    "| part | call | errors | N tried | healthy | went on with a warning | stopped clearly | broken |",
  );
  console.log("|---|---|---|---:|---:|---:|---:|---:|");
  for (const name of Object.keys(parts))
    for (const call of Object.keys(faultsOf)) {
      const of = [...results.values()].filter(
        ({ place, given, broken }) =>
          place.startsWith(`${name}/${call}/`) &&
          isWanted(place) &&
          (broken !== undefined || given?.path !== undefined),
      );
      if (of.length === 0) continue;
      const errors = new Set(of.map(({ place }) => place.split("/")[2]));
      const count = (is: (one: Result) => boolean) => of.filter(is).length;
      const ended = (how: Tried["ended"]) => count((one) => one.ended === how);
      console.log(
        `| ${name} | ${call} | ${[...errors].join(", ")} | ${of.length} | ${ended("healthy")} | ${ended("limped")} | ${ended("stopped")} | ${count((one) => one.broken !== undefined)} |`,
      );
    }
}
