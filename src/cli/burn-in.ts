import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import { drivers } from "../../drivers/index.ts";
import { writeDurably } from "../base/disk/safe-files.ts";
import { OperatorError } from "../base/errors.ts";
import { signedJson } from "../base/signed-json.ts";
import { plainLine } from "../base/text.ts";
import { type Config, loadConfig } from "../config/gateway-config.ts";
import {
  type BurnInCheckName,
  burnInAnswer,
  burnInChecks,
  burnInNames,
  checksWith,
  type SignedBurnIn,
} from "../domain/burn-in.ts";
import { burnInFile } from "../domain/burn-in-file.ts";
import { boxKey } from "../gateway/box-key.ts";
import { burnInRecordIn, hardwareOf } from "../gateway/burn-in-record.ts";
import { burnInPost, takeLock } from "../store/sqlite/data-directory.ts";
import {
  type Bench,
  type BurnInFinding,
  type BurnInState,
  burnInUnderWay,
  forgetState,
  keepState,
} from "./burn-in/bench.ts";
import { parseCode } from "./burn-in/blocks.ts";
import { checkDisk, forgottenFinding } from "./burn-in/disk-check.ts";
import { checkClock, checkRestore, checkUpload } from "./burn-in/line-checks.ts";
import { checkPower } from "./burn-in/power-check.ts";
import { checkRadio, checkSensors, checkSticks } from "./burn-in/radio-checks.ts";
import { addHelp, type CommandContext, nameList } from "./command.ts";
import { interruptible } from "./progress.ts";
import { Asker } from "./setup/asker.ts";
import {
  addDirectoryOptions,
  configurationOf,
  dataDirectory,
  requireOwner,
  type StoreOptions,
  siteOf,
} from "./store-place.ts";
import type { Colours } from "./terminal.ts";
import { folding, momentText } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel burn-in`: proof of the real hardware, at the bench, before a box goes to a home. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "sudo -u lintel lintel burn-in": "begin, or go on after a power cut",
      'lintel burn-in --skip disk --reason "proven in another box"': "leave a check out",
      "lintel burn-in --again disk": "make a check anew once the part was replaced",
      "lintel burn-in --show --json": "the signed record",
    },
    notes: [
      "Run it by ssh from another computer: its screen keeps the last number when the box loses its power. The record is",
      "signed with the key of the box, and goes to central with the next upload.",
    ],
    exits: { 0: "every check has passed or was skipped", 1: "a check failed, or the plug was not pulled" },
  });
  addDirectoryOptions(command)
    .option("--skip <checks>", "leave checks out, with --reason; commas between their names", checkNames)
    .option("--reason <text>", "why, as the record will say")
    .addOption(new Option("--again <check>", "make a check once more").choices([...burnInNames, "all"]))
    .option("--show", "show the record, and do nothing")
    .option("--json", "print the signed record as JSON")
    .action((options: BurnInOptions) => burnIn(options, context));
}

function checkNames(text: string): BurnInCheckName[] {
  return nameList(text).map((given) => {
    const name = burnInNames.find((one) => one === given);
    if (name === undefined) throw new InvalidArgumentError(`The checks are ${burnInNames.join(", ")}.`);
    return name;
  });
}

interface BurnInOptions extends StoreOptions {
  readonly skip?: readonly BurnInCheckName[];
  readonly reason?: string;
  readonly again?: BurnInCheckName | "all";
  readonly show?: boolean;
}

type Check = (bench: Bench) => Promise<BurnInFinding>;

const checks: Readonly<Record<BurnInCheckName, Check>> = {
  disk: checkDisk,
  power: (bench) => checkPower(bench),
  stick: checkSticks,
  sensors: checkSensors,
  radio: checkRadio,
  clock: checkClock,
  upload: checkUpload,
  restore: checkRestore,
};

async function burnIn(options: BurnInOptions, context: CommandContext): Promise<void> {
  const directory = dataDirectory(options);
  if (options.show) return print(requireRecord(directory), options, context);
  if ((options.skip === undefined) !== (options.reason === undefined))
    throw new OperatorError("a check is skipped for a reason", "give both --skip CHECK and --reason TEXT");
  requireOwner(directory, "burn-in");
  using _ = takeLock(directory, burnInPost);
  const done = await interruptible(context, { interrupted }, (stop) => {
    // A session that ends is no power cut.
    const hangUp = () => void process.kill(process.pid, "SIGTERM");
    process.on("SIGHUP", hangUp);
    return work(directory, options, context, stop).finally(() => process.off("SIGHUP", hangUp));
  });
  if (done !== undefined) print(done, options, context);
}

const interrupted = "Interrupted: run lintel burn-in again to go on from here.";

/** Makes every check that has no result yet, and signs the record of all. */
async function work(
  directory: string,
  options: BurnInOptions,
  context: CommandContext,
  stop: AbortSignal,
): Promise<SignedBurnIn> {
  const { clock, version } = context;
  const terminal = folding(context.terminal);
  const config = configIn(options);
  const kept = burnInUnderWay(directory);
  let state = kept ?? begun({ directory, config, again: options.again, begun_ms: clock.now().unix_ms });
  const keep = (change: Partial<BurnInState>) => {
    state = { ...state, ...change };
    keepState(directory, state);
  };
  const note = (name: BurnInCheckName, finding: BurnInFinding) =>
    keep({ results: { ...state.results, [name]: { ...finding, at_ms: clock.now().unix_ms } } });
  keep({});
  for (const name of options.skip ?? [])
    note(name, { outcome: "skipped", found: plainLine(options.reason ?? "") });
  const asker = new Asker(terminal);
  const bench: Bench = {
    ...{ directory, config, version, clock, terminal, asker, stop, keep },
    site: config?.upload && siteOf({ config: configurationOf(options) }),
    items: () => withStore(options, context, (store) => store.itemOverviews()),
    get state() {
      return state;
    },
  };
  try {
    if (kept === undefined && state.results.disk === undefined) {
      const forgotten = await askForgotten(bench);
      if (forgotten !== undefined) note("disk", forgotten);
    }
    for (const name of burnInNames) {
      if (state.results[name] !== undefined) continue;
      const { title, asks } = burnInChecks[name];
      terminal.print(`${terminal.colours.bold(title)}. ${asks}`);
      note(name, await checks[name](bench));
    }
  } finally {
    asker.close();
  }
  return finish(directory, { state, version, home: config?.home.id, ended_ms: clock.now().unix_ms });
}

function finish(
  directory: string,
  made: { state: BurnInState; version: string; home: number | undefined; ended_ms: number },
): SignedBurnIn {
  const { state, version, home, ended_ms } = made;
  const { begun_ms, hardware, results } = state;
  const of = { format: "lintel burn-in 1", version, ...(home === undefined ? {} : { home }) } as const;
  const record = signedJson({ ...of, begun_ms, ended_ms, hardware, results }, boxKey(directory));
  writeDurably(join(directory, burnInFile), `${JSON.stringify(record, null, 2)}\n`);
  forgetState(directory);
  return record;
}

/** A burn-in without results, or with those of the record that need not be made again. */
function begun(options: {
  readonly directory: string;
  readonly config: Config | undefined;
  readonly again: BurnInCheckName | "all" | undefined;
  readonly begun_ms: number;
}): BurnInState {
  const { directory, config, again, begun_ms } = options;
  const record = burnInRecordIn(directory)?.signed;
  if (record !== undefined && again === undefined)
    throw new OperatorError(
      `the burn-in of this box ended at ${momentText(record.ended_ms)}`,
      "lintel burn-in --show shows its record, and --again CHECK makes a check anew",
    );
  const results = Object.entries(again === "all" ? {} : (record?.results ?? {})).filter(
    ([name]) => name !== again,
  );
  const ports = [...(config?.drivers.values() ?? [])].flatMap(
    (section) => (section as { port?: string }).port ?? [],
  );
  return {
    run: randomBytes(16).toString("hex"),
    begun_ms,
    hardware: hardwareOf({ directory, ports }),
    results: Object.fromEntries(results),
    disk: { passed: 0, blocks: 0 },
  };
}

/** Asks whether the disk has forgotten a burn-in that began: the finding of that, where the technician has its number. */
async function askForgotten({ asker }: Bench): Promise<BurnInFinding | undefined> {
  const question = "If a power cut has left a number on the screen, type it now (Enter: this burn-in is new)";
  const code = await asker.ask(question, (text) => {
    if (text === "") return null;
    return parseCode(text) ?? { why: "that is no number of the screen: type all of it, such as 2-1234-KT" };
  });
  return code === null ? undefined : forgottenFinding(code);
}

/** Absent where only a data directory is named. */
function configIn(options: StoreOptions): Config | undefined {
  const file = configurationOf(options);
  if (file === undefined) return undefined;
  return loadConfig(file, new Map(drivers.map(({ name, section }) => [name, section])));
}

function requireRecord(directory: string): SignedBurnIn {
  const record = burnInRecordIn(directory);
  if (record !== undefined) return record;
  throw new OperatorError(`${directory} has no record of a burn-in`, "make one with lintel burn-in");
}

function print(record: SignedBurnIn, { json }: BurnInOptions, context: CommandContext): void {
  const { results } = record.signed;
  const failed = checksWith("failed", results);
  if (failed.length > 0) context.exitWith(1);
  if (json) {
    context.terminal.printJson(record);
    return;
  }
  const terminal = folding(context.terminal);
  for (const line of recordLines(record, terminal.colours)) terminal.print(line);
}

/** The record as lines of text: the answer first. */
function recordLines({ signed, key }: SignedBurnIn, { bold, green, red, dim }: Colours): string[] {
  const marks = { passed: green("✓"), failed: red("✗"), skipped: dim("–") };
  return [
    bold(burnInAnswer(signed.results)),
    ...burnInNames.flatMap((name) => {
      const result = signed.results[name];
      if (result === undefined) return [];
      const { title, remedy } = burnInChecks[name];
      const reason = result.outcome === "skipped" ? "skipped: " : "";
      const line = `${marks[result.outcome]} ${title}: ${reason}${plainLine(result.found)}`;
      return result.outcome === "failed" ? [line, `  ${remedy}`] : [line];
    }),
    dim(
      `Ended ${momentText(signed.ended_ms)} with Lintel ${plainLine(signed.version)}. Signed by the key ${key}.`,
    ),
  ];
}
