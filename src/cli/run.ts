import type { Command } from "commander";
import { drivers } from "../../drivers/index.ts";
import { messageOf, OperatorError, StoreDamaged, StoreOutage } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import type { Log } from "../base/log.ts";
import { defaultConfigFiles, findConfig, loadConfig } from "../config/gateway-config.ts";
import { startGateway } from "../gateway/gateway.ts";
import { startReadOnlyGateway } from "../gateway/read-only-gateway.ts";
import { isNotedDamaged, noteDamaged } from "../store/sqlite/damage-watch.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { runCommand } from "./own-command.ts";
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
  const { terminal } = context;
  const file = options.config ?? findConfig();
  if (file === undefined) {
    throw new OperatorError(
      `there is no configuration: neither ${defaultConfigFiles.join(" nor ")} exists`,
      "make one by sudo lintel setup, or name one with --config FILE",
    );
  }
  const config = loadConfig(file, new Map(drivers.map(({ name, section }) => [name, section])));
  const recent: string[] = [];
  const log = serverLog(context, "info", (line) => {
    recent.push(line);
    if (recent.length > 2 * recent_max) recent.splice(0, recent_max);
  });
  const clock = new GuardedClock({ clock: context.clock, directory: config.data });
  const stopKeeping = clock.keep((thrown) => log.warn(`the time is not kept: ${messageOf(thrown)}`));
  await serve({
    context: { ...context, clock },
    log,
    isStray: (fault) => drivers.some((driver) => driver.isStray?.(fault) === true),
    start: async (onEnd) => {
      const means = { command: runCommand, recentLog: () => recent.slice(-recent_max).join("\n") };
      const onFailure = (fault: OperatorError) => {
        if (fault instanceof StoreDamaged) noteDamaged(config.data);
        onEnd(fault);
      };
      const start = () => startGateway({ config, clock, log, drivers, onFailure, means });
      if (isNotedDamaged(config.data)) await mendStore(config.data, log);
      const gateway = await start().catch(async (thrown) => {
        if (thrown instanceof StoreDamaged) {
          log.error(thrown.message);
          await mendStore(config.data, log);
          return start();
        }
        if (!(thrown instanceof StoreOutage) || thrown.reason !== "disk_read_only") throw thrown;
        log.error(`nothing is recorded, and no device is heard: ${thrown.message}`);
        return startReadOnlyGateway({ config, clock, log, onWritable: onFailure });
      });
      const { url, dashboard } = gateway;
      if (options.json) terminal.printJson({ url, dashboard });
      log.info(`serving ${url} from ${config.data}`);
      return gateway;
    },
  }).finally(stopKeeping);
}

/** Lines of the log that a fault report has. */
const recent_max = 1_000;

/** Has what is left of a damaged database take its place. Loaded where there is one. */
async function mendStore(directory: string, log: Log): Promise<void> {
  const { mend } = await import("../store/sqlite/mend.ts");
  const mended = mend(directory);
  if (mended === undefined) {
    log.warn("every page of the database can be read now: the disk had failed to read one");
    return;
  }
  const { readings, unreadable, aside } = mended;
  log.warn(
    `the database was damaged: ${readings} readings of it could be read, ${unreadable} places could not; it is in ${aside}, and what central has of it comes back with the next upload`,
  );
}
