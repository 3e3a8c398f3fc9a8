import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import type { Pause } from "../store/pause.ts";
import { endPauses } from "../store/pause-requests.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addPauseOptions, type PauseOptions, withPausable } from "./pause.ts";

/** `lintel resume`: ends the pause of a home. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel resume": "record again from now on",
      "lintel resume --home 12 --again --data /var/lib/lintel-central":
        "consent was withdrawn, and given again",
    },
    notes: ["Nothing of the time before is recorded later."],
    exits: {
      0: "recording goes on, whether it was paused or not",
      2: "recording stays stopped: consent was withdrawn, or the time is not known",
    },
  });
  addPauseOptions(command)
    .option("--again", "also where consent was withdrawn: it was given again")
    .action((options: ResumeOptions) => resume(options, context));
}

interface ResumeOptions extends PauseOptions {
  readonly again?: boolean;
}

async function resume(options: ResumeOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  await withPausable(options, context, async ({ store, home, clock }) => {
    const { ended, stopped } = await endPauses(store, clock, { home, again: options.again });
    if (stopped !== undefined) throw stillStopped(stopped, options.again === true);
    if (options.json) return terminal.printJson({ home: options.home ?? null, resumed: ended.length > 0 });
    const whose = options.home === undefined ? "" : ` of home ${options.home}`;
    terminal.print(`Recording${whose} ${ended.length > 0 ? "goes on" : "was not paused"}.`);
  });
}

/** Recording was stopped for good, and nobody has said that it may go on, or central alone may say so. */
function stillStopped({ why }: Pause, again: boolean): OperatorError {
  if (why === "restricted")
    return new OperatorError(
      "the home is restricted: what was recorded is shown to nobody, and nothing more is recorded",
      "lift that first, where it was asked for: lintel restrict --lift --reason TEXT",
    );
  if (why === "enrollment_ended")
    return new OperatorError(
      "recording was stopped: the last enrollment of the home has ended",
      "import an open enrollment at central: lintel import",
    );
  return again
    ? new OperatorError(
        "recording was stopped at central: consent was withdrawn",
        "run lintel resume --home NUMBER --again there",
      )
    : new OperatorError(
        "recording was stopped: consent was withdrawn",
        "lintel resume --again, if it was given again",
      );
}
