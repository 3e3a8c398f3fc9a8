import { resolve } from "node:path";
import type { Command } from "commander";
import { dataDirectoryOf, defaultConfigFiles, findConfig } from "../config.ts";
import { OperatorError } from "../errors.ts";

/** The options that name a store, as a command received them. */
export interface StoreOptions {
  readonly config?: string;
  readonly data?: string;
}

/** Gives a command the options that name a store. */
export function addStoreOptions(command: Command): Command {
  return command
    .option("--config <file>", `the gateway's configuration (default: ${defaultConfigFiles.join(", then ")})`)
    .option("--data <dir>", "the data directory itself, instead of a configuration");
}

/** Absolute path of the data directory that the options name. */
export function dataDirectory(options: StoreOptions): string {
  if (options.data !== undefined && options.config !== undefined) {
    throw new OperatorError("--config and --data both name a store", "give one of them");
  }
  if (options.data !== undefined) return resolve(options.data);
  const file = options.config ?? findConfig();
  if (file === undefined) {
    throw new OperatorError(
      `no store is named, and there is no ${defaultConfigFiles.join(" or ")}`,
      "give --config FILE or --data DIR",
    );
  }
  return dataDirectoryOf(file);
}
