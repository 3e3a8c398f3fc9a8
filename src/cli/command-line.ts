import { Command, CommanderError } from "commander";
import { SystemClock } from "../base/clock.ts";
import { diskFault } from "../base/disk/disk-fault.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import { version } from "../base/version.ts";
import type { CommandContext } from "./command.ts";
import { commands } from "./command-table.ts";
import type { Terminal } from "./terminal.ts";

/** Runs the command that `words`, the arguments of the program, name. Answers its exit code. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<number> {
  // Nearly every file that a command makes holds people's data: it is its owner's alone, whatever the directory.
  process.umask(0o077);
  let code = 0;
  const context: CommandContext = {
    terminal,
    clock: new SystemClock(),
    version,
    exitWith: (wanted) => {
      code = wanted;
    },
  };
  let program: Command | undefined;
  try {
    program = await programFor(words, context);
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync([...words], { from: "user" });
    return code;
  } catch (error) {
    return explain(error, commandIn(program, words), terminal);
  }
}

/** The command line, with the commands that occur in `words` loaded and the others by name and summary. */
async function programFor(words: readonly string[], context: CommandContext): Promise<Command> {
  const { terminal } = context;
  // Taken after the name of a command too.
  const versionOption = ["-V, --version", "print the version"] as const;
  const program = new Command("lintel")
    .description(
      "Home gateway for research on ageing in place, and the central server that gateways upload to.",
    )
    .version(context.version, ...versionOption)
    // What follows the name of a command is its own: a command and those below it may have options of one name.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        for (const line of text.trimEnd().split("\n")) terminal.print(line);
      },
      // Errors are printed once, by explain() below.
      outputError: () => undefined,
      getOutHasColors: () => terminal.colours.isColorSupported,
    })
    .configureHelp({
      styleTitle: (text) => terminal.colours.bold(text),
      styleCommandText: (text) => terminal.colours.cyan(text),
      styleSubcommandText: (text) => terminal.colours.cyan(text),
      styleOptionText: (text) => terminal.colours.cyan(text),
      styleArgumentText: (text) => terminal.colours.cyan(text),
    })
    .showSuggestionAfterError()
    .addHelpText(
      "after",
      "\nStart with:\n  lintel demo               a flat full of simulated sensors, and how to ask for their data\n  lintel <command> --help   options, examples and exit codes of a command",
    );
  for (const [name, { summary, load, serves }] of Object.entries(commands)) {
    const command = program
      .command(name)
      .description(summary)
      .version(context.version, ...versionOption);
    if (!words.includes(name)) continue;
    if (serves) endOnSignal();
    (await load()).define(command, context);
  }
  return program;
}

/** A signal ends a server with 0 also while it is being loaded; from its start on, the server listens to them itself. */
function endOnSignal(): void {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(0);
    });
  }
}

/** The command that `words` name, as it is written to get its help: `token create`; empty where they name none. */
function commandIn(program: Command | undefined, words: readonly string[]): string {
  const names: string[] = [];
  let command = program;
  for (const word of words) {
    const named = command?.commands.find((one) => one.name() === word);
    if (named === undefined) continue;
    names.push(word);
    command = named;
  }
  return names.join(" ");
}

/** Prints the error that ended a command in one line, and answers its exit code. */
function explain(error: unknown, named: string, terminal: Terminal): number {
  const red = terminal.errorColours.red;
  if (error instanceof CommanderError) {
    // Help and version end a command too, with 0.
    if (error.exitCode === 0) return 0;
    const what = error.message
      .replace(/^error: /, "")
      .replace(/\s*\n\s*/g, " ")
      .replace(/\.$/, "");
    terminal.say(`${red("lintel:")} ${what}: see lintel ${named === "" ? "" : `${named} `}--help`);
    return exit_operator;
  }
  if (process.env["LINTEL_DEBUG"]) for (const line of stackOf(error)) terminal.say(line);
  const known = error instanceof OperatorError ? error : diskFault(error);
  if (known !== undefined) {
    terminal.say(`${red("lintel:")} ${messageOf(known, line_max)}`);
    return exit_operator;
  }
  terminal.say(
    `${red("lintel:")} unexpected: ${messageOf(error)}: this is a fault of the program, LINTEL_DEBUG=1 shows where`,
  );
  return exit_unexpected;
}

function stackOf(error: unknown): string[] {
  return (error instanceof Error ? (error.stack ?? "") : String(error)).split("\n");
}

const exit_unexpected = 1;
const exit_operator = 2;
/** Characters of the line that reports an error. */
const line_max = 2_000;
