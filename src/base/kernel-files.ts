import { readdirSync, readFileSync } from "node:fs";

/** A fact that the kernel tells in a file, without the space around it; undefined where it tells none: a device may be away or asleep. */
export function factIn(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

/** The names in a directory of the kernel; none where it is not there. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
