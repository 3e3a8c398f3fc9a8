import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Command } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import { findConfig } from "../config/gateway-config.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { databasePath } from "../store/sqlite/connection.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { examine } from "./doctor.ts";
import {
  clockFacts,
  configurationForm,
  gatewayFacts,
  journal,
  lastLinesOf,
  machineFacts,
  sticks,
  storeFacts,
  unitStates,
} from "./fault-report/gathered-facts.ts";
import { namesIn, programWords, Scrub } from "./fault-report/scrub.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "./store-place.ts";
import { bytesText } from "./terminal-text.ts";

/** `lintel report-fault`: writes one file with all that a developer needs, and nothing that names a person. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "sudo lintel report-fault": "as root, who may read the journal",
      "lintel report-fault --log lintel.log": "where systemd does not run and the log is in a file",
    },
    notes: [
      "It has versions, the states of units, the last 2000 lines of their journal, what doctor and status say, the forms of settings,",
      "and counts of what is stored. Names of people, items, rooms and tokens, addresses and unknown words are numbered",
      "stand-ins. It is plain text: read it before you send it. docs/looking-after.md says what stays.",
    ],
  });
  addDirectoryOptions(command)
    .option("--out <file>", "the file to write (default: lintel-fault-TIME.json here)")
    .option("--log <file>", "a file with the log, besides the journal")
    .option("--json", "print {file, bytes} as JSON")
    .action((options: FaultOptions) => reportFault(options, context));
}

interface FaultOptions extends StoreOptions {
  readonly out?: string;
  readonly log?: string;
}

async function reportFault(options: FaultOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const directory = dataDirectory(options);
  const stamp = new Date(clock.now().unix_ms).toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const file = resolve(options.out ?? `lintel-fault-${stamp}.json`);
  const text = `${JSON.stringify(await contents(directory, options, context), null, 1)}\n`;
  try {
    writeFileSync(file, text, { flag: "wx", mode: 0o600 });
  } catch (thrown) {
    const there = (thrown as NodeJS.ErrnoException).code === "EEXIST";
    const what = there ? `${file} is there already` : `cannot write ${file} (${messageOf(thrown)})`;
    throw new OperatorError(what, "name another file with --out FILE");
  }
  if (options.json) terminal.printJson({ file, bytes: text.length });
  else {
    terminal.print(file);
    terminal.say(`${bytesText(text.length)} of plain text without names: read it before you send it.`);
  }
}

/** The report. A part that cannot be had says why, and the others stand. */
async function contents(directory: string, options: FaultOptions, context: CommandContext): Promise<object> {
  const { clock, version } = context;
  const names = await part(() => namesIn(databasePath(directory)));
  const scrub = new Scrub({ words: programWords(), names: Array.isArray(names) ? names : [] });
  const scrubbed = async (make: () => unknown) => scrub.value(await part(make));
  const configuration = options.data === undefined ? (options.config ?? findConfig()) : undefined;
  const { log } = options;
  const running = await part(() => new ControlClient(directory).statusIfRunning());
  return {
    report: "lintel fault 1",
    version,
    made: new Date(clock.now().unix_ms).toISOString(),
    role: await part(() => storedRole(directory) ?? null),
    names_known: Array.isArray(names) ? true : await scrubbed(() => names),
    machine: await part(() => machineFacts(directory)),
    sticks: await part(sticks),
    clock: await part(() => clockFacts(clock)),
    units: (await part(unitStates)) ?? "systemd does not run here",
    configuration:
      configuration === undefined ? null : await part(() => configurationForm(configuration, scrub), scrub),
    doctor: await scrubbed(() => examine(options, context)),
    gateway: await part(() => gatewayFacts(running, scrub), scrub),
    store: await part(() => storeFacts(directory, context, scrub), scrub),
    journal: await part(
      () =>
        journal()?.map(({ text, ...line }) => ({ ...line, text: scrub.text(text) })) ??
        "no journal can be read",
    ),
    ...(log === undefined
      ? {}
      : {
          log: await part(
            () => lastLinesOf(readFileSync(log, "utf8")).map((line) => scrub.text(line)),
            scrub,
          ),
        }),
  };
}

/** A part of the report, or the reason why there is none. */
async function part(make: () => unknown, scrub?: Scrub): Promise<unknown> {
  try {
    return await make();
  } catch (thrown) {
    const failed = messageOf(thrown);
    return { failed: scrub?.text(failed) ?? (thrown as NodeJS.ErrnoException).code ?? "unknown" };
  }
}
