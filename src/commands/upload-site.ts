import { resolve } from "node:path";
import type { Command } from "commander";
import { defaultConfigFiles, findConfig, loadParts } from "../config/config.ts";
import { default_bytes_per_s } from "../config/upload-section.ts";
import { OperatorError } from "../errors.ts";
import { machineTimezone } from "../timezone.ts";
import type { UploadSite } from "../uploader/uploader.ts";

/** Options of a command that name a gateway's store and its central. */
export interface UploadSiteOptions {
  readonly config?: string;
  readonly data?: string;
  readonly url?: string;
  readonly tokenFile?: string;
  readonly certificate?: string;
  readonly bytesPerSecond?: number;
}

/** Gives a command the options that name central, instead of the configuration's `[upload]`. */
export function addCentralSiteOptions(command: Command): Command {
  return command
    .option("--url <url>", "the address of central, instead of [upload] url")
    .option("--token-file <file>", "the file that holds the sync token, instead of [upload] token_file")
    .option("--certificate <file>", "central's own certificate, where no authority vouches for it");
}

/**
 * The store and central that the options name, with warnings about their files, one line each.
 *
 * @throws OperatorError where the options name no gateway, or none that has a central
 */
export function siteOf(options: UploadSiteOptions): UploadSite & { readonly warnings: readonly string[] } {
  const { config, data, url, tokenFile, certificate, bytesPerSecond } = options;
  if (data !== undefined) {
    if (config !== undefined)
      throw new OperatorError("--config and --data both name a store", "give one of them");
    if (url === undefined || tokenFile === undefined)
      throw new OperatorError("--data names a store and no central", "give --url and --token-file too");
    const target = {
      url,
      token_file: resolve(tokenFile),
      certificate: certificate && resolve(certificate),
      at: "",
      bytes_per_s: bytesPerSecond ?? default_bytes_per_s,
    };
    return { data: resolve(data), timezone: machineTimezone(), target, warnings: [] };
  }
  const file = config ?? findConfig();
  if (file === undefined)
    throw new OperatorError(
      `no gateway is named, and there is no ${defaultConfigFiles.join(" or ")}`,
      "give --config FILE, or --data DIR with --url and --token-file",
    );
  const { upload, home, ...known } = loadParts(file, "data", "upload", "home", "update", "walking");
  if (upload === undefined)
    throw new OperatorError(
      `${file} has no [upload]: this gateway sends nothing anywhere`,
      "add the section with url and token_file, as systemd/lintel.toml shows it",
    );
  const target = {
    ...upload,
    url: url ?? upload.url,
    token_file: tokenFile === undefined ? upload.token_file : resolve(tokenFile),
    certificate: certificate === undefined ? upload.certificate : resolve(certificate),
    bytes_per_s: bytesPerSecond ?? upload.bytes_per_s,
  };
  return { ...known, timezone: home.timezone, home: home.id, target };
}
