import type { CommandContext } from "./command.ts";

/**
 * Runs work that SIGINT and SIGTERM can stop: the signal aborts, and the work ends where it leaves its data in
 * order. Undefined and exit code 130 when it was stopped; a second signal ends the process at once.
 */
export async function interruptible<Result>(
  context: CommandContext,
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
    if (!stop.signal.aborted || thrown !== stop.signal.reason) throw thrown;
    context.exitWith(exit_interrupted);
    return undefined;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
}

const exit_interrupted = 130;
