/**
 * Small wrong changes in the source, one at a time: the tests beside it must notice 85 % of them. The others are printed, for who wants to read them
 *
 *   ./scripts/trials mutation drivers|ingest|transfer|store [NAME…] [--fresh]
 *
 * NAME is a line of a part in mutation/parts.ts. A mutant that was killed in code and by tests that are the same since is not tried
 * again, unless `--fresh` is said. Stryker is fetched the first time.
 */
import { parseArgs } from "node:util";
import { type Part, parts } from "./mutation/parts.ts";
import { install, type Mutant, mutate } from "./mutation/stryker.ts";

const score_least_percent = 85;

const usage = `./scripts/trials mutation ${Object.keys(parts).join("|")} [NAME…] [--fresh]`;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { fresh: { type: "boolean", default: false }, help: { type: "boolean" } },
});
const [name = "", ...chosen] = positionals;
const part: Part | undefined = parts[name];
const unknown = chosen.filter((row) => part?.every((known) => known.name !== row));
if (values.help || part === undefined || unknown.length > 0) {
  console.log(
    part === undefined ? usage : `${usage}, with the names ${part.map((row) => row.name).join(", ")}`,
  );
  process.exit(values.help ? 0 : 2);
}

/** A line of the table, and of what it is made. */
function figures(title: string, mutants: readonly Mutant[], minutes: number): string {
  const count = (status: Mutant["status"]) => mutants.filter((mutant) => mutant.status === status).length;
  const [killed, timedOut, survived] = [count("Killed"), count("Timeout"), count("Survived")];
  const cells = [
    title,
    killed + timedOut + survived,
    killed,
    timedOut,
    survived,
    `${scoreOf(mutants).toFixed(1)} %`,
    minutes.toFixed(1),
  ];
  return `| ${cells.join(" | ")} |`;
}

/** Percent of the mutants that a test noticed; one that never ends counts, because its tests would not pass. */
function scoreOf(mutants: readonly Mutant[]): number {
  const survived = mutants.filter(({ status }) => status === "Survived").length;
  const noticed = mutants.filter(({ status }) => status === "Killed" || status === "Timeout").length;
  return (100 * noticed) / Math.max(1, noticed + survived);
}

await install();
const table = [
  `| ${name} | mutants | killed | without end | survived | score | minutes |`,
  "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
];
const tried: Mutant[] = [];
let minutes = 0;
for (const row of part) {
  if (chosen.length > 0 && !chosen.includes(row.name)) continue;
  const began_ms = performance.now();
  const mutants = await mutate(row, values.fresh);
  const took = (performance.now() - began_ms) / 60_000;
  tried.push(...mutants);
  minutes += took;
  table.push(figures(row.name, mutants, took));
  console.error(table.at(-1));
}
table.push(figures("all", tried, minutes));
for (const { file, line, change, status } of tried)
  if (status === "Survived") console.log(`survives: ${file}:${line} ${change}`);
console.log(table.join("\n"));
if (scoreOf(tried) < score_least_percent) process.exitCode = 1;
