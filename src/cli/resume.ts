import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { type Pause, pausesNotOver } from "../store/pause.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addPauseOptions, type PauseOptions, requireKnown, withPausable } from "./pause.ts";

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
      2: "the time is not known, or consent was withdrawn: nothing changed",
    },
  });
  addPauseOptions(command)
    .option("--again", "also where consent was withdrawn or an enrollment has ended: it was given again")
    .action((options: ResumeOptions) => resume(options, context));
}

interface ResumeOptions extends PauseOptions {
  readonly again?: boolean;
}

async function resume(options: ResumeOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  await withPausable(options, context, async ({ store, home, clock }) => {
    requireKnown(clock);
    const { unix_ms } = clock.now();
    const all = pausesNotOver(await store.pauses(), home, unix_ms).filter(
      ({ from_ms }) => from_ms <= unix_ms,
    );
    const stopped = all.find(({ why }) => why !== undefined);
    if (stopped !== undefined) requireConsent(stopped, options);
    const under_way = all.filter(({ why }) => why === undefined || options.again === true);
    await store.takePauses(under_way.map((pause) => ({ ...pause, before_ms: unix_ms, own: 1 })));
    if (options.json)
      return terminal.printJson({ home: options.home ?? null, resumed: under_way.length > 0 });
    const whose = options.home === undefined ? "" : ` of home ${options.home}`;
    terminal.print(`Recording${whose} ${under_way.length > 0 ? "goes on" : "was not paused"}.`);
  });
}

/** @throws OperatorError where recording was stopped for good and nobody has said that it may go on, or where central alone may say so */
function requireConsent({ why, own, kind }: Pause, { again, home }: ResumeOptions): void {
  const what = why === "consent_withdrawn" ? "consent was withdrawn" : "the enrollment has ended";
  // What a participant holds does not keep the home from going on.
  if (kind !== undefined && again !== true) return;
  if (again !== true)
    throw new OperatorError(`recording was stopped: ${what}`, "lintel resume --again, if it was given again");
  if (own === 0 && home === undefined)
    throw new OperatorError(
      `recording was stopped at central: ${what}`,
      "run lintel resume --home NUMBER --again there",
    );
}
