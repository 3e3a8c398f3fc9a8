import type { PortStatus, SetOptions } from "./interface.ts";
import { type Failure, ioctl } from "./libc.ts";

/** The control lines beside the data. `lowLatency` is a property of the driver, kept here as serialport has it. */
export interface LinuxPortStatus extends PortStatus {
  lowLatency: boolean;
}

export interface LinuxSetOptions extends SetOptions {
  lowLatency?: boolean;
}

/**
 * Sets the lines that are given and leaves the others alone. A line that the device doesn't have (every
 * line of a pseudo-terminal) is not an error: there is nothing on it that could listen.
 */
export function setLines(fd: number, path: string, { dtr, rts, brk, lowLatency }: LinuxSetOptions): void {
  const up = (dtr === true ? TIOCM_DTR : 0) | (rts === true ? TIOCM_RTS : 0);
  const down = (dtr === false ? TIOCM_DTR : 0) | (rts === false ? TIOCM_RTS : 0);
  if (up !== 0) raise(path, ioctl(fd, TIOCMBIS, int(up)));
  if (down !== 0) raise(path, ioctl(fd, TIOCMBIC, int(down)));
  if (brk !== undefined) raise(path, ioctl(fd, brk ? TIOCSBRK : TIOCCBRK, 0));
  if (lowLatency !== undefined) raise(path, setLowLatency(fd, lowLatency));
}

/** Reads the lines; those that the device doesn't have are down. */
export function getLines(fd: number, path: string): LinuxPortStatus {
  const bits = int(0);
  raise(path, ioctl(fd, TIOCMGET, bits));
  const lines = new DataView(bits.buffer).getInt32(0, true);
  return {
    cts: (lines & TIOCM_CTS) !== 0,
    dsr: (lines & TIOCM_DSR) !== 0,
    dcd: (lines & TIOCM_CD) !== 0,
    lowLatency: lowLatencyOf(fd),
  };
}

export const TIOCMGET = 0x5415;
export const TIOCMBIS = 0x5416;
export const TIOCMBIC = 0x5417;
export const TIOCSBRK = 0x5427;
export const TIOCCBRK = 0x5428;
export const TIOCGSERIAL = 0x541e;
export const TIOCSSERIAL = 0x541f;

export const TIOCM_DTR = 0x002;
export const TIOCM_RTS = 0x004;
export const TIOCM_CTS = 0x020;
export const TIOCM_CD = 0x040;
export const TIOCM_DSR = 0x100;

/** `struct serial_struct` on 64-bit Linux; its flags follow four 32-bit numbers. */
export const serial_bytes = 72;
export const flags_at = 16;
export const ASYNC_LOW_LATENCY = 1 << 13;

function lowLatencyOf(fd: number): boolean {
  const serial = new Uint8Array(serial_bytes);
  if (ioctl(fd, TIOCGSERIAL, serial) !== undefined) return false;
  return (new DataView(serial.buffer).getUint32(flags_at, true) & ASYNC_LOW_LATENCY) !== 0;
}

function setLowLatency(fd: number, on: boolean): Failure | undefined {
  const serial = new Uint8Array(serial_bytes);
  const failure = ioctl(fd, TIOCGSERIAL, serial);
  if (failure !== undefined) return on ? failure : undefined;
  const view = new DataView(serial.buffer);
  const flags = view.getUint32(flags_at, true);
  const wanted = on ? flags | ASYNC_LOW_LATENCY : flags & ~ASYNC_LOW_LATENCY;
  if (wanted === flags) return undefined;
  view.setUint32(flags_at, wanted >>> 0, true);
  return ioctl(fd, TIOCSSERIAL, serial);
}

const absent = new Set(["ENOTTY", "EINVAL"]);

function raise(path: string, failure: Failure | undefined): void {
  if (failure === undefined || absent.has(failure.code)) return;
  throw new Error(`Error: ${failure.message}, cannot set or read the control lines of ${path}`);
}

function int(value: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setInt32(0, value, true);
  return bytes;
}
