import { type Command, Option } from "commander";
import { decodingBounds } from "../base/json-decoder.ts";
import { default_bytes_per_s, defaultConfigFiles } from "../config/gateway-config.ts";
import type { Uploaded } from "../gateway/uploader/upload.ts";
import { connect, uploadFrom } from "../gateway/uploader/uploader.ts";
import { HeldAnswer } from "../transfer/protocol.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { interruptible, uploadMeter } from "./progress.ts";
import { serverLog } from "./serving.ts";
import { addCentralSiteOptions, siteOf, type UploadSiteOptions } from "./store-place.ts";

/** `lintel upload`: sends what central has not confirmed, then compares the days that this touched. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel upload": "to the central of /etc/lintel/lintel.toml; a timer does this each night",
      "lintel upload --data DIR --url https://central.example --token-file token": "without a configuration",
    },
    notes: [
      "Central says where to go on, so that each reading arrives once, whatever was cut off before. The days that were",
      "touched are compared afterwards, all days once a week, and what differs is sent again. The gateway may",
      "be running or not. With [upload] keep_days, older readings that are confirmed and compared are removed.",
    ],
    exits: uploadExits,
  });
  addUpload(command, context, { everyDay: false });
}

/** Exit codes of an upload. */
export const uploadExits = {
  1: "central cannot be reached or cannot take it now: nothing is lost, run it again later",
  2: "bad arguments or configuration, another upload under way, or central refuses: somebody has to act",
  130: "interrupted",
} as const;

/** Gives a command the options of an upload, and has it upload. `everyDay`: compare every day. */
export function addUpload(
  command: Command,
  context: CommandContext,
  { everyDay }: { readonly everyDay: boolean },
): void {
  command
    .option("--config <file>", `the gateway's configuration (default: ${defaultConfigFiles.join(", then ")})`)
    .option(
      "--data <dir>",
      "the data directory itself, with --url and --token-file instead of a configuration",
    );
  addCentralSiteOptions(command)
    .option(
      "--bytes-per-second <number>",
      `how fast to send (default: [upload] bytes_per_second, or ${default_bytes_per_s})`,
      wholeNumber(1_000, 1_000_000_000),
    )
    .option(
      "--json",
      "print {sent, confirmed_seq, differing_days} as JSON, and stopped: releases that central has stopped",
    )
    .addOption(
      new Option("--held <epoch>", "send nothing, and print how far central holds an epoch").hideHelp(),
    )
    .action((options: UploadCommandOptions) =>
      options.held === undefined ? upload(options, everyDay, context) : printHeld(options, context),
    );
}

interface UploadCommandOptions extends UploadSiteOptions {
  readonly json?: boolean;
  readonly held?: string;
}

/** An update asks by it whether a new release truly uploads. */
async function printHeld(options: UploadCommandOptions, context: CommandContext): Promise<void> {
  const log = serverLog(context, "info");
  const held = await interruptible(context, { interrupted: "Interrupted.", later: log }, async (stop) => {
    const central = connect(siteOf(options), { stop, clock: context.clock, log });
    const path = `/held?${new URLSearchParams({ epoch: options.held ?? "" })}`;
    const answer = await central.ask({ method: "GET", path, answer: decodingBounds.batchAnswer });
    return central.read(answer, HeldAnswer);
  });
  if (held !== undefined) context.terminal.printJson(held);
}

async function upload(
  options: UploadCommandOptions,
  everyDay: boolean,
  context: CommandContext,
): Promise<void> {
  const { terminal, clock } = context;
  const log = serverLog(context, "info");
  const site = siteOf(options);
  for (const warning of site.warnings) log.warn(warning);
  const onProgress = uploadMeter({ terminal, clock, log });
  const interrupted =
    "Interrupted: what central has confirmed stays, and the next upload goes on from there.";
  const done = await interruptible(context, { interrupted, later: log }, (stop) =>
    uploadFrom(site, { everyDay, stop, clock, log, onProgress }),
  );
  if (done === undefined) return;
  const { sent, confirmed_seq, differing_days, stopped } = done;
  if (options.json)
    terminal.printJson({ sent, confirmed_seq, differing_days, ...(stopped.length > 0 && { stopped }) });
  else terminal.print(uploadedText(done));
}

function uploadedText({ sent, confirmed_seq, differing_days, repaired, lost, pruned }: Uploaded): string {
  const parts = [
    `${sent} readings sent, central holds them up to number ${confirmed_seq}`,
    differing_days === 0
      ? "no day differs"
      : `${differing_days} days differed: ${repaired} readings sent again`,
  ];
  if (lost > 0) parts.push(`${lost} lost`);
  if (pruned > 0) parts.push(`${pruned} old ones removed here`);
  return `${parts.join("; ")}.`;
}
