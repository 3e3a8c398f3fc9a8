import { FFIType, ptr } from "bun:ffi";
import type { Clock } from "../base/clock.ts";
import { messageOf, type OperatorError } from "../base/errors.ts";
import { openLibc, requireLibc } from "../base/libc.ts";
import { type Level, type Log, lineLog } from "../base/log.ts";
import { plainLine } from "../base/text.ts";
import type { CommandContext } from "./command.ts";

/** The log of a server, of which `heard` is told each line, on standard error: under systemd in the journal's form, coloured on a terminal. */
export function serverLog(
  { terminal, clock }: CommandContext,
  least: Level,
  heard: (line: string) => void = () => {},
): Log {
  return lineLog({
    write: (line) => {
      terminal.log(line);
      heard(line);
    },
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

/** Messages of a service to systemd; see sd_notify(3). */
export interface ServiceNotifier {
  /** Serving: units ordered after this one may start. `status` is the line that `systemctl status` shows. */
  ready(status: string): void;
  status(status: string): void;
  stopping(): void;
  /** Proof of life, due at least every `watchdog_ms`. */
  alive(): void;
  /** Silence for this long gets the process restarted; absent where systemd does not watch. */
  readonly watchdog_ms?: number;
  close(): void;
}

/**
 * Sends the state of this process to the service manager that started it. Undefined where NOTIFY_SOCKET is not set: no service
 * manager is waiting. `report` gets one line if a message cannot be sent.
 */
export function serviceNotifier(options: {
  env: Readonly<Record<string, string | undefined>>;
  pid: number;
  report: (problem: string) => void;
}): ServiceNotifier | undefined {
  const address = options.env["NOTIFY_SOCKET"];
  if (address === undefined || address === "") return undefined;
  let socket: Datagrams;
  try {
    socket = openDatagrams(address);
  } catch (error) {
    options.report(
      `cannot tell systemd on ${address} (${messageOf(error)}): it will take this start for failed`,
    );
    return undefined;
  }
  let reported = false;
  const send = (...lines: string[]) => {
    if (socket.send(lines.join("\n")) || reported) return;
    reported = true;
    options.report(`systemd does not listen on ${address}: it may restart this process`);
  };
  return {
    ready: (status) => send("READY=1", `STATUS=${plainLine(status)}`),
    status: (status) => send(`STATUS=${plainLine(status)}`),
    stopping: () => send("STOPPING=1"),
    alive: () => send("WATCHDOG=1"),
    ...watchdogOf(options.env, options.pid),
    close: () => socket.close(),
  };
}

/** WATCHDOG_PID names the process that is watched, where one is named; see sd_watchdog_enabled(3). */
function watchdogOf(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): Pick<ServiceNotifier, "watchdog_ms"> {
  const watchdog_us = Number(env["WATCHDOG_USEC"]);
  const ours = env["WATCHDOG_PID"] === undefined || Number(env["WATCHDOG_PID"]) === pid;
  return ours && watchdog_us > 0 ? { watchdog_ms: watchdog_us / 1000 } : {};
}

interface Datagrams {
  /** False where the other end did not take it. */
  send(text: string): boolean;
  close(): void;
}

/**
 * A unix datagram socket to `address`; `@name` is in Linux's abstract namespace. Bun has none of its own, so
 * this calls libc: socket(2), sendto(2), close(2) and the layout of sockaddr_un in unix(7).
 */
function openDatagrams(address: string): Datagrams {
  const libc = openLibc({
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
    close: { args: [FFIType.i32], returns: FFIType.i32 },
  });
  const name = Buffer.from(address);
  if (name.length > path_bytes_max) throw new Error(`the name is longer than ${path_bytes_max} bytes`);
  const target = Buffer.alloc(path_at + name.length + (address.startsWith("@") ? 0 : 1));
  target.writeUInt16LE(AF_UNIX, 0);
  name.copy(target, path_at);
  if (address.startsWith("@")) target[path_at] = 0;
  const socket = libc.socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) throw new Error("the system gave no socket");
  return {
    send(text) {
      const bytes = Buffer.from(text);
      const sent = libc.sendto(
        socket,
        ptr(bytes),
        bytes.length,
        MSG_NOSIGNAL | MSG_DONTWAIT,
        ptr(target),
        target.length,
      );
      return Number(sent) === bytes.length;
    },
    close() {
      libc.close(socket);
    },
  };
}

/** Numbers of Linux's socket(2), the same on x86-64 and arm64. */
export const AF_UNIX = 1;
export const SOCK_DGRAM = 2;
export const SOCK_CLOEXEC = 0o2000000;
export const MSG_DONTWAIT = 0x40;
export const MSG_NOSIGNAL = 0x4000;
/** `struct sockaddr_un`: 16 bits of family, then the name, of which a last byte is 0. */
export const path_at = 2;
export const path_bytes_max = 107;
