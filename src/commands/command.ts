import { type Command, InvalidArgumentError } from "commander";
import type { Clock } from "../clock.ts";
import type { Terminal } from "./terminal.ts";

/** A command of `lintel`: the module behind one row of the table in src/main.ts. */
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

/** Adds help that follows the options: `examples` are lines to paste and their meanings, `exits` gives the meaning of each exit code. */
export function addHelp(
  command: Command,
  help: {
    readonly examples: Readonly<Record<string, string>>;
    readonly notes?: readonly string[];
    readonly exits?: Readonly<Record<number, string>>;
  },
): void {
  const width = Math.max(...Object.keys(help.examples).map((line) => line.length));
  const lines = ["", "Examples:"];
  for (const [line, meaning] of Object.entries(help.examples))
    lines.push(`  ${line.padEnd(width)}  ${meaning}`);
  if (help.notes !== undefined) lines.push("", ...help.notes);
  lines.push("", "Exit codes:");
  const exits = {
    0: "all went well",
    2: "bad arguments, configuration or input: nothing changed",
    ...help.exits,
  };
  for (const [code, meaning] of Object.entries(exits)) lines.push(`  ${code}  ${meaning}`);
  command.addHelpText("after", lines.join("\n"));
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
