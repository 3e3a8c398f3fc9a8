/**
 * Runs a trial or a benchmark, and puts the table that it prints at its end into the document that has a place for it
 *
 *   ./scripts/trials NAME … --record
 *
 * A place begins with `<!-- figures of trials NAME -->`, or `trials NAME OPTION…` where one program answers several questions, and ends
 * with `<!-- end of figures, sha256 … -->`, the digest of what stands between. Lines of the output that begin with `|` are the table.
 */
import { availableParallelism, cpus, release, totalmem } from "node:os";
import { join } from "node:path";
import { staticRate } from "./benchmarks/api/static-rate.ts";
import { figureDocuments, placesIn, placeWith } from "./figure-places.ts";

const root = join(import.meta.dir, "..");

/** A run of a trial or a benchmark, as it is told beside its figures. */
export interface Run {
  /** `trials life --seeds 1..500`, as it was called. */
  command: string;
  /** Its table, in Markdown. */
  table: string[];
  exitCode: number;
  interrupted: boolean;
  /** Where and when, and of what. */
  circumstances: string;
}

/** A document with a run's figures in the place that names most of its command; undefined where it has no place for them. */
export function withFigures(document: string, run: Run): string | undefined {
  const [place] = placesIn(document)
    .filter(({ key }) => `${run.command} `.startsWith(`${key} `))
    .toSorted((one, other) => other.key.length - one.key.length);
  if (place === undefined) return undefined;
  const ended = run.exitCode === 0 ? "" : ` It ended with ${run.exitCode}: not all of it holds.`;
  const stopped = run.interrupted ? " It was interrupted: the figures are of what had run by then." : "";
  const figures = [...run.table, "", `\`./scripts/${run.command}\`: ${run.circumstances}.${ended}${stopped}`];
  return document.replace(place.text, () => placeWith(place.key, `${figures.join("\n")}\n`));
}

/** Where and when it runs: a figure of time says nothing without the machine, and how busy it is. */
async function circumstances(kind: string): Promise<string> {
  const version = Bun.spawnSync([join(root, "scripts/lintel"), "--version"])
    .stdout.toString()
    .trim();
  const processor = cpus()[0]
    ?.model.replaceAll(/\(R\)|\(TM\)|@.*|CPU/g, "")
    .replaceAll(/ +/g, " ")
    .trim();
  const gib = Math.round(totalmem() / 2 ** 30);
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${availableParallelism()} cores of ${processor}, ${gib} GiB, Linux ${release().split("-")[0]}`;
  const rate =
    kind === "bench" ? `, ${Math.round(await staticRate()).toLocaleString("en")} static pages a second` : "";
  return `${day}, Lintel ${version}, ${machine}${rate}`;
}

if (import.meta.main) {
  const [kind, name, program, ...rest] = process.argv.slice(2) as [string, string, string, ...string[]];
  // Before the run: after it the machine may be warm.
  const told = await circumstances(kind);
  const given = rest.filter((option) => option !== "--record");
  const child = Bun.spawn([process.execPath, program, ...given], {
    stdin: "inherit",
    stdout: "pipe",
    stderr: "inherit",
  });
  // Ctrl-C reaches the run too. It may have figures to print yet.
  let interrupted = false;
  process.on("SIGINT", () => {
    interrupted = true;
  });
  let printed = "";
  const decoder = new TextDecoder();
  for await (const chunk of child.stdout) {
    process.stdout.write(chunk);
    printed += decoder.decode(chunk, { stream: true });
  }
  process.exitCode = await child.exited;
  const run: Run = {
    command: [kind, name, ...given].join(" "),
    table: printed.split("\n").filter((line) => line.startsWith("|")),
    exitCode: process.exitCode,
    interrupted,
    circumstances: told,
  };
  let recorded = false;
  for (const document of figureDocuments) {
    const file = Bun.file(join(root, document));
    const changed = run.table.length > 0 ? withFigures(await file.text(), run) : undefined;
    if (changed === undefined) continue;
    await Bun.write(file, changed);
    console.error(`its figures stand in ${document}`);
    recorded = true;
  }
  if (!recorded) {
    console.error(
      `no figures of ${kind} ${name} were recorded: it printed no table, or no document has a place for it`,
    );
    process.exitCode ||= 1;
  }
}
