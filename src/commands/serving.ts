import type { Clock } from "../clock.ts";
import { messageOf, type OperatorError } from "../errors.ts";
import { requireLibc } from "../libc.ts";
import { type Level, type Log, lineLog } from "../log.ts";
import type { CommandContext } from "./command.ts";
import { serviceNotifier } from "./service-notifier.ts";

/** The log of a server, on standard error: under systemd in the journal's form, coloured on a terminal. */
export function serverLog({ terminal, clock }: CommandContext, least: Level): Log {
  return lineLog({
    write: (line) => terminal.log(line),
    clock,
    least: process.env["LINTEL_DEBUG"] ? "debug" : least,
    journal: process.env["JOURNAL_STREAM"] !== undefined && process.stderr.isTTY !== true,
    colour: terminal.errorColours.isColorSupported,
  });
}

/** A server that a command runs until it is stopped: a gateway, central, or a demo of both. */
export interface Served {
  /** Where its interface is. */
  readonly url: string;
  /** Resolves once its store has answered; never, where that hangs. */
  alive(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts a server and keeps it until SIGINT or SIGTERM, then stops it cleanly; a second signal ends the
 * process at once. Tells systemd, where it listens. A fault that nothing caught is one log line and exit 1
 * after a clean stop, so that the service manager starts afresh from what is on disk. Throws an OperatorError, before
 * anything starts, where the C library cannot be called.
 */
export async function serve(options: {
  context: CommandContext;
  log: Log;
  /** `onFailure` is for a part that has ended for good: the rest is stopped and the process ends with 1. */
  start: (onFailure: (fault: OperatorError) => void) => Promise<Served>;
  /** Whether a fault that nothing caught is a library's own, and nothing to end for. */
  isStray?: (fault: unknown) => boolean;
}): Promise<void> {
  const { context, log } = options;
  requireLibc();
  const ending = endings(log, context.clock, options.isStray);
  const service = serviceNotifier({
    env: process.env,
    pid: process.pid,
    report: (problem) => log.warn(problem),
  });
  try {
    const served = await options.start(() => ending.want(1));
    service?.ready(`serving ${served.url}`);
    for (const caution of context.clock.cautions?.() ?? []) log.warn(caution);
    const stopWatchdog = petWatchdog(service, served, context.clock);
    const code = await ending.wanted;
    service?.stopping();
    stopWatchdog();
    const giveUp = context.clock.after(stop_max_ms, () => {
      log.error(`did not stop within ${stop_max_ms / 1000} s: ending now; what was confirmed is on disk`);
      process.exit(1);
    });
    await served.stop();
    giveUp();
    context.exitWith(code);
  } finally {
    service?.close();
    ending.forget();
  }
}

interface Ending {
  /** Resolves with the exit code once something wants the process to end. */
  readonly wanted: Promise<number>;
  want(code: number): void;
  forget(): void;
}

/** Listens for signals, and for faults that nothing caught: they end a server. */
function endings(log: Log, clock: Clock, isStray: (fault: unknown) => boolean = () => false): Ending {
  const { promise, resolve } = Promise.withResolvers<number>();
  let first_ms: number | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now_ms = clock.now().monotonic_ms;
    if (first_ms !== undefined && now_ms - first_ms < same_signal_ms) return;
    if (first_ms !== undefined) process.exit(signal === "SIGINT" ? 130 : 143);
    first_ms = now_ms;
    log.info(`stopping on ${signal}; once more ends at once`);
    resolve(0);
  };
  const onFault = (error: unknown) => {
    if (isStray(error)) {
      log.warn(`nobody waited for this, and nothing is lost: ${messageOf(error)}`);
      return;
    }
    log.error(`unexpected: ${messageOf(error)}: stopping; LINTEL_DEBUG=1 shows where`);
    log.debug(error instanceof Error ? (error.stack ?? "") : String(error));
    resolve(1);
  };
  for (const signal of endSignals) process.on(signal, onSignal);
  process.on("uncaughtException", onFault).on("unhandledRejection", onFault);
  return {
    wanted: promise,
    want: resolve,
    forget: () => {
      for (const signal of endSignals) process.off(signal, onSignal);
      process.off("uncaughtException", onFault).off("unhandledRejection", onFault);
    },
  };
}

/**
 * Tells systemd at half of its patience that this process lives: its timers turn, or this would not run, and
 * the store's writer answers. A writer that hangs is not petted over, so the service is restarted.
 */
function petWatchdog(service: ReturnType<typeof serviceNotifier>, served: Served, clock: Clock): () => void {
  if (service?.watchdog_ms === undefined) return () => {};
  const interval_ms = service.watchdog_ms / 2;
  let cancel = () => {};
  let stopped = false;
  const pet = async () => {
    await served.alive();
    if (stopped) return;
    service.alive();
    cancel = clock.after(interval_ms, () => void pet());
  };
  void pet();
  return () => {
    stopped = true;
    cancel();
  };
}

/** SIGHUP is a terminal that was closed. */
const endSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

const stop_max_ms = 15_000;
/** timeout(1) and shells signal a process and then its group: a second signal within this time counts as the same one. */
const same_signal_ms = 300;
