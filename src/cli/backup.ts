import { resolve } from "node:path";
import type { Command } from "commander";
import { findConfig } from "../config/gateway-config.ts";
import { noteBackup } from "../store/sqlite/data-directory.ts";
import { addReadings } from "./backup/add-readings.ts";
import { eraseInBackup } from "./backup/erase-in-backup.ts";
import { makeBackup } from "./backup/make-backup.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addStoreOptions, directoryToCopy, type StoreOptions } from "./store-place.ts";
import { bytesText, momentText } from "./terminal-text.ts";

/** `lintel backup`: a copy of a store and of its files, from which a lost box is restored. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel backup /media/stick/lintel": "while the gateway runs, or not",
      "lintel backup /srv/backup --data /var/lib/lintel-central":
        "of a central server that keeps its data itself",
    },
    notes: [
      "Kept are the database, what drivers keep (the Zigbee network), the configuration and the files that it names.",
      "A backup holds people's records, and the keys of a network: keep it as closely as the box itself.",
      "lintel restore DIR makes another box of it.",
    ],
  });
  command.argument("<dir>", "where the backup goes; one that is there is replaced once the new one is whole");
  addStoreOptions(command)
    .option(
      "--add",
      "add to the backup that is there the readings that came since, and nothing else: in a moment",
    )
    .option(
      "--erase-again <file>",
      "erase in the backup that is there what a list has, as lintel erase --list --json prints it, and nothing else",
    )
    .option("--json", "print what was kept as JSON")
    .action((into: string, options: BackupCommandOptions) => backup(resolve(into), options, context));
}

type BackupCommandOptions = StoreOptions & { readonly add?: boolean; readonly eraseAgain?: string };

async function backup(into: string, options: BackupCommandOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  if (options.eraseAgain !== undefined) {
    const { erasures, pauses } = await eraseInBackup({ into, list: options.eraseAgain }, context);
    if (options.json) terminal.printJson({ directory: into, erasures, pauses });
    else
      terminal.say(
        `${erasures.toLocaleString("en")} erasures were done in ${into}, and what lies in ${pauses.toLocaleString("en")} pauses was removed.`,
      );
    return;
  }
  const data = directoryToCopy(options);
  // Taken before: what comes while the backup is made is not all in it.
  const now_ms = context.clock.now().unix_ms;
  const note = () => {
    if (!noteBackup(data, now_ms))
      terminal.say(`${data} may not be written: nobody learns there of this backup.`);
  };
  if (options.add) {
    const readings = await addReadings({ data, into }, context);
    note();
    if (options.json) terminal.printJson({ directory: into, added: readings });
    else terminal.say(`${readings.toLocaleString("en")} readings that came since were added to ${into}.`);
    return;
  }
  const configuration = options.data === undefined ? (options.config ?? findConfig()) : undefined;
  try {
    const manifest = await makeBackup({ data, into, configuration }, context);
    const bytes = Object.values(manifest.files).reduce((sum, file) => sum + file.bytes, 0);
    const files = Object.keys(manifest.files).length;
    const { epoch, last_seq, made_ms } = manifest;
    note();
    if (options.json) terminal.printJson({ directory: into, made_ms, epoch, last_seq, files, bytes });
    else {
      terminal.say(
        `${last_seq.toLocaleString("en")} readings and ${files - 1} other files, ${bytesText(bytes)}, are in ${into} as they were at ${momentText(made_ms)}.`,
      );
    }
  } finally {
    terminal.progress("");
  }
}
