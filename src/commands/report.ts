import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, InvalidArgumentError } from "commander";
import { type Config, findConfig, loadParts } from "../config/config.ts";
import { OperatorError } from "../errors.ts";
import { startOfDate_ms } from "../meaning/local-day.ts";
import { type PillboxReport, reportOf, type WalkingReport } from "../meaning/report.ts";
import { walkRejections } from "../meaning/walks.ts";
import { machineTimezone } from "../timezone.ts";
import { addHelp, type CommandContext, nameList } from "./command.ts";
import { folding } from "./fold.ts";
import { doseLines } from "./report/dose-grid.ts";
import { speedLines } from "./report/speed-plot.ts";
import { addStoreOptions, type StoreOptions } from "./store-options.ts";
import type { Terminal } from "./terminal.ts";
import { withStore } from "./with-store.ts";

/** `lintel report`: doses taken and missed, and walking speed, for people. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel report": "the last four weeks",
      "lintel report --item pillbox-morning --since 2026-11-01": "one box since a day",
      "lintel report --json | jq '.walking[].days'": "for a script",
    },
    notes: [
      "Days are those of the home. Walking speed needs a [walking] section in the configuration, or in a",
      "lintel.toml in the data directory. It reads and changes nothing; docs/report.md says how it judges.",
    ],
  });
  addStoreOptions(command)
    .option("--item <names>", "only these pill boxes and curtain sensors, with commas between", nameList)
    .option("--since <date>", "from this day on: 2026-01-31 (default: four weeks)", parseDate)
    .option("--until <date>", "up to, and without, this day (default: today is the last)", parseDate)
    .option("--json", "print it as JSON, with every dose and walk")
    .action((options: ReportCommandOptions) => report(options, context));
}

interface ReportCommandOptions extends StoreOptions {
  readonly item?: readonly string[];
  readonly since?: string;
  readonly until?: string;
}

async function report(options: ReportCommandOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const { since, until, item: items } = options;
  if (since !== undefined && until !== undefined && since >= until)
    throw new OperatorError(`--since ${since} is not before --until ${until}`, "give an earlier --since");
  const found = await withStore(options, context, (store, directory) => {
    const { timezone = machineTimezone(), walking: lines = [] } = settingsOf(options, directory);
    return reportOf({ store, now_ms: clock.now().unix_ms, lines, timezone, items, since, until });
  });
  if (options.json) {
    terminal.printJson(found);
    return;
  }
  if (found.pillboxes.length + found.walking.length === 0)
    terminal.say(
      "There is nothing to report on: no pill boxes, and no line of curtain sensors in [walking].",
    );
  const folded = folding(terminal);
  for (const box of found.pillboxes) printBox(box, folded);
  for (const line of found.walking) printWalking(line, folded);
}

/** Columns that are left where lines are indented by two. */
function inside(width: number | undefined): number | undefined {
  return width === undefined ? undefined : width - 2;
}

function printBox(box: PillboxReport, { print, colours, width }: Terminal): void {
  print(colours.bold(`Pill box ${box.itemname}`) + colours.dim(`  ${box.timezone}`));
  for (const line of doseLines(box, colours, inside(width))) print(line === "" ? "" : `  ${line}`);
  print("");
}

function printWalking(line: WalkingReport, { print, colours, width }: Terminal): void {
  const [first, last] = [line.sensors[0]?.metres ?? 0, line.sensors.at(-1)?.metres ?? 0];
  const made = `${line.sensors.length} sensors over ${(last - first).toFixed(2)} m, ${line.timezone}`;
  print(colours.bold(`Walking speed, ${line.name}`) + colours.dim(`  m/s; ${made}`));
  for (const text of speedLines(line, colours, inside(width))) print(`  ${text}`);
  const rejected = Object.entries(line.rejected)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${walkRejections[reason as keyof typeof walkRejections]}`);
  if (rejected.length > 0) print(colours.dim(`  left out: ${rejected.join("; ")}`));
  print("");
}

/** Settings from the configuration, or from one in the data directory; none where there is neither, as for a database. */
function settingsOf(
  options: StoreOptions,
  directory: string | undefined,
): { readonly timezone?: string; readonly walking?: Config["walking"] } {
  if (directory === undefined) return {};
  const local = join(directory, "lintel.toml");
  if (options.data !== undefined && !existsSync(local)) return {};
  const file = options.data === undefined ? (options.config ?? findConfig() ?? local) : local;
  const { home, walking } = loadParts(file, "home", "walking");
  return { timezone: home.timezone, walking };
}

function parseDate(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || startOfDate_ms("UTC", text) === undefined)
    throw new InvalidArgumentError("It must be a day such as 2026-01-31.");
  return text;
}
