import { dlopen, type Pointer, ptr, read } from "bun:ffi";
import { getSystemErrorMap } from "node:util";

/**
 * The few C library calls that a serial port needs and Bun doesn't have. All of them return at once.
 * The request numbers and structures are the kernel's own, alike on x64 and aarch64 (asm-generic) and
 * independent of the C library, whose `struct termios` is deliberately not used.
 */

/** A system call that failed; `code` is the name of errno, such as `ENOTTY`. */
export interface Failure {
  readonly code: string;
  readonly message: string;
}

/** Calls ioctl with a structure, or with a plain number. Returns the failure, or undefined when it worked. */
export function ioctl(fd: number, request: number, argument: Uint8Array | number): Failure | undefined {
  const libc = calls();
  const value = typeof argument === "number" ? argument : ptr(argument);
  return libc.ioctl(fd, request, value as Pointer) === -1 ? failure() : undefined;
}

/** Takes the lock of this open file, or gives it back. Never waits. */
export function lock(fd: number, operation: "take" | "release"): Failure | undefined {
  const flag = operation === "take" ? LOCK_EX | LOCK_NB : LOCK_UN;
  return calls().flock(fd, flag) === -1 ? failure() : undefined;
}

export const LOCK_EX = 2;
export const LOCK_NB = 4;
export const LOCK_UN = 8;

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
        ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
        flock: { args: ["i32", "i32"], returns: "i32" },
        __errno_location: { args: [], returns: "ptr" },
      }).symbols;
    } catch (thrown) {
      cause ??= thrown;
    }
  }
  const why = cause instanceof Error ? cause.message : cause;
  throw new Error(`the C library cannot be called, which serial ports need: ${why}`, { cause });
}

function failure(): Failure {
  const location = calls().__errno_location();
  const errno = location === null ? 0 : read.i32(location);
  const [code, message] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, `error ${errno}`];
  return { code, message };
}
