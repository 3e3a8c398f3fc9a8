import type { Log } from "../../log.ts";
import type { CommandContext } from "../command.ts";
import type { StoreOptions } from "../store-options.ts";
import type { UploadSiteOptions } from "../upload-site.ts";

export interface RestoreOptions extends StoreOptions, UploadSiteOptions {
  readonly fromCentral?: boolean;
  readonly days: number;
  readonly replace?: boolean;
  readonly takeOver?: boolean;
}

/** Options and surroundings that both ways of restoring share. */
export interface RestoreContext {
  readonly options: RestoreOptions;
  readonly context: CommandContext;
  readonly stop: AbortSignal;
  readonly log: Log;
}

/** The result of a restore. */
export interface Restored {
  /** Where the data are now, and where those that were there before; absent: there were none. */
  readonly directory: string;
  readonly aside?: string;
  /** Printed with `--json`, besides these. */
  readonly figures: Readonly<Record<string, unknown>>;
  /** Lines for people, and faults that they have to see to. */
  readonly said: readonly string[];
  readonly failed: readonly string[];
}
