import { existsSync, readdirSync } from "node:fs";
import { join, relative, resolve } from "node:path";

/**
 * Files of a data directory to back up besides the database: the drivers' files and single files. Paths are relative to
 * it.
 *
 * @param but a directory of which nothing is meant
 */
export function filesBeside(data: string, but: string): string[] {
  const drivers = join(data, "drivers");
  const below = existsSync(drivers)
    ? readdirSync(drivers, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    : [];
  const top = readdirSync(data, { withFileTypes: true }).filter(
    (entry) => entry.isFile() && !isOfProcess(entry.name) && !/^lintel\.db/.test(entry.name),
  );
  return (
    [...top, ...below]
      .map((entry) => join(entry.parentPath, entry.name))
      // A file that is still being written ends in `.new`; a momentary state would be wrong after a restore.
      .filter((path) => !path.endsWith(".new") && !momentary.has(relative(data, path)))
      .filter((path) => !path.startsWith(`${resolve(but)}/`))
      .map((path) => relative(data, path))
  );
}

/** Whether a file of a data directory means something only to the processes that run on it now. */
export function isOfProcess(name: string): boolean {
  return /^[a-z]+\.(lock(-journal)?|pid)$/.test(name);
}

/**
 * The last status of each sensor. Restored, it would make a later event look like a heartbeat, which is not recorded.
 * Without it, at worst a heartbeat is recorded as an event.
 */
const momentary = new Set(["drivers/zigbee/at-rest.json"]);
