import type { Command } from "commander";
import { drivers } from "../../drivers/index.ts";
import { defaultConfigFiles, findConfig, loadConfig } from "../config/config.ts";
import { OperatorError, StoreOutage } from "../errors.ts";
import { startGateway } from "../gateway.ts";
import { startReadOnlyGateway } from "../read-only-gateway.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { serve, serverLog } from "./serving.ts";

/** `lintel run`: a gateway, until a signal stops it. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel run": "with /etc/lintel/lintel.toml, or ./lintel.toml",
      "lintel run --config home.toml --json": "for a script: waits for one line, then asks its url",
    },
    notes: [
      "The log goes to standard error. SIGINT and SIGTERM stop it cleanly.",
      "Hardware that is missing or silent is tried again for ever: see lintel status.",
    ],
    exits: { 0: "stopped by a signal", 1: "ended by a fault of the program" },
  });
  command
    .option("--config <file>", `its configuration (default: ${defaultConfigFiles.join(", then ")})`)
    .option("--json", "print one line of JSON when ready: url, dashboard")
    .action((options: { config?: string; json?: boolean }) => run(options, context));
}

async function run(options: { config?: string; json?: boolean }, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const file = options.config ?? findConfig();
  if (file === undefined) {
    throw new OperatorError(
      `there is no configuration: neither ${defaultConfigFiles.join(" nor ")} exists`,
      "make one by sudo lintel setup, or name one with --config FILE",
    );
  }
  const config = loadConfig(file, new Map(drivers.map(({ name, section }) => [name, section])));
  const log = serverLog(context, "info");
  await serve({
    context,
    log,
    isStray: (fault) => drivers.some((driver) => driver.isStray?.(fault) === true),
    start: async (onFailure) => {
      const gateway = await startGateway({ config, clock, log, drivers, onFailure }).catch((thrown) => {
        if (!(thrown instanceof StoreOutage) || thrown.reason !== "disk_read_only") throw thrown;
        log.error(`nothing is recorded, and no device is heard: ${thrown.message}`);
        return startReadOnlyGateway({ config, clock, log, onWritable: onFailure });
      });
      const { url, dashboard } = gateway;
      if (options.json) terminal.printJson({ url, dashboard });
      log.info(`serving ${url} from ${config.data}`);
      return gateway;
    },
  });
}
