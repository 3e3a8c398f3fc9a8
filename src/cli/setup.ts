import type { Command } from "commander";
import { adapterNumber } from "../../drivers/ble/adapter.ts";
import { drivers } from "../../drivers/index.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { defaultConfigFiles, loadConfig, loadParts } from "../config/gateway-config.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { addHelp, type CommandContext } from "./command.ts";
import type { Surroundings } from "./doctor/finding.ts";
import { checkPins, checkPorts } from "./doctor/hardware-checks.ts";
import { checkListen, checkUploadTimer, checkUploadToken } from "./doctor/network-checks.ts";
import { checkDiskSpace } from "./doctor/storage-checks.ts";
import { checkService } from "./doctor/system-checks.ts";
import { adapterPorts, pluggedIn } from "./serial-ports.ts";
import { Asker } from "./setup/asker.ts";
import { readHomeFile, type Wanted } from "./setup/home-file.ts";
import { askForAll, tryCentral } from "./setup/questions.ts";
import { changesFor, noteFaults, putAway, valuesIn, writeChanges } from "./setup/setup-files.ts";
import { enableServices, startServices, whyNoService } from "./setup/systemd-services.ts";

/** `lintel setup`: writes the configuration of a gateway from one file, or from answers, and starts it. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "sudo lintel setup": "asks for all settings",
      "sudo lintel setup --file lintel-home.toml": "from a file, such as one on the boot partition",
      "sudo lintel setup --file new.toml --replace": "set up a box again with other settings",
    },
    notes: [
      "The file has the keys of lintel.toml, and in [setup] the token for central (upload_token) and, where no authority",
      "vouches for it, central's certificate (upload_certificate). A driver's section without port gets the stick of its",
      "kind that is plugged in. docs/first-boot.md shows one. With the same file again nothing changes.",
    ],
    exits: {
      1: "it is set up, and the gateway does not start: the last lines say why",
      2: "the file, its token or this machine has to be corrected; every fault on a line of its own: nothing changed",
    },
  });
  command
    .option("--file <file>", "a file with all settings (default: setup asks at the terminal)")
    .option("--config <file>", "the configuration to write", defaultConfigFiles[0])
    .option("--replace", "set up a box again with other settings")
    .option(
      "--once",
      "once it serves, remove the token from the file, and rename it to .done.toml; faults go into a file beside it",
    )
    .option("--json", "print {configuration, changed, started, warnings} as JSON")
    .action((options: SetupOptions) => setup(options, context));
}

interface SetupOptions {
  readonly file?: string;
  readonly config: string;
  readonly replace?: true;
  readonly once?: true;
  readonly json?: true;
}

async function setup(options: SetupOptions, context: CommandContext): Promise<void> {
  const { file } = options;
  if (file !== undefined) return setUpFrom(file, options, context);
  if (options.once) throw new OperatorError("--once needs a file", "give --file FILE, or leave --once out");
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new OperatorError(
      "lintel setup needs a terminal to ask its questions",
      "give --file FILE: docs/first-boot.md shows one",
    );
  return setUpByAnswers(options, context);
}

async function setUpFrom(file: string, options: SetupOptions, context: CommandContext): Promise<void> {
  const { config, once } = options;
  try {
    const sections = new Map(drivers.map(({ name, section }) => [name, section]));
    const read = readHomeFile(file, { configuration: config, sections, ports: allPorts() });
    if ("faults" in read) sayFaults(read.faults, { file, once }, context);
    else await setUp(read.wanted, options, context);
  } catch (thrown) {
    if (!(thrown instanceof OperatorError)) throw thrown;
    sayFaults([thrown], { file, once }, context);
  }
}

async function setUpByAnswers(options: SetupOptions, context: CommandContext): Promise<void> {
  const { config } = options;
  const { terminal, clock } = context;
  const asker = new Asker(terminal);
  try {
    const before = valuesIn(config);
    const anew = `${config} is written already. Set this box up anew? What is not asked for stays`;
    const goOn = before === undefined || options.replace || (await asker.yes(anew, "no"));
    const parts = { asker, terminal, clock, configuration: config, before: before ?? {}, ports: allPorts() };
    const wanted = goOn ? await askForAll(parts) : undefined;
    if (wanted === undefined || !(await asker.yes(`Write ${config} and start the gateway?`, "yes")))
      terminal.print("Nothing was changed.");
    else await setUp(wanted, { ...options, tried: true }, context);
  } finally {
    asker.close();
  }
}

function allPorts() {
  return [...pluggedIn(), ...adapterPorts()];
}

function sayFaults(
  faults: readonly OperatorError[],
  { file, once }: { file: string; once: true | undefined },
  context: CommandContext,
): void {
  const { terminal } = context;
  const lines = faults.slice(0, faults_max).map((fault) => messageOf(fault, line_max));
  for (const line of lines) terminal.say(`${terminal.errorColours.red("lintel:")} ${line}`);
  if (once) sayUnnoted(noteFaults(file, lines), context);
  context.exitWith(exit_faults);
}

function sayUnnoted(unnoted: string | undefined, { terminal }: CommandContext): void {
  if (unnoted !== undefined) terminal.say(unnoted);
}

/** Writes what is wanted and starts it. @throws OperatorError, with nothing changed, where that may not be */
async function setUp(
  wanted: Wanted,
  options: SetupOptions & { tried?: true },
  context: CommandContext,
): Promise<void> {
  const { config, file, once } = options;
  const warnings: string[] = [];
  const changes = changesFor(config, wanted, options.replace ?? wanted.replace);
  const untried = options.tried ? undefined : await tryToken(wanted, context);
  if (untried !== undefined)
    warnings.push(`${untried}: the token is kept untried, and the next upload says more`);
  writeChanges(changes);
  const {
    upload,
    update,
    drivers: configured,
  } = loadConfig(config, new Map(drivers.map(({ name, section }) => [name, section])));
  const nightly = { upload_at: upload?.at, updates: update !== undefined };
  const why = whyNoService(config);
  const rights = why === undefined && (await enableServices(nightly, usesAdapter(configured)));
  const changed = changes.size > 0 || rights;
  const failed = why === undefined ? await failureOf(() => startServices(nightly, changed)) : undefined;
  if (failed !== undefined) {
    warnings.unshift(failed);
    context.exitWith(exit_not_started);
  }
  const { found, faults } = await driversOf(config, context);
  warnings.push(...faults);
  const amiss = await shortcomings(config, context);
  // What a driver says of its stick is more exact than what its port shows.
  const isSaid = (text: string) =>
    faults.some((fault) => text.startsWith(fault.slice(0, fault.indexOf("]") + 1)));
  warnings.push(...amiss.filter((text) => !isSaid(text)));
  const { terminal } = context;
  // Done means serving: until then the file stays, and the next run tries again.
  if (once && file !== undefined) {
    if (failed === undefined) putAway(file, wanted.token);
    else sayUnnoted(noteFaults(file, warnings), context);
  }
  if (options.json)
    terminal.printJson({ configuration: config, changed, started: (why ?? failed) === undefined, warnings });
  else sayDone({ config, changed, why, failed, found, warnings }, context);
}

/** Whether [ble] has an adapter of the kernel, for which the service needs a right more. */
function usesAdapter(configured: ReadonlyMap<string, unknown>): boolean {
  const { port } = (configured.get("ble") ?? {}) as { port?: unknown };
  return typeof port === "string" && adapterNumber(port) !== undefined;
}

/** The fault that an action ends in; undefined where it ends well. */
async function failureOf(action: () => Promise<void>): Promise<string | undefined> {
  try {
    await action();
    return undefined;
  } catch (thrown) {
    if (thrown instanceof OperatorError) return messageOf(thrown, line_max);
    throw thrown;
  }
}

/** Tries a token that is given. Answers why it could not be tried now. */
async function tryToken(
  { values, token, certificate }: Wanted,
  { clock }: CommandContext,
): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const { url } = values["upload"] as { url: string };
  const { id } = values["home"] as { id: number };
  return tryCentral({ url, token, home: id, certificate }, clock);
}

/** Words of a running gateway about its drivers, once none of them is starting any more: sticks that it found, and faults. */
async function driversOf(
  file: string,
  { clock, terminal }: CommandContext,
): Promise<{ found: string[]; faults: string[] }> {
  const { data } = loadParts(file, "data");
  const client = new ControlClient(data);
  const ask = () => client.statusIfRunning().catch(() => undefined);
  let running = await ask();
  const isStarting = () => running?.drivers.some(({ state }) => state === "starting") ?? false;
  if (isStarting()) terminal.say("Asking the sticks …");
  for (let looks = 0; looks < looks_max && isStarting(); looks += 1) {
    await new Promise<void>((resolve) => clock.after(look_interval_ms, resolve));
    running = await ask();
  }
  const told = running?.drivers ?? [];
  return {
    found: told.flatMap(({ name, state, detail }) => (state === "listening" ? `[${name}] ${detail}` : [])),
    faults: told.flatMap(({ name, state, problem }) =>
      problem === undefined
        ? state === "starting"
          ? `[${name}] is still starting: lintel status says how it goes on`
          : []
        : `[${name}] ${problem}`,
    ),
  };
}

/** Faults that `lintel doctor` finds and that no file has to be corrected for. */
async function shortcomings(file: string, { clock }: CommandContext): Promise<string[]> {
  const config = loadConfig(file, new Map(drivers.map(({ name, section }) => [name, section])));
  const running = await new ControlClient(config.data).statusIfRunning().catch(() => undefined);
  const surroundings: Surroundings = { clock, directory: config.data, config, ...(running && { running }) };
  const found = [];
  for (const check of checks) found.push(...[await check(surroundings)].flat());
  const faults = found.filter(({ state }) => state === "fault");
  return [...config.warnings, ...faults.map(({ text, remedy }) => `${text}: ${remedy}`)];
}

const checks = [
  checkDiskSpace,
  checkPorts,
  checkPins,
  checkListen,
  checkService,
  checkUploadToken,
  checkUploadTimer,
] as const;

function sayDone(
  done: {
    config: string;
    changed: boolean;
    why: string | undefined;
    failed: string | undefined;
    /** Sticks that answer. */
    found: readonly string[];
    warnings: readonly string[];
  },
  { terminal: { print, colours } }: CommandContext,
): void {
  const { config, changed, why, failed, found, warnings } = done;
  const how = changed ? "is written" : "was so already: nothing changed";
  print(`${colours.green("✓")} ${config} ${how}`);
  if (why !== undefined)
    print(`${colours.yellow("!")} the gateway was not started (${why}): lintel run --config ${config}`);
  else if (failed === undefined) print(`${colours.green("✓")} the gateway runs, and starts with the machine`);
  for (const text of found) print(`${colours.green("✓")} ${text}`);
  for (const warning of warnings) print(`${colours.yellow("!")} ${warning}`);
  print("");
  print(colours.bold("Next"));
  const lintel = why === undefined ? "sudo -u lintel lintel" : "lintel";
  const named = config === defaultConfigFiles[0] ? "" : ` --config ${config}`;
  print(`  ${lintel} token create walk --scope admin --expires 7d --link${named}`);
  print("    prints a link for a phone: its page /walk takes you from sensor to sensor through the home");
  print(`  ${lintel} pair${named}`);
  print("    lets sensors in for two minutes without a phone");
  print(`  ${lintel} doctor${named}`);
  print("    says what is still amiss");
}

const exit_faults = 2;
const exit_not_started = 1;
const faults_max = 100;
const line_max = 2_000;
/** A stick that is silent is given up after some 20 s. */
const look_interval_ms = 500;
const looks_max = 120;
