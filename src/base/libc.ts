import { dlopen, type FFIFunction, type Pointer, read } from "bun:ffi";
import { getSystemErrorMap } from "node:util";
import { messageOf, OperatorError } from "./errors.ts";

/** The C library's names: glibc's, then musl's. */
const names = ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];

/**
 * Functions of the C library, for what Bun has none of: datagrams to systemd, the state of the kernel's clock, ptys.
 * Throws an OperatorError where this process cannot call it, naming why.
 */
export function openLibc<Functions extends Record<string, FFIFunction>>(functions: Functions) {
  let cause: unknown;
  for (const name of names) {
    try {
      return dlopen(name, functions).symbols;
    } catch (thrown) {
      cause ??= thrown;
    }
  }
  throw new OperatorError(
    `Lintel cannot call the C library (${messageOf(cause)}): without it no serial port, no GPIO pin and no word to systemd`,
    remedy(),
    { cause },
  );
}

/** The function that errno is read by, to be opened beside those that set it. */
export const errnoFunction = { __errno_location: { args: [], returns: "ptr" } } as const;

/** The name and the words of errno, right after a call that has failed: `EBUSY`, `device or resource busy`. */
export function errnoOf({ __errno_location }: { __errno_location(): Pointer | bigint | null }): {
  code: string;
  message: string;
} {
  const location = __errno_location();
  const errno = location === null ? 0 : read.i32(location);
  const [code, message] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, `error ${errno}`];
  return { code, message };
}

/**
 * Throws an OperatorError unless the C library can be called. Servers and `lintel doctor` ask at once: whatever needs it
 * later would seem to be a fault of the hardware.
 */
export function requireLibc(): void {
  openLibc({ getpid: { args: [], returns: "i32" } });
}

/** Bun calls C by code that it compiles, so whatever forbids compiled code forbids this. */
function remedy(): string {
  const setting = settings.find((name) => process.env[name] !== undefined);
  if (setting !== undefined) return `unset ${setting} in the environment, which is ${process.env[setting]}`;
  return "let the process make executable memory (in a systemd unit: MemoryDenyWriteExecute=no), and install glibc or musl where it is missing";
}

/** Environment variables that switch Bun's compiler off. */
const settings = ["BUN_JSC_useJIT", "JSC_useJIT"];
