import { dlopen, type Pointer, ptr, read } from "bun:ffi";
import { getSystemErrorMap } from "node:util";

/** One ready registration, as `epoll_wait` reports it: the bits that are set, and its number. */
export interface ReadyEvent {
  readonly events: number;
  readonly fd: number;
  readonly registration: number;
}

export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLL_CTL_MOD = 3;
const operations = { add: EPOLL_CTL_ADD, remove: EPOLL_CTL_DEL, modify: EPOLL_CTL_MOD } as const;

/** A new epoll instance, closed on exec. */
export function createEpoll(): number {
  const epoll = calls().epoll_create1(EPOLL_CLOEXEC);
  if (epoll === -1) throw failure();
  return epoll;
}

export const EPOLL_CLOEXEC = 0o2000000;

/** Registers interest. `registration` comes back with each event, beside the descriptor. */
export function control(
  epoll: number,
  operation: keyof typeof operations,
  { events, fd, registration }: ReadyEvent,
) {
  const event = new DataView(new ArrayBuffer(event_bytes));
  event.setUint32(0, events >>> 0, true);
  event.setInt32(data_at, fd, true);
  event.setUint32(data_at + 4, registration, true);
  const result = calls().epoll_ctl(epoll, operations[operation], fd, ptr(event.buffer) as Pointer);
  if (result === -1) throw failure();
}

/** Blocks the calling thread until one registration is ready. Undefined when a signal came first. */
export function waitForOne(epoll: number): ReadyEvent | undefined {
  const event = new DataView(new ArrayBuffer(event_bytes));
  const count = calls().epoll_wait(epoll, ptr(event.buffer) as Pointer, 1, -1);
  if (count === -1) {
    const error = failure();
    if (error.code === "EINTR") return undefined;
    throw error;
  }
  return {
    events: event.getUint32(0, true),
    fd: event.getInt32(data_at, true),
    registration: event.getUint32(data_at + 4, true),
  };
}

/** `struct epoll_event` is packed on x64 alone: 32 bits of events, then 64 bits of the caller's. */
export const data_at = process.arch === "x64" ? 4 : 8;
export const event_bytes = data_at + 8;

/** The libraries to try: glibc's name, then musl's. */
const libraries = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

let loaded: ReturnType<typeof load> | undefined;

function calls() {
  loaded ??= load();
  return loaded;
}

function load() {
  let cause: unknown;
  for (const library of libraries) {
    try {
      return dlopen(library, {
        epoll_create1: { args: ["i32"], returns: "i32" },
        epoll_ctl: { args: ["i32", "i32", "i32", "ptr"], returns: "i32" },
        epoll_wait: { args: ["i32", "ptr", "i32", "i32"], returns: "i32" },
        __errno_location: { args: [], returns: "ptr" },
      }).symbols;
    } catch (thrown) {
      cause ??= thrown;
    }
  }
  const why = cause instanceof Error ? cause.message : cause;
  throw new Error(`the C library cannot be called, which epoll needs: ${why}`, { cause });
}

function failure(): Error & { code: string } {
  const location = calls().__errno_location();
  const errno = location === null ? 0 : read.i32(location);
  const [code, message] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, `error ${errno}`];
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
