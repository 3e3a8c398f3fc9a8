import type { Command } from "commander";
import { drivers } from "../../drivers/index.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import { type Config, findConfig, loadConfig } from "../config/gateway-config.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { type CheckResult, type Finding, fault, fine, note, type Surroundings } from "./doctor/finding.ts";
import { checkAdapters, checkDrivers, checkPins, checkPorts } from "./doctor/hardware-checks.ts";
import { checkMesh } from "./doctor/mesh-check.ts";
import {
  checkLastUpload,
  checkListen,
  checkTls,
  checkUploadTimer,
  checkUploadToken,
} from "./doctor/network-checks.ts";
import {
  checkDatabase,
  checkDirectory,
  checkDiskSpace,
  checkMachine,
  checkRecords,
  checkTokens,
} from "./doctor/storage-checks.ts";
import { checkClock, checkLibc, checkService } from "./doctor/system-checks.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "./store-place.ts";

type Check = (surroundings: Surroundings) => CheckResult | Promise<CheckResult>;

/** Every check of a gateway, in the order in which faults are best repaired. */
const checks: readonly Check[] = [
  checkLibc,
  checkDirectory,
  checkDiskSpace,
  checkMachine,
  checkDatabase,
  checkRecords,
  checkClock,
  checkDrivers,
  checkPorts,
  checkAdapters,
  checkMesh,
  checkPins,
  checkListen,
  checkTls,
  checkTokens,
  checkService,
  checkUploadToken,
  checkUploadTimer,
  checkLastUpload,
];

/** Of a central server: its options say the rest, and are not in a file. */
const checksOfCentral: readonly Check[] = [
  checkLibc,
  checkDirectory,
  checkDiskSpace,
  checkMachine,
  checkDatabase,
  checkRecords,
  checkClock,
  checkTokens,
  () =>
    note(
      "a central server keeps its data here: lintel status says what it holds, lintel fleet how homes are",
    ),
];

/** `lintel doctor`: checks all that a gateway needs, and prints the remedy of each fault. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel doctor": "before the first start, or when something does not work",
      "sudo -u lintel lintel doctor": "as the gateway's user, whose rights count",
    },
    exits: { 0: "all is fine", 1: "something is not; each ✗ has a remedy" },
  });
  addDirectoryOptions(command)
    .option("--json", "print the findings as a JSON array of {state, text, remedy}")
    .action((options: StoreOptions) => doctor(options, context));
}

async function doctor(options: StoreOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const findings = await examine(options, context, (finding) => {
    if (!options.json) for (const line of linesOf(finding, context)) terminal.print(line);
  });
  if (options.json) terminal.printJson(findings);
  const faults = findings.filter(({ state }) => state === "fault").length;
  if (!options.json) terminal.print(faults === 0 ? "All is fine." : `${faults} to correct.`);
  if (faults > 0) context.exitWith(1);
}

/** Runs every check of the gateway or central that the options name; each finding is handed to `onFinding` as it comes. */
export async function examine(
  options: StoreOptions,
  context: Pick<CommandContext, "clock">,
  onFinding: (finding: Finding) => void = () => {},
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const say = (finding: Finding) => {
    findings.push(finding);
    onFinding(finding);
  };
  const surroundings = await survey(options, context, say);
  if (surroundings !== undefined) {
    for (const check of keptByCentral(surroundings.directory) ? checksOfCentral : checks) {
      for (const finding of await foundBy(check, surroundings)) say(finding);
    }
  }
  return findings;
}

function keptByCentral(directory: string): boolean {
  try {
    return storedRole(directory) === "central";
  } catch {
    // A database that cannot be opened is reported by its check.
    return false;
  }
}

/** Reads the configuration and asks the running gateway; undefined where no data directory is known. */
async function survey(
  options: StoreOptions,
  { clock }: Pick<CommandContext, "clock">,
  say: (finding: Finding) => void,
): Promise<Surroundings | undefined> {
  const file = options.data === undefined ? (options.config ?? findConfig()) : undefined;
  const config = file === undefined ? undefined : await orFault(say, async () => configIn(file, say));
  const directory = config?.data ?? directoryOf(options, file);
  if (directory === undefined) return undefined;
  const running = await orFault(say, () => new ControlClient(directory).statusIfRunning());
  return { clock: new GuardedClock({ clock, directory }), directory, config, running };
}

function configIn(file: string, say: (finding: Finding) => void): Config {
  const config = loadConfig(file, new Map(drivers.map(({ name, section }) => [name, section])));
  say(fine(`configuration ${file} is in order`));
  for (const warning of config.warnings) say(note(warning));
  return config;
}

/** The directory that a faulty configuration names all the same; undefined where it names none. */
function directoryOf(options: StoreOptions, file: string | undefined): string | undefined {
  try {
    return dataDirectory(options);
  } catch (error) {
    if (error instanceof OperatorError && file !== undefined) return undefined;
    throw error;
  }
}

/** The result of an action; undefined where it throws an OperatorError, which becomes a finding. */
async function orFault<Result>(
  say: (finding: Finding) => void,
  action: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    say(fault(error.what, error.remedy));
    return undefined;
  }
}

/** A check that fails itself is a finding too: the others go on. */
async function foundBy(check: Check, surroundings: Surroundings): Promise<readonly Finding[]> {
  try {
    return [await check(surroundings)].flat();
  } catch (error) {
    if (error instanceof OperatorError) return [fault(error.what, error.remedy)];
    return [
      fault(
        `could not be checked: ${messageOf(error)}`,
        "correct the faults above first, then run this again",
      ),
    ];
  }
}

function linesOf(finding: Finding, { terminal: { colours } }: CommandContext): string[] {
  const marks = { fine: colours.green("✓"), fault: colours.red("✗"), note: colours.dim("–") };
  const lines = [`${marks[finding.state]} ${finding.text}`];
  if (finding.remedy !== undefined) lines.push(`  ${colours.yellow("→")} ${finding.remedy}`);
  return lines;
}
