import type { Command } from "commander";
import { addHelp, type CommandContext } from "./command.ts";
import { addUpload, uploadExits } from "./upload.ts";

/** `lintel verify`: an upload that compares every day. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel verify": "compare every day here with central's, and send again what differs",
      "lintel verify --json": "for a script: differing_days is 0 where all was equal",
    },
    notes: [
      "Compared are the number and a digest of the readings of each series of each device on each day. What differs is sent",
      "again and compared once more; readings that central alone has stay there. What is not sent yet is sent first.",
    ],
    exits: { 0: "compared; what differed was put right", ...uploadExits },
  });
  addUpload(command, context, { everyDay: true });
}
