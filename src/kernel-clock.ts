import { FFIType, ptr } from "bun:ffi";
import { openLibc } from "./libc.ts";

/**
 * Whether the kernel takes the system clock for set: a time service (systemd-timesyncd, chrony, ntpd) tells it so, and has
 * to go on telling it. Asks by adjtimex(2) and changes nothing. Throws an OperatorError where the C library cannot be
 * called, and an Error where this process may not ask.
 */
export function kernelSynchronised(): boolean {
  libc ??= load();
  const timex = new Uint8Array(timex_bytes);
  if (libc.adjtimex(ptr(timex)) < 0) throw new Error("adjtimex is not permitted");
  return (new DataView(timex.buffer).getInt32(status_offset, true) & STA_UNSYNC) === 0;
}

let libc: ReturnType<typeof load> | undefined;

function load() {
  return openLibc({ adjtimex: { args: [FFIType.ptr], returns: FFIType.i32 } });
}

/** struct timex of a 64-bit Linux, the same on x86-64 and arm64; its first field, `modes`, is 0: only look. */
export const timex_bytes = 208;
export const status_offset = 40;
export const STA_UNSYNC = 0x40;
