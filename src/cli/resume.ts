import type { Command } from "commander";
import { pausesNotOver } from "../store/pause.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addPauseOptions, type PauseOptions, requireKnown, withPausable } from "./pause.ts";

/** `lintel resume`: ends the pause of a home. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: { "lintel resume": "record again from now on" },
    notes: ["Nothing of the time before is recorded later."],
    exits: {
      0: "recording goes on, whether it was paused or not",
      2: "the time is not known: nothing changed",
    },
  });
  addPauseOptions(command).action((options: PauseOptions) => resume(options, context));
}

async function resume(options: PauseOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  await withPausable(options, context, async ({ store, home, clock }) => {
    requireKnown(clock);
    const { unix_ms } = clock.now();
    const under_way = pausesNotOver(await store.pauses(), home, unix_ms);
    await store.takePauses(under_way.map((pause) => ({ ...pause, before_ms: unix_ms, own: 1 })));
    if (options.json)
      return terminal.printJson({ home: options.home ?? null, resumed: under_way.length > 0 });
    const whose = options.home === undefined ? "" : ` of home ${options.home}`;
    terminal.print(`Recording${whose} ${under_way.length > 0 ? "goes on" : "was not paused"}.`);
  });
}
