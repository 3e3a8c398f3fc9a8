/** The lists of mutants that may survive, each under the reason why: one file for a part. */
import { join } from "node:path";
import type { Mutant } from "./stryker.ts";

/** The lines of a list without its reasons (`# …`), with how often each stands there. */
function counted(lines: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** As many of the lines of one as the other does not have. */
function beyond(one: Map<string, number>, other: Map<string, number>): string[] {
  return [...one].flatMap(([line, count]) => Array(Math.max(0, count - (other.get(line) ?? 0))).fill(line));
}

/**
 * Holds the survivors of a part to its list: which are not on it, and what stands there although it was tried and does not survive.
 * Lines are `FILE: CHANGE`, without numbers of lines, so that they stay true while code moves.
 */
export async function compareWithList(
  part: string,
  tried: readonly Mutant[],
): Promise<{ unlisted: string[]; gone: string[] }> {
  const list = Bun.file(join(import.meta.dir, `${part}-survivors.txt`));
  const lines = (await list.exists()) ? (await list.text()).split("\n") : [];
  const files = new Set(tried.map(({ file }) => file));
  const listed = counted(
    lines.filter((line) => !/^(#|\s*$)/.test(line) && files.has(line.slice(0, line.indexOf(": ")))),
  );
  const survived = counted(
    tried.filter(({ status }) => status === "Survived").map(({ file, change }) => `${file}: ${change}`),
  );
  return { unlisted: beyond(survived, listed), gone: beyond(listed, survived) };
}
