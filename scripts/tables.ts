/**
 * Lists the recorded tables that are older than the sources they speak for, and makes them anew. It belongs to a release: a commit never waits for it.
 *
 *   ./scripts/tables             lists every table, and what has changed since
 *   ./scripts/tables --remake    runs the commands of the older ones, one after the other; after an interruption the same command goes on
 */
import { join } from "node:path";
import { documentText, type FigurePlace, figureDocuments, placesIn, recordedIn } from "./figure-places.ts";
import { optionsOf } from "./program-options.ts";
import { sourcesOf } from "./table-sources.ts";

const root = join(import.meta.dir, "..");

export interface TableAge {
  readonly key: string;
  /** As it was recorded, or as the place has it. */
  readonly command: string;
  /** In words; undefined where it is as new as its sources. */
  readonly older: string | undefined;
}

/** How a table stands beside its sources. `changes` counts the commits since one that changed some paths; undefined where nobody knows that commit. */
export function ageOf(
  place: FigurePlace,
  changes: (commit: string, paths: readonly string[]) => number | undefined,
): TableAge {
  const { key } = place;
  const recorded = recordedIn(place);
  const command = recorded?.command ?? key;
  const sources = sourcesOf[key];
  if (recorded === undefined) return { key, command, older: "nothing is recorded" };
  if (sources === undefined) return { key, command, older: "scripts/table-sources.ts does not name it" };
  const count = changes(recorded.commit, sources);
  if (count === undefined) return { key, command, older: "of a commit that is not here" };
  return { key, command, older: count === 0 ? undefined : `${count} commits have changed its sources` };
}

function changesSince(commit: string, paths: readonly string[]): number | undefined {
  if (commit === "") return undefined;
  const { exitCode, stdout } = Bun.spawnSync(
    ["git", "rev-list", "--count", `${commit}..HEAD`, "--", ...paths],
    { cwd: root, stderr: "ignore" },
  );
  return exitCode === 0 ? Number(stdout.toString()) : undefined;
}

async function ages(): Promise<TableAge[]> {
  const texts = await Promise.all(figureDocuments.map(documentText));
  return texts.flatMap(placesIn).map((place) => ageOf(place, changesSince));
}

if (import.meta.main) {
  const { remake } = optionsOf("./scripts/tables [--remake]", { remake: false });
  const all = await ages();
  const older = all.filter((one) => one.older !== undefined);
  for (const { command, older } of all)
    console.log(`${older === undefined ? "new  " : "older"} ${command}`, older ?? "");
  console.log(`${older.length} of ${all.length} tables are older than their sources`);
  let failed = 0;
  // One that was recorded is no longer older: an interrupted run goes on with the next.
  for (const { command } of remake ? older : []) {
    const [kind = "", ...words] = command.split(" ");
    console.log(`\n./scripts/${command} --record`);
    const run = Bun.spawn([join(root, "scripts", kind), ...words, "--record"], {
      cwd: root,
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    });
    if ((await run.exited) !== 0) failed += 1;
    if (run.signalCode !== null) break;
  }
  if (failed > 0) console.error(`${failed} of them ended with a fault, which their tables say`);
  process.exit(failed === 0 ? 0 : 1);
}
