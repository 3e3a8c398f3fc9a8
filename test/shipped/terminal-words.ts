import type { Site } from "../../testbed/front-door.ts";

/** Characters that act on a terminal, in a log or on the order of letters. */
export const acting = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\p{Cs}]/u;

const ownColours = new RegExp(`${"\u001b"}\\[(?:0|1|2|22|31|32|33|36|39)m`, "g");
/** A line at the foot of a terminal takes itself away like this. */
const clearLine = "\r\u001b[2K";

/** Lines with something that acts on a terminal, but for what the program does with it itself. */
export function actingLines(text: string): string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => acting.test(line.replaceAll(clearLine, "").replaceAll(ownColours, "")))
    .map((line) => JSON.stringify(line));
}

/** The output of a command on a coloured terminal of 300 columns. */
export async function onTerminal(site: Site, ...words: readonly string[]): Promise<string> {
  const command = [...site.program, ...words].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  const run = Bun.spawn(
    ["script", "--quiet", "--return", "--command", `stty cols 300 rows 50; ${command}`, "/dev/null"],
    { env: { PATH: "/usr/bin:/bin", HOME: site.home, TERM: "xterm" }, stdin: "ignore", stdout: "pipe" },
  );
  const shown = await new Response(run.stdout).text();
  await run.exited;
  return shown;
}
