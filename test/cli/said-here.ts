import { Command } from "commander";
import pc from "picocolors";
import { SystemClock } from "../../src/base/clock.ts";
import type { CommandModule } from "../../src/cli/command.ts";

/** Everything that a command says on a terminal of 400 columns, or in a pipe, in this process. */
export async function saidHere({ define }: CommandModule, ...words: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const say = (line: string) => lines.push(line);
  const colours = pc.createColors(false);
  const terminal = {
    ...{ width: undefined, rows: undefined, columns: 400, redraws: false, colours, errorColours: colours },
    ...{ print: say, say, log: say, progress: () => {}, flushed: async () => {} },
    printJson: (value: unknown) => say(JSON.stringify(value)),
  };
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  const context = { terminal: terminal as never, clock: new SystemClock(), version: "1", exitWith: () => {} };
  define(command, context);
  await command.parseAsync([...words], { from: "user" }).catch((thrown: unknown) => say(String(thrown)));
  return lines.join("\n");
}
