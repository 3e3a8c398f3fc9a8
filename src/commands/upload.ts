import type { Command } from "commander";
import type { Uploaded } from "../sync/upload/upload.ts";
import { type CommandContext, helpAfter } from "./command.ts";
import { addUploadingOptions, runUpload, type UploadingOptions, uploadingExits } from "./uploading.ts";

/** `lintel upload`: sends what central has not confirmed, then compares the days that this touched. */
export function define(command: Command, context: CommandContext): void {
  addUploadingOptions(command)
    .addHelpText(
      "after",
      helpAfter({
        examples: [
          ["lintel upload", "to the central of /etc/lintel/lintel.toml; a timer does this each night"],
          [
            "lintel upload --data DIR --url https://central.example --token-file token",
            "without a configuration",
          ],
        ],
        notes: [
          "Central says where to go on, so that each reading arrives once, whatever was cut off before. The days that were",
          "touched are compared afterwards, all days once a week, and what differs is sent again. It works beside the",
          "running gateway and without one. With [upload] keep_days, older readings that are confirmed and compared are removed.",
        ],
        exits: uploadingExits,
      }),
    )
    .action(async (options: UploadingOptions) => {
      const done = await runUpload(options, context, { everyDay: false });
      if (done !== undefined) sayDone(done, options, context);
    });
}

/** The figures of an upload, for people or programs. */
export function sayDone(done: Uploaded, { json }: UploadingOptions, { terminal }: CommandContext): void {
  const { sent, confirmed_seq, differing_days, mended, lost, pruned } = done;
  if (json) {
    terminal.printJson({ sent, confirmed_seq, differing_days });
    return;
  }
  const parts = [
    `${sent} readings sent, central holds them up to number ${confirmed_seq}`,
    differing_days === 0
      ? "no day differs"
      : `${differing_days} days differed: ${mended} readings sent again`,
    ...(lost === 0 ? [] : [`${lost} lost`]),
    ...(pruned === 0 ? [] : [`${pruned} old ones removed here`]),
  ];
  terminal.print(`${parts.join("; ")}.`);
}
