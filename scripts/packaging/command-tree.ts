import { Command } from "commander";
import { SystemClock } from "../../src/base/clock.ts";
import { type Help, helpOf } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/command-table.ts";
import { processTerminal } from "../../src/cli/terminal.ts";

/** A command of the command line, or one below it such as `token create`. */
export interface CommandNode {
  /** The words that name it, without `lintel`. */
  readonly words: readonly string[];
  readonly summary: string;
  /** Its arguments and options in short, as the help has them. */
  readonly usage: string;
  readonly operands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  readonly help?: Help;
  readonly below: readonly CommandNode[];
}

export interface OptionNode {
  /** As in the help: `--port <port>`. */
  readonly flags: string;
  /** `--port`. */
  readonly long: string;
  readonly description: string;
  readonly takesValue: boolean;
  /** The only values that it takes. */
  readonly choices: readonly string[];
}

/** All commands, in the order of the table. */
export async function commandTree(): Promise<CommandNode[]> {
  const context = {
    terminal: processTerminal(),
    clock: new SystemClock(),
    version: "",
    exitWith: () => undefined,
  };
  return Promise.all(
    Object.entries(commands).map(async ([name, { summary, load }]) => {
      const command = new Command(name).description(summary);
      (await load()).define(command, context);
      return nodeOf(command, []);
    }),
  );
}

function nodeOf(command: Command, above: readonly string[]): CommandNode {
  const words = [...above, command.name()];
  const help = helpOf(command);
  return {
    words,
    summary: command.description(),
    usage: command.usage(),
    operands: command.registeredArguments.map((one) => ({
      name: one.name(),
      description: one.description,
    })),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map((option) => ({
        flags: option.flags,
        long: option.long ?? option.flags,
        description: withDefault(option),
        takesValue: option.required || option.optional,
        choices: option.argChoices ?? [],
      })),
    ...(help && { help }),
    below: command.commands.map((one) => nodeOf(one, words)),
  };
}

function withDefault(option: Command["options"][number]): string {
  const { description, argChoices, defaultValue, defaultValueDescription } = option;
  const notes = [
    ...(argChoices === undefined ? [] : [`one of ${argChoices.join(", ")}`]),
    ...(defaultValue === undefined || defaultValue === false
      ? []
      : [`default: ${defaultValueDescription ?? String(defaultValue)}`]),
  ];
  return notes.length === 0 ? description : `${description} (${notes.join("; ")})`;
}
