import { close, constants, fstatSync, open, writeSync } from "node:fs";
import { promisify } from "node:util";
import { ByteSource } from "./byte-source.ts";
import { BindingsError, canceled, disconnected } from "./errors.ts";
import { holderOf } from "./holder.ts";
import type { BindingPortInterface, OpenOptions, UpdateOptions } from "./interface.ts";
import { ioctl, lock } from "./libc.ts";
import { getLines, type LinuxPortStatus, type LinuxSetOptions, setLines } from "./modem.ts";
import { baudRateOf, checkBaudRate, setBaudRate, setLine } from "./termios.ts";
import { Waiting } from "./waiting.ts";

/** Options of serialport's Linux binding: `vmin` bytes, `vtime` in tenths of a second. */
export interface LinuxOpenOptions extends OpenOptions {
  vmin?: number;
  vtime?: number;
}

/**
 * Opens a serial device, exclusively unless `lock` is false: nobody else may open it meanwhile.
 * Rejects with one line that names the path and, where another process holds it, that process.
 */
export async function openLinuxPort(options: Required<LinuxOpenOptions>): Promise<LinuxPortBinding> {
  const { path, baudRate } = options;
  checkBaudRate(baudRate);
  const fd = await openDevice(path);
  try {
    if (options.lock) hold(fd, path);
    setLine(fd, path, options);
    // Bytes in the buffers were received or written with other settings.
    ioctl(fd, TCFLSH, TCIOFLUSH);
    return new LinuxPortBinding(fd, options);
  } catch (thrown) {
    await closeDevice(fd);
    throw thrown;
  }
}

/** An open serial device, as serialport's streams use it. */
export class LinuxPortBinding implements BindingPortInterface {
  readonly openOptions: Required<LinuxOpenOptions>;
  /** The descriptor while the port is open. */
  fd: number | null;
  readonly #source: ByteSource;
  readonly #waiting = new Waiting();
  #writing: Promise<void> = Promise.resolve();

  constructor(fd: number, openOptions: Required<LinuxOpenOptions>) {
    this.fd = fd;
    this.openOptions = openOptions;
    this.#source = new ByteSource(fd, openOptions.path);
  }

  get isOpen(): boolean {
    return this.fd !== null;
  }

  /** Reads and writes that wait end as cancelled. Resolves when the device is free again. */
  async close(): Promise<void> {
    const fd = this.#descriptor();
    this.fd = null;
    this.#waiting.cancel();
    this.#source.close();
    if (this.openOptions.lock) release(fd);
    await closeDevice(fd);
  }

  /** Reads at least one byte, at most `length`, into the buffer at `offset`. */
  async read(buffer: Buffer, offset: number, length: number): Promise<{ buffer: Buffer; bytesRead: number }> {
    checkRead(buffer, offset, length);
    if (!this.isOpen) throw new BindingsError("Port is not open", { canceled: true });
    const bytesRead = await this.#source.read(buffer, offset, length);
    return { buffer, bytesRead };
  }

  /** Resolves when the kernel has every byte. Writes of all callers follow one another. */
  async write(buffer: Buffer): Promise<void> {
    if (!Buffer.isBuffer(buffer)) throw new TypeError('"buffer" is not a Buffer');
    this.#descriptor();
    const before = this.#writing;
    const writing = before.then(() => this.#send(buffer));
    this.#writing = writing.catch(() => {}); // whoever wrote is told
    await writing;
  }

  /** Changes the baud rate; what waits in the kernel, either way, is lost. */
  async update(options: UpdateOptions): Promise<void> {
    checkOptions(options);
    if (typeof options.baudRate !== "number") throw new TypeError('"options.baudRate" is not a number');
    const fd = this.#descriptor();
    setBaudRate(fd, this.openOptions.path, options.baudRate);
    ioctl(fd, TCFLSH, TCIOFLUSH);
    this.openOptions.baudRate = options.baudRate;
  }

  async set(options: LinuxSetOptions): Promise<void> {
    checkOptions(options);
    setLines(this.#descriptor(), this.openOptions.path, options);
  }

  async get(): Promise<LinuxPortStatus> {
    return getLines(this.#descriptor(), this.openOptions.path);
  }

  async getBaudRate(): Promise<{ baudRate: number }> {
    return { baudRate: baudRateOf(this.#descriptor(), this.openOptions.path) };
  }

  /** Drops bytes that were received and not read, and bytes that were written and not sent. */
  async flush(): Promise<void> {
    this.#source.discard();
    const failure = ioctl(this.#descriptor(), TCFLSH, TCIOFLUSH);
    if (failure !== undefined) throw new Error(`Error: ${failure.message}, cannot flush`);
  }

  /**
   * Resolves when the last bit has left, however long the other side holds the line up; closing ends it. The
   * event loop goes on meanwhile.
   */
  async drain(): Promise<void> {
    this.#descriptor();
    await this.#writing;
    while (this.#queued_bytes() > 0) await this.#waiting.pause(this.#transmission_ms(this.#queued_bytes()));
    // The chip's own buffer isn't counted: let it run empty before the call that would wait for it.
    const chip_ms = this.#transmission_ms(chip_bytes);
    if (chip_ms > blocking_ms_max) await this.#waiting.pause(chip_ms);
    const failure = ioctl(this.#descriptor(), TCSBRK, 1);
    if (failure !== undefined) throw new Error(`Error: ${failure.message}, cannot drain`);
  }

  #descriptor(): number {
    if (this.fd === null) throw new Error("Port is not open");
    return this.fd;
  }

  async #send(buffer: Buffer): Promise<void> {
    let delay_ms = 0;
    for (let sent = 0; sent < buffer.length; ) {
      if (this.fd === null) throw canceled();
      const taken = this.#sendSome(this.fd, buffer.subarray(sent, sent + turn_bytes_max));
      sent += taken;
      if (sent === buffer.length) return;
      // A full line is left alone for longer and longer, up to the time it needs to make some room.
      delay_ms = taken > 0 ? 0 : Math.min(Math.max(1, delay_ms * 2), retry_ms_max);
      await this.#waiting.pause(delay_ms);
    }
  }

  /** Returns how many bytes the kernel took; 0 when it has no room now. */
  #sendSome(fd: number, bytes: Buffer): number {
    try {
      return writeSync(fd, bytes);
    } catch (thrown) {
      const { code, message } = thrown as NodeJS.ErrnoException;
      if (code === "EAGAIN" || code === "EINTR") return 0;
      throw disconnected(this.openOptions.path, `writing failed: ${message}`);
    }
  }

  #queued_bytes(): number {
    const count = new Uint8Array(4);
    const failure = ioctl(this.#descriptor(), TIOCOUTQ, count);
    if (failure !== undefined) throw disconnected(this.openOptions.path, failure.message);
    return new DataView(count.buffer).getInt32(0, true);
  }

  /** How long so many bytes take, between a millisecond and the bound. */
  #transmission_ms(bytes: number): number {
    const time_ms = (bytes * bits_per_byte_max * 1000) / this.openOptions.baudRate;
    return Math.max(1, Math.min(time_ms, pause_ms_max));
  }
}

/** Start, eight data, parity and two stop bits. */
const bits_per_byte_max = 12;
/** The largest transmit buffer of a usual UART. */
const chip_bytes = 64;
/** How long the event loop may stand still at the end of a drain. */
const blocking_ms_max = 10;
/** The longest pause between two looks at a line that is sending. */
const pause_ms_max = 2000;
/** The longest pause between two tries to write to a line that has no room. */
const retry_ms_max = 32;
/** Written in one go, so that a fast line doesn't keep everything else waiting. */
const turn_bytes_max = 64 * 1024;

export const TCSBRK = 0x5409;
export const TCFLSH = 0x540b;
export const TCIOFLUSH = 2;
export const TIOCEXCL = 0x540c;
export const TIOCNXCL = 0x540d;
export const TIOCOUTQ = 0x5411;
export const TIOCGEXCL = 0x80045440;

const openFile = promisify(open);
const closeDevice = promisify(close);
export const O_CLOEXEC = 0o2000000;
const openFlags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK | O_CLOEXEC;

async function openDevice(path: string): Promise<number> {
  try {
    return await openFile(path, openFlags);
  } catch (thrown) {
    const { code = "" } = thrown as NodeJS.ErrnoException;
    throw new Error(openFailures[code]?.(path) ?? `Error: ${(thrown as Error).message}, cannot open ${path}`);
  }
}

const openFailures: Readonly<Record<string, (path: string) => string>> = {
  ENOENT: (path) => `Error: No such file or directory, cannot open ${path}`,
  EACCES: (path) =>
    `Error: Permission denied, cannot open ${path}: is this user in the group that owns it (dialout)?`,
  EBUSY: (path) => `Error Resource busy Cannot lock port: ${holderOf(path)} holds ${path}`,
};

/**
 * Two locks, because each has a hole. The terminal's own (TIOCEXCL) keeps out programs that know of no
 * locks, but root passes it; the file lock is seen by everyone who asks for it, as serialport does.
 */
function hold(fd: number, path: string): void {
  const taken =
    lock(fd, "take") ?? (heldExclusively(fd) ? { code: "EBUSY", message: "Resource busy" } : undefined);
  if (taken !== undefined)
    throw new Error(`Error ${taken.message} Cannot lock port: ${holderOf(path)} holds ${path}`);
  if (!isPseudoTerminal(fd)) ioctl(fd, TIOCEXCL, 0);
}

/** Given back before closing, because Bun's duplicate of the descriptor may live a moment longer. */
function release(fd: number): void {
  if (!isPseudoTerminal(fd)) ioctl(fd, TIOCNXCL, 0);
  lock(fd, "release");
}

function heldExclusively(fd: number): boolean {
  const exclusive = new Uint8Array(4);
  return !isPseudoTerminal(fd) && ioctl(fd, TIOCGEXCL, exclusive) === undefined && exclusive[0] !== 0;
}

/** A pseudo-terminal remembers the flag for as long as its master lives, even when the holder was killed. */
function isPseudoTerminal(fd: number): boolean {
  const major = (fstatSync(fd).rdev >> 8) & 0xfff;
  return major >= UNIX98_PTY_SLAVE_MAJOR && major < UNIX98_PTY_SLAVE_MAJOR + UNIX98_PTY_MAJOR_COUNT;
}

export const UNIX98_PTY_SLAVE_MAJOR = 136;
export const UNIX98_PTY_MAJOR_COUNT = 8;

function checkOptions(options: unknown): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError('"options" is not an object');
  }
}

/** The same complaints, in the same order, for every kind of port. */
export function checkRead(buffer: Buffer, offset: number, length: number): void {
  if (!Buffer.isBuffer(buffer)) throw new TypeError('"buffer" is not a Buffer');
  if (!Number.isInteger(offset)) throw new TypeError('"offset" is not an integer');
  if (!Number.isInteger(length)) throw new TypeError('"length" is not an integer');
  if (buffer.length < offset + length) throw new Error("buffer is too small");
}
