import { type Failure, ioctl } from "./libc.ts";

/** Settings of a line. Rates in baud, `vtime` in tenths of a second. */
export interface LineSettings {
  readonly baudRate: number;
  readonly dataBits: number;
  readonly stopBits: number;
  readonly parity: string;
  readonly rtscts: boolean;
  readonly xon: boolean;
  readonly xoff: boolean;
  readonly xany: boolean;
  readonly hupcl: boolean;
  readonly vmin: number;
  readonly vtime: number;
}

/**
 * The rates that have a name in Linux, in the order of their constants. Any other whole number is tried too:
 * the kernel takes the number itself (BOTHER), and hardware that can't make it is found out by reading back
 * what it made. The names are used where there are some, because `stty` and the like know nothing else.
 */
export const standardRates: readonly number[] = [
  50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400, 4800, 9600, 19200, 38400, 57600, 115200, 230400,
  460800, 500000, 576000, 921600, 1000000, 1152000, 1500000, 2000000, 2500000, 3000000, 3500000, 4000000,
];

/** Fastest UART on the market, with room: a larger number is a slip of the finger. */
const baud_max = 20_000_000;

/** A receiver loses the byte when the rates differ by more: half a bit in ten. */
const baud_error_max = 0.05;

export const CS5 = 0;
export const CS6 = 0o20;
export const CS7 = 0o40;
export const CS8 = 0o60;
const dataBitsFlags: Readonly<Record<number, number>> = { 5: CS5, 6: CS6, 7: CS7, 8: CS8 };

export const PARENB = 0o400;
export const PARODD = 0o1000;
export const CMSPAR = 0o10000000000;
const parityFlags: Readonly<Record<string, number>> = {
  none: 0,
  even: PARENB,
  odd: PARENB | PARODD,
  space: PARENB | CMSPAR,
  mark: PARENB | PARODD | CMSPAR,
};

export const IGNPAR = 0o4;
export const IXON = 0o2000;
export const IXANY = 0o4000;
export const IXOFF = 0o10000;
export const CBAUD = 0o10017;
export const CIBAUD = CBAUD << 16;
export const BOTHER = 0o10000;
/** B50 to B38400 are 1 to 15; B57600 and the later ones count on from BOTHER. */
const early_rates = 15;
export const CSTOPB = 0o100;
export const CREAD = 0o200;
export const HUPCL = 0o2000;
export const CLOCAL = 0o4000;
export const CRTSCTS = 0o20000000000;

/** `struct termios2`: four u32 of flags (input, output, control, local), line, 19 characters, two u32 speeds. */
export const termios2_bytes = 44;
export const iflag_at = 0;
export const cflag_at = 8;
export const cc_at = 17;
export const VTIME = 5;
export const VMIN = 6;
export const VSTART = 8;
export const VSTOP = 9;
/** DC1 and DC3 of ASCII, by which software flow control goes on and stops. */
const xonByte = 0x11;
const xoffByte = 0x13;
export const ispeed_at = 36;
export const ospeed_at = 40;

export const TCGETS2 = 0x802c542a;
export const TCSETS2 = 0x402c542b;

/** Sets every property of the line: raw bytes, and the given settings. Throws an error that names the setting. */
export function setLine(fd: number, path: string, settings: LineSettings): void {
  apply(fd, path, encodeLine(settings), settings.baudRate);
}

/** The kernel's structure for these settings. Source: `termios(3)`, `asm-generic/termbits.h`. */
export function encodeLine(settings: LineSettings): DataView<ArrayBuffer> {
  const dataBits = dataBitsFlags[settings.dataBits];
  if (dataBits === undefined) throw new Error(`Invalid data bits setting ${settings.dataBits}: 5, 6, 7 or 8`);
  const parity = parityFlags[settings.parity];
  if (parity === undefined) {
    const known = Object.keys(parityFlags).join(", ");
    throw new Error(`Invalid parity setting ${settings.parity}: one of ${known}`);
  }
  const line = new DataView(new ArrayBuffer(termios2_bytes));
  line.setUint32(iflag_at, inputFlags(settings), true);
  line.setUint32(cflag_at, (controlFlags(settings) | dataBits | parity) >>> 0, true);
  line.setUint8(cc_at + VTIME, settings.vtime);
  // A read of nothing would look like a hang-up, and reads here never block: at least one byte.
  line.setUint8(cc_at + VMIN, Math.max(1, settings.vmin));
  // Without these characters the kernel neither heeds the other side's nor sends its own, whatever the flags say.
  line.setUint8(cc_at + VSTART, xonByte);
  line.setUint8(cc_at + VSTOP, xoffByte);
  setSpeed(line, settings.baudRate);
  return line;
}

/** Changes the rate alone. */
export function setBaudRate(fd: number, path: string, baudRate: number): void {
  const line = settingsOf(fd, path);
  setSpeed(line, baudRate);
  apply(fd, path, line, baudRate);
}

/** The rate that the kernel reports for the line, in baud. */
export function baudRateOf(fd: number, path: string): number {
  return settingsOf(fd, path).getUint32(ospeed_at, true);
}

/** Throws unless the rate is a number that a serial line can have. */
export function checkBaudRate(baudRate: number): void {
  if (Number.isInteger(baudRate) && baudRate > 0 && baudRate <= baud_max) return;
  throw new Error(`Error baud rate of ${baudRate} is not supported: a whole number from 1 to ${baud_max}`);
}

function inputFlags({ xon, xoff, xany }: LineSettings): number {
  return IGNPAR | (xon ? IXON : 0) | (xoff ? IXOFF : 0) | (xany ? IXANY : 0);
}

function controlFlags({ dataBits, stopBits, rtscts, hupcl }: LineSettings): number {
  // With 5 data bits the second stop bit is half a one: that is what UARTs make of CSTOPB.
  const long = stopBits === 2 || (stopBits === 1.5 && dataBits === 5);
  if (stopBits !== 1 && !long)
    throw new Error(`Invalid stop bits setting ${stopBits}: 1 or 2, 1.5 with 5 data bits`);
  return CLOCAL | CREAD | (long ? CSTOPB : 0) | (rtscts ? CRTSCTS : 0) | (hupcl ? HUPCL : 0);
}

/** Input and output alike: the input speed field of the control flags stays 0, which means the same. */
function setSpeed(line: DataView<ArrayBuffer>, baudRate: number): void {
  checkBaudRate(baudRate);
  const flags = line.getUint32(cflag_at, true) & ~(CBAUD | CIBAUD);
  line.setUint32(cflag_at, (flags | speedFlags(baudRate)) >>> 0, true);
  line.setUint32(ispeed_at, baudRate, true);
  line.setUint32(ospeed_at, baudRate, true);
}

function speedFlags(baudRate: number): number {
  const index = standardRates.indexOf(baudRate);
  if (index < 0) return BOTHER;
  return index < early_rates ? index + 1 : BOTHER + index - early_rates + 1;
}

function apply(fd: number, path: string, line: DataView<ArrayBuffer>, baudRate: number): void {
  raise(path, ioctl(fd, TCSETS2, new Uint8Array(line.buffer)), "cannot set the line");
  const made = baudRateOf(fd, path);
  if (Math.abs(made - baudRate) > baudRate * baud_error_max) {
    throw new Error(
      `Error baud rate of ${baudRate} is not supported by ${path}: the nearest it makes is ${made}`,
    );
  }
}

function settingsOf(fd: number, path: string): DataView<ArrayBuffer> {
  const line = new Uint8Array(termios2_bytes);
  raise(path, ioctl(fd, TCGETS2, line), "cannot read the line's settings");
  return new DataView(line.buffer);
}

function raise(path: string, failure: Failure | undefined, what: string): void {
  if (failure === undefined) return;
  const remedy = failure.code === "ENOTTY" ? " (it is not a serial port)" : "";
  throw new Error(`Error: ${failure.message}, ${what} of ${path}${remedy}`);
}
