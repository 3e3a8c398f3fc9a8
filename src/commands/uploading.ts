import { resolve } from "node:path";
import type { Command } from "commander";
import { defaultConfigFiles, findConfig, uploadDescriptionOf } from "../config/config.ts";
import { default_bytes_per_s } from "../config/upload-section.ts";
import { messageOf, OperatorError } from "../errors.ts";
import { TryAgainLater } from "../http-client/outcome.ts";
import type { Log } from "../log.ts";
import type { Uploaded } from "../sync/upload/upload.ts";
import { machineTimezone } from "../timezone.ts";
import { type UploadSite, uploadFrom } from "../uploader/uploader.ts";
import { type CommandContext, wholeNumber } from "./command.ts";
import { interruptible } from "./interruptible.ts";
import { serverLog } from "./serving.ts";
import { UploadMeter } from "./upload-meter.ts";

/** Options of a command that name a gateway's store and its central. */
export interface UploadingOptions {
  readonly config?: string;
  readonly data?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly bytesPerSecond?: number;
  readonly json?: boolean;
}

/** Gives a command the options that name a gateway's store and its central. */
export function addUploadingOptions(command: Command): Command {
  return command
    .option("--config <file>", `the gateway's configuration (default: ${defaultConfigFiles.join(", then ")})`)
    .option(
      "--data <dir>",
      "the data directory itself, with --url and --token-file instead of a configuration",
    )
    .option("--url <url>", "the address of central, instead of [upload] url")
    .option("--token-file <file>", "the file that holds the sync token, instead of [upload] token_file")
    .option("--certificate <file>", "central's own certificate, where no authority vouches for it")
    .option(
      "--bytes-per-second <number>",
      `how fast to send (default: [upload] bytes_per_second, or ${default_bytes_per_s})`,
      wholeNumber(1_000, 1_000_000_000),
    )
    .option("--json", "print {sent, confirmed_seq, differing_days} as JSON");
}

export const uploadingExits = {
  1: "central cannot be reached or cannot take it now: nothing is lost, run it again later",
  2: "bad arguments or configuration, another upload under way, or central refuses: somebody has to act",
  130: "interrupted",
} as const;

/** Uploads, and says how it went; undefined, with the exit code set, where it did not end well. */
export async function runUpload(
  options: UploadingOptions,
  context: CommandContext,
  { everyDay }: { readonly everyDay: boolean },
): Promise<Uploaded | undefined> {
  const { terminal } = context;
  const log = serverLog(context, "info");
  const site = siteOf(options);
  for (const warning of site.warnings) log.warn(warning);
  try {
    const done = await interruptible(context, (stop) => metered(site, { everyDay, stop, log, context }));
    if (done === undefined) {
      terminal.say("Interrupted: what central has confirmed stays, and the next upload goes on from there.");
    }
    return done;
  } catch (thrown) {
    if (!(thrown instanceof TryAgainLater)) throw thrown;
    log.error(messageOf(thrown, line_max));
    context.exitWith(1);
    return undefined;
  }
}

async function metered(
  site: UploadSite,
  run: { everyDay: boolean; stop: AbortSignal; log: Log; context: CommandContext },
): Promise<Uploaded> {
  const { everyDay, stop, log, context } = run;
  const { terminal, clock } = context;
  const meter = new UploadMeter({ terminal, clock, log, atTerminal: terminal.redraws });
  try {
    return await uploadFrom(site, {
      everyDay,
      stop,
      clock,
      log,
      onProgress: (progress) => meter.show(progress),
    });
  } finally {
    terminal.progress("");
  }
}

/** The store and central that the options name, with warnings about their files, one line each. */
export interface NamedSite extends UploadSite {
  readonly warnings: readonly string[];
}

/** @throws OperatorError where the options name no gateway, or none that has a central */
export function siteOf(options: UploadingOptions): NamedSite {
  const { url, tokenFile, certificate, bytesPerSecond } = options;
  const given = {
    ...(url === undefined ? {} : { url }),
    ...(tokenFile === undefined ? {} : { token_file: resolve(tokenFile) }),
    ...(certificate === undefined ? {} : { certificate: resolve(certificate) }),
    ...(bytesPerSecond === undefined ? {} : { bytes_per_s: bytesPerSecond }),
  };
  const local = machineTimezone();
  if (options.data !== undefined) {
    if (options.config !== undefined)
      throw new OperatorError("--config and --data both name a store", "give one of them");
    if (url === undefined || tokenFile === undefined)
      throw new OperatorError("--data names a store and no central", "give --url and --token-file too");
    const target = {
      url,
      token_file: resolve(tokenFile),
      at: "",
      bytes_per_s: default_bytes_per_s,
      ...given,
    };
    return { data: resolve(options.data), timezone: local, target, warnings: [] };
  }
  const file = options.config ?? findConfig();
  if (file === undefined)
    throw new OperatorError(
      `no gateway is named, and there is no ${defaultConfigFiles.join(" or ")}`,
      "give --config FILE, or --data DIR with --url and --token-file",
    );
  const { data, upload: section, home, timezone = local, warnings } = uploadDescriptionOf(file);
  if (section === undefined)
    throw new OperatorError(
      `${file} has no [upload]: this gateway sends nothing anywhere`,
      "add the section with url and token_file, as systemd/lintel.toml shows it",
    );
  return {
    data,
    timezone,
    ...(home === undefined ? {} : { home }),
    target: { ...section, ...given },
    warnings,
  };
}

const line_max = 2_000;
