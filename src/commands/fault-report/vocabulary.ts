import { readdirSync, readFileSync } from "node:fs";
import { join, normalize } from "node:path";

/**
 * Every word that occurs in the program itself, in lower case: what it logs is made of these, of numbers, and of what others have told it.
 * Read from the files that run: the source, or the bundle that this stands in.
 */
export function programWords(): ReadonlySet<string> {
  const words = new Set(systemWords.split(" "));
  for (const file of programFiles())
    for (const [word] of readFileSync(file, "utf8").matchAll(/\p{L}[\p{L}\p{N}_'’-]*/gu))
      words.add(word.toLowerCase());
  return words;
}

function programFiles(): string[] {
  const here = import.meta.dir;
  const isSource = here.endsWith("src/commands/fault-report");
  const directories = isSource
    ? ["src", "drivers"].map((name) => normalize(join(here, "../../..", name)))
    : [here];
  const ending = isSource ? /\.tsx?$/ : /\.js$/;
  return (
    directories
      .flatMap((directory) => readdirSync(directory, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile() && ending.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      // The demo and the simulators have made-up people, rooms and devices.
      .filter((path) => !/(src\/demo|simulator)\//.test(path))
      .slice(0, files_max)
  );
}

/** Words of systemd about units, which no file of the program has. */
const systemWords =
  "started starting stopped stopping main process exited code killed dumped status kill segv abrt term failed with result nightly lintel-first-boot lintel-upload lintel-clock lintel-central lintel-update scheduled restart job counter at deactivated successfully consumed cpu time watchdog timeout limit core-dump exit-code signal oom-kill reloading condition check resulted in being skipped unit";
const files_max = 5_000;
