import type { Site } from "../../../testbed/front-door.ts";
import { linesOf } from "../../../testbed/lines.ts";

/** An answer of the technician to a line that has a text in it: what is typed, or nothing where something is done instead. */
type Doing = (line: string) => string | undefined | Promise<string | undefined>;

/** Runs `lintel burn-in` with these words, at a terminal. */
export function burnIn(site: Site, words: readonly string[], does: Readonly<Record<string, Doing>> = {}) {
  return atTerminal(site, ["burn-in", ...words], does);
}

/** Runs a command, and does what stands beside a text whenever a line has it. */
export async function atTerminal(
  site: Site,
  words: readonly string[],
  does: Readonly<Record<string, Doing>> = {},
) {
  const child = Bun.spawn([...site.program, ...words], {
    env: { PATH: "/usr/bin:/bin", HOME: site.home },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines: string[] = [];
  for await (const line of linesOf(child.stdout)) {
    lines.push(line);
    const found = Object.keys(does).find((text) => line.includes(text));
    if (found === undefined) continue;
    const typed = await does[found]?.(line);
    if (typed === kill || typed === interrupt) child.kill(typed === kill ? "SIGKILL" : "SIGTERM");
    else if (typed !== undefined) child.stdin.write(`${typed}\n`);
    child.stdin.flush();
  }
  return { lines, said: await child.stderr.text(), code: await child.exited };
}

/** In place of an answer: the power goes, or the technician ends the program. */
export const kill = "[kill]";
export const interrupt = "[interrupt]";
