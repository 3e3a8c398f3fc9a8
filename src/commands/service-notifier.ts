import { FFIType, ptr } from "bun:ffi";
import { messageOf } from "../errors.ts";
import { openLibc } from "../libc.ts";
import { plainLine } from "../plain-text.ts";

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
