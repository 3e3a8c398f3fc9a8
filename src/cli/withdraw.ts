import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { beginning_ms } from "../store/pause-requests.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { addPauseOptions, type PauseOptions, scopeText, withPausable } from "./pause.ts";
import { momentText } from "./terminal-text.ts";

/** `lintel withdraw`: somebody has withdrawn the consent, and nothing is recorded any more. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel withdraw --home 12 --data /var/lib/lintel-central":
        "record nothing more of home 12; keep what there is",
      "lintel withdraw --subject 7 --data /var/lib/lintel-central":
        "the same of every home where participant 7 is enrolled now",
      "lintel withdraw --subject 7 --devices --data /var/lib/lintel-central":
        "only of the watch and whatever else participant 7 alone holds",
    },
    notes: [
      "What was recorded before is kept: lintel erase takes it away. A server may be running on the store. The box hears of it with its next upload;",
      "what it has recorded by then is removed there and refused here. lintel resume --again ends it, once consent was given again: docs/consent.md.",
    ],
    exits: { 0: "nothing more is recorded", 2: "bad arguments: nothing changed" },
  });
  addPauseOptions(command)
    .option("--subject <number>", "a participant", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--devices", "with --subject: other devices of the home record on, because nobody else withdraws")
    .action((options: WithdrawOptions) => withdraw(options, context));
}

interface WithdrawOptions extends PauseOptions {
  readonly devices?: boolean;
}

async function withdraw(options: WithdrawOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { subject, devices = false, json } = options;
  if (devices && subject === undefined)
    throw new OperatorError("--devices does not say whose", "give --subject NUMBER");
  if (subject !== undefined && options.home !== undefined)
    throw new OperatorError("the command names a home and a participant", "give one of --home and --subject");
  await withPausable(options, context, async ({ store, home, clock }) => {
    const time = { from_ms: await beginning_ms(store, clock), at_ms: clock.now().unix_ms };
    const stopped = await store.withdraw(
      subject === undefined ? { home, ...time } : { subject, devices, ...time },
    );
    if (stopped === undefined)
      throw new OperatorError(
        `this store knows of no home or device of participant ${subject}`,
        "look at the number, and at which store --data, --config or --database name; or give --home NUMBER",
      );
    if (json)
      return terminal.printJson({
        stopped: stopped.map(({ home: of, from_ms, kind, address, itemid }) => ({
          ...{ home: of === 0 ? null : of, from_ms, kind, address, itemid },
        })),
      });
    if (stopped.length === 0)
      terminal.print(`Nothing of participant ${subject} is recorded: nothing had to be stopped.`);
    for (const one of stopped)
      terminal.print(
        `Nothing more is recorded of ${scopeText(one)}, from ${momentText(one.from_ms)} on: consent was withdrawn.`,
      );
    terminal.say("What was recorded before is kept. To erase it: lintel erase --dry-run");
  });
}
