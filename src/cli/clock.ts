import { existsSync } from "node:fs";
import type { Command } from "commander";
import { clockQuality } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import { databasePath } from "../store/sqlite/connection.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "./store-place.ts";

/** `lintel clock`: a person's word that the clock of a machine is right, where its date is not believed unasked. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel clock": "what the clock shows, and whether Lintel trusts it",
      "sudo lintel clock --confirm": "after you have compared the date with another clock",
    },
    notes: [
      "A clock that leaps to another year is not believed, whatever time server set it: readings are kept without a date until",
      "central's time, asked over TLS, or this command confirms one. A running gateway heeds it within 15 seconds.",
    ],
    exits: { 0: "the clock is believed", 1: "it is not" },
  });
  addDirectoryOptions(command)
    .option("--confirm", "the clock of this machine is right now")
    .option("--json", "print {now_ms, believed, what, remedy} as JSON")
    .action((options: ClockOptions) => showClock(options, context));
}

interface ClockOptions extends StoreOptions {
  readonly confirm?: boolean;
}

async function showClock(options: ClockOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const directory = dataDirectory(options);
  if (!existsSync(databasePath(directory)))
    throw new OperatorError(
      `there is no Lintel database in ${directory}`,
      "name the data directory of the gateway or central server",
    );
  const clock = new GuardedClock({ clock: context.clock, directory });
  if (options.confirm) clock.confirm(clock.now().unix_ms);
  const { unix_ms, quality } = clock.now();
  const doubt = clock.doubt();
  const believed = quality === clockQuality.synchronised;
  if (options.json) terminal.printJson({ now_ms: unix_ms, believed, ...doubt });
  else {
    terminal.print(`The clock of this machine shows ${new Date(unix_ms).toISOString()}.`);
    if (doubt !== undefined) terminal.print(`${doubt.what} ${doubt.remedy}`);
    else if (believed) terminal.print("It is believed.");
    else terminal.print("No time service is known to have set it: lintel doctor says what to do.");
  }
  if (!believed) context.exitWith(1);
}
