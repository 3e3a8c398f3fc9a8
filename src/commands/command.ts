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
  /** The exit code once the action is over; 0 unless said otherwise. */
  exitWith(code: number): void;
}

/** Help that follows the options: `examples` are pasted as they are, `exits` says what each exit code means. */
export function helpAfter(help: {
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  readonly notes?: readonly string[];
  readonly exits?: Readonly<Record<number, string>>;
}): string {
  const width = Math.max(...help.examples.map(([line]) => line.length));
  const lines = ["", "Examples:"];
  for (const [line, meaning] of help.examples) lines.push(`  ${line.padEnd(width)}  ${meaning}`);
  if (help.notes !== undefined) lines.push("", ...help.notes);
  lines.push("", "Exit codes:");
  const exits = {
    0: "all went well",
    2: "bad arguments, configuration or input: nothing changed",
    ...help.exits,
  };
  for (const [code, meaning] of Object.entries(exits)) lines.push(`  ${code}  ${meaning}`);
  return lines.join("\n");
}

/** A parser of a whole-number option; what lies outside `minimum` to `maximum` is a bad argument. */
export function wholeNumber(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(`It must be a whole number from ${minimum} to ${maximum}.`);
    }
    return value;
  };
}
