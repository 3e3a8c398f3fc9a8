import { ptr } from "bun:ffi";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { openLibc } from "../../src/base/libc.ts";

/**
 * The device's side of a wire: the master end of a pseudo-terminal. The program under test opens `path` as
 * it would open a serial port; simulators and tests speak through the rest.
 */
export interface Pty {
  /** The slave end, such as `/dev/pts/4`, which the other side opens. Raw mode, no echo. */
  readonly path: string;
  /** Bytes that the other side wrote. Ends when the pty is closed. Nothing is read ahead of its consumer. */
  readonly read: ReadableStream<Uint8Array>;
  /**
   * Sends bytes to the other side. Resolves when the kernel has all of them, or when the pty was closed
   * meanwhile (bytes on a cut wire are lost). Rejects when more than `write_queue_bytes_max` are waiting
   * because the other side doesn't read.
   */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Pulls the plug: everyone who has `path` open gets a hang-up, and the path is gone. Harmless twice. */
  close(): void;
}

export const write_queue_bytes_max = 4 * 1024 * 1024;

/**
 * Opens a pseudo-terminal in raw mode.
 *
 * This process keeps the slave end open as well, so that the wire lives until `close()`: the other side
 * may open, close and open it again, and bytes sent in between wait in the kernel (about 4 KiB of them; more
 * wait here) until the next opener reads or flushes them. Without it the master would fail with EIO each
 * time the other side closes. The price is that the master can't tell whether anyone is there.
 *
 * @throws Error naming the call, when the system has no pseudo-terminal left.
 */
export function openPty(): Pty {
  const libc = loadLibc();
  const master = checked(libc.posix_openpt(openFlags), "posix_openpt");
  let slave: number;
  let path: string;
  try {
    checked(libc.grantpt(master), "grantpt");
    checked(libc.unlockpt(master), "unlockpt");
    path = slavePath(libc, master);
    slave = openSync(path, openFlags);
  } catch (thrown) {
    closeSync(master);
    throw thrown;
  }
  const settings = new Uint8Array(termios_bytes);
  libc.tcgetattr(slave, ptr(settings));
  libc.cfmakeraw(ptr(settings));
  libc.tcsetattr(slave, 0, ptr(settings));
  return new MasterEnd(path, master, slave);
}

class MasterEnd implements Pty {
  readonly read: ReadableStream<Uint8Array>;
  readonly #master: number;
  readonly #slave: number;
  readonly #reader: ReturnType<typeof readerOf>;
  readonly #queue: { bytes: Uint8Array; done: () => void }[] = [];
  #queued_bytes = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #open = true;

  constructor(
    readonly path: string,
    master: number,
    slave: number,
  ) {
    this.#master = master;
    this.#slave = slave;
    // The stream polls a duplicate of the descriptor, so cancelling the reader is part of closing.
    this.#reader = readerOf(master);
    this.read = new ReadableStream<Uint8Array>(
      { pull: (controller) => this.#pull(controller) },
      { highWaterMark: 0 },
    );
  }

  write(bytes: Uint8Array | string): Promise<void> {
    const chunk = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
    if (!this.#open || chunk.length === 0) return Promise.resolve();
    if (this.#queued_bytes + chunk.length > write_queue_bytes_max) {
      return Promise.reject(new Error(`${this.path}: nobody reads, ${this.#queued_bytes} bytes are waiting`));
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    // A copy: the caller may use its buffer again at once.
    this.#queue.push({ bytes: chunk.slice(), done: resolve });
    this.#queued_bytes += chunk.length;
    if (this.#retry === undefined) this.#send();
    return promise;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    clearTimeout(this.#retry);
    for (const { done } of this.#queue.splice(0)) done();
    this.#reader.cancel().catch(() => {});
    closeSync(this.#master);
    closeSync(this.#slave);
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { value, done } = await this.#reader.read();
    if (value !== undefined && value.length > 0) controller.enqueue(value);
    if (done) controller.close();
  }

  #send(): void {
    this.#retry = undefined;
    for (let first = this.#queue[0]; first !== undefined; first = this.#queue[0]) {
      const sent = this.#sendSome(first.bytes);
      if (sent === 0) {
        this.#retry = setTimeout(() => this.#send(), retry_ms);
        return;
      }
      this.#queued_bytes -= sent;
      first.bytes = first.bytes.subarray(sent);
      if (first.bytes.length === 0) this.#queue.shift()?.done();
    }
  }

  /** Returns how many bytes the kernel took; 0 when it has no room now. */
  #sendSome(bytes: Uint8Array): number {
    try {
      return writeSync(this.#master, bytes);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code === "EAGAIN") return 0;
      throw thrown;
    }
  }
}

function readerOf(descriptor: number) {
  return Bun.file(descriptor).stream().getReader();
}

/** How long a full wire is left alone before the next try. */
const retry_ms = 1;

export const O_CLOEXEC = 0o2000000;
const openFlags = constants.O_RDWR | constants.O_NOCTTY | constants.O_NONBLOCK | O_CLOEXEC;

/** `struct termios` of glibc and musl on Linux: 60 bytes, the same on x64 and aarch64. */
export const termios_bytes = 60;
const path_bytes_max = 64;

type Libc = ReturnType<typeof loadLibc>;
let loaded: ReturnType<typeof load> | undefined;

function loadLibc() {
  loaded ??= load();
  return loaded;
}

function load() {
  return openLibc({
    posix_openpt: { args: ["i32"], returns: "i32" },
    grantpt: { args: ["i32"], returns: "i32" },
    unlockpt: { args: ["i32"], returns: "i32" },
    ptsname_r: { args: ["i32", "ptr", "usize"], returns: "i32" },
    tcgetattr: { args: ["i32", "ptr"], returns: "i32" },
    tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" },
    cfmakeraw: { args: ["ptr"], returns: "void" },
  });
}

function slavePath(libc: Libc, master: number): string {
  const name = Buffer.alloc(path_bytes_max);
  checked(libc.ptsname_r(master, ptr(name), name.length) === 0 ? 0 : -1, "ptsname_r");
  return name.toString("latin1", 0, name.indexOf(0));
}

function checked(result: number, call: string): number {
  if (result < 0) throw new Error(`${call} failed: no pseudo-terminal to be had`);
  return result;
}
