import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { writeDurably } from "../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { startOfDate_ms } from "../base/time.ts";
import { version } from "../base/version.ts";
import { passRejections } from "../domain/derived/walking-passes.ts";
import { shownStore } from "../store/visible-store.ts";
import {
  householdReportOf,
  type PillboxReport,
  type WalkingReport,
} from "../web/pages/report/household-report.ts";
import type { ReportPageOf } from "../web/pages/report/report-document.tsx";
import { addHelp, type CommandContext, nameList } from "./command.ts";
import { withSettings } from "./home-settings.ts";
import { doseLines, speedLines } from "./report-text.ts";
import { addStoreOptions, type StoreOptions } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";
import { folding } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel report`: doses taken and missed, and walking speed, for people. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel report": "the last four weeks",
      "lintel report --item pillbox-morning --since 2026-11-01": "one box since a day",
      "lintel report --json | jq '.walking[].days'": "for a script",
      "lintel report --html report.html": "as a page with plots, in one file",
    },
    notes: [
      "Days are those of the home. Walking speed needs a [walking] section in the configuration, or in a",
      "lintel.toml in the data directory. It reads and changes nothing; docs/report.md says how it judges.",
    ],
  });
  addStoreOptions(command)
    .option("--item <names>", "only these items, with commas between", nameList)
    .addOption(
      new Option("--home <n>", "only what is installed in this home, by its number").argParser(parseHome),
    )
    .option("--since <date>", "from this day on: 2026-01-31 (default: four weeks)", parseDate)
    .option("--until <date>", "up to, and without, this day (default: today is the last)", parseDate)
    .option("--json", "print it as JSON, with every dose and walk")
    .option(
      "--html <file>",
      "write it as one page, with plots of activity, weight, sleep and missing data too",
    )
    .action((options: ReportCommandOptions) => report(options, context));
}

interface ReportCommandOptions extends StoreOptions {
  readonly item?: readonly string[];
  readonly home?: number;
  readonly since?: string;
  readonly until?: string;
  readonly html?: string;
}

async function report(options: ReportCommandOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const { since, until, home, item: items } = options;
  if (since !== undefined && until !== undefined && since >= until)
    throw new OperatorError(`--since ${since} is not before --until ${until}`, "give an earlier --since");
  const now_ms = clock.now().unix_ms;
  const found = await withSettings(options, context, (settingOf) =>
    withStore(options, context, async (store) =>
      householdReportOf({ store: await shownStore(store), now_ms, settingOf, home, items, since, until }),
    ),
  );
  if (options.html !== undefined) await writePage(options.html, { report: found, now_ms, version });
  if (options.json) {
    terminal.printJson(found);
    return;
  }
  if (options.html !== undefined) {
    terminal.print(resolve(options.html));
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

/** Writes the page, for its owner alone: it is somebody's life. */
async function writePage(file: string, page: ReportPageOf): Promise<void> {
  if (page.report.missing.length === 0)
    throw new OperatorError("there is nothing to report on", "lintel items lists what is installed where");
  const homes = new Set(page.report.missing.flatMap(({ homeid }) => homeid ?? []));
  if (homes.size > 1)
    throw new OperatorError(
      `a page is of one home, and there are ${homes.size} here`,
      `give --home, of ${[...homes].slice(0, homes_max).join(", ")}${homes.size > homes_max ? " …" : ""}`,
    );
  // Loaded where it is asked for: what draws pages is large.
  const { reportDocument } = await import("../web/pages/report/report-document.tsx");
  const path = resolve(file);
  try {
    writeDurably(path, reportDocument(page));
  } catch (thrown) {
    throw new OperatorError(
      `cannot write ${path} (${messageOf(thrown)})`,
      "name another file with --html FILE",
    );
  }
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
    .map(([reason, count]) => `${count} ${passRejections[reason as keyof typeof passRejections]}`);
  if (rejected.length > 0) print(colours.dim(`  left out: ${rejected.join("; ")}`));
  print("");
}

function parseHome(text: string): number {
  const home = Number(text);
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be the number of a home.");
  return home;
}

function parseDate(text: string): string {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || startOfDate_ms("UTC", text) === undefined)
    throw new InvalidArgumentError("It must be a day such as 2026-01-31.");
  return text;
}

/** Homes that are named where one must be chosen. */
const homes_max = 20;
