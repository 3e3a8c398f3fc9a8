import type { Command } from "commander";
import { drivers } from "../../drivers/index.ts";
import { type Config, findConfig, loadConfig } from "../config/config.ts";
import { ControlClient } from "../control/client.ts";
import { messageOf, OperatorError } from "../errors.ts";
import { storedRole } from "../store/sqlite/role.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { type Finding, fault, fine, note, type Surroundings } from "./doctor/check.ts";
import { checkDrivers, checkPins, checkPorts } from "./doctor/hardware.ts";
import { checkListen, checkTls } from "./doctor/network.ts";
import { checkDatabase, checkDirectory, checkDiskSpace, checkTokens } from "./doctor/storage.ts";
import { checkClock, checkLibc, checkService } from "./doctor/system.ts";
import { checkUpload } from "./doctor/upload.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "./store-options.ts";

/** Every check, in the order in which faults are best mended. */
const checks: readonly ((surroundings: Surroundings) => Promise<Finding[]>)[] = [
  checkLibc,
  checkDirectory,
  checkDiskSpace,
  checkDatabase,
  checkClock,
  checkDrivers,
  checkPorts,
  checkPins,
  checkListen,
  checkTls,
  checkTokens,
  checkService,
  checkUpload,
];

/** Of a central server: its options say the rest, and are not in a file. */
const checksOfCentral: typeof checks = [
  checkLibc,
  checkDirectory,
  checkDiskSpace,
  checkDatabase,
  checkClock,
  checkTokens,
  async () => [
    note(
      "a central server keeps its data here: lintel status says what it holds, lintel fleet how homes are",
    ),
  ],
];

/** `lintel doctor`: checks all that a gateway needs, and prints the remedy of each fault. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel doctor": "before the first start, or when something is amiss",
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
  const findings: Finding[] = [];
  const say = (finding: Finding) => {
    findings.push(finding);
    if (!options.json) for (const line of linesOf(finding, context)) terminal.print(line);
  };
  const surroundings = await survey(options, context, say);
  if (surroundings !== undefined) {
    for (const check of keptByCentral(surroundings.directory) ? checksOfCentral : checks) {
      for (const finding of await foundBy(check, surroundings)) say(finding);
    }
  }
  if (options.json) terminal.printJson(findings);
  const faults = findings.filter(({ state }) => state === "fault").length;
  if (!options.json) terminal.print(faults === 0 ? "All is fine." : `${faults} to mend.`);
  if (faults > 0) context.exitWith(1);
}

function keptByCentral(directory: string): boolean {
  try {
    return storedRole(directory) === "central";
  } catch {
    // A database that cannot be asked is what the checks are there to name.
    return false;
  }
}

/** Reads the configuration and asks the running gateway; undefined where no data directory is known. */
async function survey(
  options: StoreOptions,
  { clock }: CommandContext,
  say: (finding: Finding) => void,
): Promise<Surroundings | undefined> {
  let config: Config | undefined;
  const file = options.data === undefined ? (options.config ?? findConfig()) : undefined;
  if (file !== undefined) {
    try {
      config = loadConfig(file, new Map(drivers.map(({ name, section }) => [name, section])));
      say(fine(`configuration ${file} is in order`));
      for (const warning of config.warnings) say(note(warning));
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      say(fault(error.what, error.remedy));
    }
  }
  const directory = config?.data ?? directoryOf(options);
  if (directory === undefined) return undefined;
  const running = await runningOn(directory, say);
  return {
    clock,
    directory,
    ...(config === undefined ? {} : { config }),
    ...(running === undefined ? {} : { running }),
  };
}

/** The directory that a faulty configuration names all the same. */
function directoryOf(options: StoreOptions): string | undefined {
  try {
    return dataDirectory(options);
  } catch (error) {
    if (
      error instanceof OperatorError &&
      options.data === undefined &&
      (options.config ?? findConfig()) !== undefined
    ) {
      return undefined;
    }
    throw error;
  }
}

async function runningOn(
  directory: string,
  say: (finding: Finding) => void,
): Promise<Surroundings["running"]> {
  try {
    return await new ControlClient(directory).statusIfRunning();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    say(fault(error.what, error.remedy));
    return undefined;
  }
}

/** A check that fails itself is a finding too: the others go on. */
async function foundBy(check: (typeof checks)[number], surroundings: Surroundings): Promise<Finding[]> {
  try {
    return await check(surroundings);
  } catch (error) {
    if (error instanceof OperatorError) return [fault(error.what, error.remedy)];
    return [
      fault(`could not be checked: ${messageOf(error)}`, "mend what stands above first, then ask again"),
    ];
  }
}

function linesOf(finding: Finding, { terminal: { colours } }: CommandContext): string[] {
  const marks = { fine: colours.green("✓"), fault: colours.red("✗"), note: colours.dim("–") };
  const lines = [`${marks[finding.state]} ${finding.text}`];
  if (finding.remedy !== undefined) lines.push(`  ${colours.yellow("→")} ${finding.remedy}`);
  return lines;
}
