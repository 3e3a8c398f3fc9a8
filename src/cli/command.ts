import { type Command, InvalidArgumentError } from "commander";
import type { Clock } from "../base/clock.ts";
import type { Terminal } from "./terminal.ts";

/** A command of `lintel`: the module behind one row of `command-table.ts`. */
export interface CommandModule {
  /** Gives `command` its arguments, options, help and action. */
  define(command: Command, context: CommandContext): void;
}

export interface CommandContext {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly version: string;
  /** Sets the exit code of the process once the action is over; 0 by default. */
  exitWith(code: number): void;
}

/** Help that follows the options of a command. */
export interface Help {
  /** Lines to paste, and their meanings. */
  readonly examples: Readonly<Record<string, string>>;
  readonly notes?: readonly string[];
  /** The meaning of each exit code. */
  readonly exits: Readonly<Record<number, string>>;
}

const helps = new WeakMap<Command, Help>();

/** Adds help that follows the options; exit codes that are not given have the meaning that they have for every command. */
export function addHelp(
  command: Command,
  given: Omit<Help, "exits"> & { readonly exits?: Help["exits"] },
): void {
  const help: Help = {
    ...given,
    exits: {
      0: "all went well",
      2: "bad arguments, configuration or input: nothing changed",
      ...given.exits,
    },
  };
  helps.set(command, help);
  const width = Math.max(...Object.keys(help.examples).map((line) => line.length));
  const lines = ["", "Examples:"];
  for (const [line, meaning] of Object.entries(help.examples))
    lines.push(`  ${line.padEnd(width)}  ${meaning}`);
  if (help.notes !== undefined) lines.push("", ...help.notes);
  lines.push("", "Exit codes:");
  for (const [code, meaning] of Object.entries(help.exits)) lines.push(`  ${code}  ${meaning}`);
  command.addHelpText("after", lines.join("\n"));
}

/** The help that was added to a command. */
export function helpOf(command: Command): Help | undefined {
  return helps.get(command);
}

/** Names with commas between. */
export function nameList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

/** An address that a server listens on; an IPv6 one may stand in brackets. */
export function listenAddress(text: string): string {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  if (!/^[\w.:-]+$/.test(bare))
    throw new InvalidArgumentError("It must be an address, such as 127.0.0.1 or ::.");
  return bare;
}

/** A parser of a whole-number option. A number outside `minimum` to `maximum` is a bad argument. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}
