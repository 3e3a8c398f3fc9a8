import { messageOf } from "../errors.ts";
import { TryAgainLater } from "../http-client/outcome.ts";
import type { Log } from "../log.ts";
import type { CommandContext } from "./command.ts";

/**
 * Runs work that SIGINT and SIGTERM can stop: the signal aborts, and the work ends where it leaves its data in order. A second signal ends
 * the process at once. Takes the work's progress from the foot of the terminal in the end.
 *
 * @param options.interrupted printed, with exit code 130, when the work was stopped
 * @param options.later log for a failure that passes by itself, with exit code 1; absent: such a failure is thrown
 * @returns undefined when the work was stopped, or failed for now
 */
export async function interruptible<Result>(
  context: CommandContext,
  { interrupted, later }: { readonly interrupted: string; readonly later?: Pick<Log, "error"> },
  work: (stop: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const stop = new AbortController();
  const interrupt = () => {
    if (stop.signal.aborted) process.exit(exit_interrupted);
    stop.abort(new Error("interrupted"));
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  try {
    return await work(stop.signal);
  } catch (thrown) {
    const stopped = stop.signal.aborted && thrown === stop.signal.reason;
    if (!stopped && !(later !== undefined && thrown instanceof TryAgainLater)) throw thrown;
    if (stopped) context.terminal.say(interrupted);
    else later?.error(messageOf(thrown, line_max));
    context.exitWith(stopped ? exit_interrupted : exit_later);
    return undefined;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    context.terminal.progress("");
  }
}

const exit_interrupted = 130;
const exit_later = 1;
const line_max = 2_000;
