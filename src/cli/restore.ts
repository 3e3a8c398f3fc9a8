import { resolve } from "node:path";
import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { interruptible } from "./progress.ts";
import { restoreFromBackup } from "./restore/from-backup.ts";
import { restoreFromCentral } from "./restore/from-central.ts";
import type { Restored, RestoreOptions } from "./restore/restoring.ts";
import { serverLog } from "./serving.ts";
import { addCentralSiteOptions, addStoreOptions } from "./store-place.ts";

/** `lintel restore`: a spare box, or an emptied one, becomes the one that was lost. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel restore /media/stick/lintel": "what a backup holds, into the configured data directory",
      "lintel restore --from-central": "what [upload] url has of this home: 30 days, and its Zigbee network",
      "lintel restore --from-central --replace": "after a damaged card: what is left of it is set aside",
    },
    notes: [
      "It is all or nothing: until everything is there, the data directory stays as it was. Stop the gateway first.",
      "A configuration that --config names and that does not exist comes back from the backup too.",
      "The box goes on with numbers of its own, so that an upload neither repeats nor skips anything.",
    ],
    exits: {
      1: "central cannot be reached: nothing changed, run it again later",
      130: "interrupted: nothing changed",
    },
  });
  command.argument("[dir]", "a directory that lintel backup has written");
  addCentralSiteOptions(addStoreOptions(command))
    .option("--from-central", "bring back what central has of this home, instead of a backup")
    .option(
      "--days <number>",
      "days of readings to bring back from central",
      wholeNumber(0, 36_500),
      default_days,
    )
    .option("--replace", "set aside what the data directory holds; nothing is removed")
    .option(
      "--take-over",
      "of a backup of this box: leave its data where they have all that the backup has and its form; else take over what they have more",
    )
    .option("--json", "print what came back as JSON")
    .action((from: string | undefined, options: RestoreOptions) => restore(from, options, context));
}

async function restore(
  from: string | undefined,
  options: RestoreOptions,
  context: CommandContext,
): Promise<void> {
  if ((from === undefined) === (options.fromCentral !== true))
    throw new OperatorError(
      from === undefined
        ? "the command does not say where to restore from"
        : `both ${from} and --from-central say where from`,
      "give the directory of a backup, or --from-central",
    );
  if (options.takeOver && (from === undefined || !options.replace))
    throw new OperatorError(
      "--take-over goes with the directory of a backup and --replace",
      "give both, or leave it out",
    );
  const { terminal } = context;
  const log = serverLog(context, "warn");
  const later = { error: (line: string) => log.error(`${line}; nothing has changed`) };
  const interrupted = "Interrupted: nothing has changed.";
  const restored = await interruptible(context, { interrupted, later }, (stop) => {
    const run = { options, context, stop, log };
    return from === undefined ? restoreFromCentral(run) : restoreFromBackup(resolve(from), run);
  });
  if (restored === undefined) return;
  const { directory, figures, aside = null } = restored;
  if (options.json) terminal.printJson({ directory, ...figures, set_aside: aside });
  else sayRestored(restored, context);
}

function sayRestored({ directory, aside, said, failed }: Restored, { terminal }: CommandContext): void {
  const { yellow, dim } = terminal.errorColours;
  for (const line of said) terminal.say(line);
  if (aside !== undefined) terminal.say(`What was there before is in ${aside}.`);
  for (const line of failed) terminal.say(yellow(`! ${line}`));
  terminal.say(dim(`Next: ${storedRole(directory) === "central" ? next_at_central : next_at_home}.`));
}

const next_at_home = "lintel run, and lintel doctor to see that everything is plugged in";
const next_at_central = "lintel central, and lintel fleet to see which homes have uploaded since";
const default_days = 30;
