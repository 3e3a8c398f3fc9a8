import { connect, type Socket } from "node:net";
import { BindingsError, canceled, disconnected } from "./errors.ts";
import type {
  BindingPortInterface,
  OpenOptions,
  PortStatus,
  SetOptions,
  UpdateOptions,
} from "./interface.ts";
import { checkRead } from "./linux-port.ts";

/** A serial port at the other end of a TCP connection, as ser2net and network adapters offer: raw bytes. */
export function isTcpPath(path: string): boolean {
  return path.startsWith("tcp://");
}

/** How long a connection may take to come about. */
export const connect_timeout_ms = 10_000;

/** Connects to `tcp://host:port`. Rejects with one line that names the path. */
export async function openTcpPort(options: Required<OpenOptions>): Promise<TcpPortBinding> {
  const { host, port } = addressOf(options.path);
  const socket = connect({
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: keep_alive_ms,
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(
    () => reject(new Error(`no answer within ${connect_timeout_ms} ms`)),
    connect_timeout_ms,
  );
  socket.once("connect", resolve);
  socket.once("error", reject);
  try {
    await promise;
  } catch (thrown) {
    socket.on("error", () => {}); // whatever else it may say, it is given up
    socket.destroy();
    throw new Error(
      `Error: ${thrown instanceof Error ? thrown.message : thrown}, cannot open ${options.path}`,
    );
  } finally {
    clearTimeout(timer);
    socket.off("error", reject);
  }
  return new TcpPortBinding(socket, options);
}

/** The other end may vanish without a word (power cut): ask after so long a silence. */
const keep_alive_ms = 15_000;

function addressOf(path: string): { host: string; port: number } {
  const url = URL.canParse(path) ? new URL(path) : undefined;
  const port = Number(url?.port);
  if (url === undefined || url.hostname === "" || !(port > 0)) {
    throw new Error(`Error: cannot open ${path}: write it as tcp://host:port`);
  }
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port };
}

export class TcpPortBinding implements BindingPortInterface {
  readonly openOptions: Required<OpenOptions>;
  isOpen = true;
  readonly #socket: Socket;
  #fault: Error | undefined;
  #wake: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #abandonWrite: ((reason: Error) => void) | undefined;

  constructor(socket: Socket, openOptions: Required<OpenOptions>) {
    this.#socket = socket;
    this.openOptions = openOptions;
    // Bytes stay in the socket, and so with the sender, until somebody reads.
    socket.on("readable", () => this.#wake?.());
    socket.on("error", (error) => this.#fail(error.message));
    socket.on("end", () => this.#fail("the other end closed the connection"));
    socket.on("close", () => this.#fail("the connection is gone"));
  }

  async close(): Promise<void> {
    this.#checkOpen();
    this.isOpen = false;
    this.#abandonWrite?.(canceled());
    this.#wake?.();
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#socket.closed) resolve();
    else this.#socket.once("close", () => resolve());
    this.#socket.destroy();
    await promise;
  }

  async read(buffer: Buffer, offset: number, length: number): Promise<{ buffer: Buffer; bytesRead: number }> {
    checkRead(buffer, offset, length);
    if (!this.isOpen) throw new BindingsError("Port is not open", { canceled: true });
    for (;;) {
      const chunk = this.#take(length);
      if (chunk !== undefined) {
        chunk.copy(buffer, offset);
        return { buffer, bytesRead: chunk.length };
      }
      if (this.#fault !== undefined) throw this.#fault;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      if (!this.isOpen) throw canceled();
    }
  }

  async write(buffer: Buffer): Promise<void> {
    if (!Buffer.isBuffer(buffer)) throw new TypeError('"buffer" is not a Buffer');
    this.#checkOpen();
    const writing = this.#writing.then(() => this.#send(buffer));
    this.#writing = writing.catch(() => {}); // whoever wrote is told
    await writing;
  }

  /** The far end keeps its own line settings: accepted, and nothing done. */
  async update({ baudRate }: UpdateOptions): Promise<void> {
    if (typeof baudRate !== "number") throw new TypeError('"options.baudRate" is not a number');
    this.#checkOpen();
    this.openOptions.baudRate = baudRate;
  }

  /** There are no control lines on a socket: accepted, and nothing done. */
  async set(_options: SetOptions): Promise<void> {
    this.#checkOpen();
  }

  async get(): Promise<PortStatus> {
    this.#checkOpen();
    return { cts: false, dsr: false, dcd: false };
  }

  async getBaudRate(): Promise<{ baudRate: number }> {
    this.#checkOpen();
    return { baudRate: this.openOptions.baudRate };
  }

  /** Drops bytes that have arrived and were not read; written bytes can't be called back. */
  async flush(): Promise<void> {
    this.#checkOpen();
    this.#socket.read();
  }

  /** Resolves when this machine's kernel has every byte: how far the other end is can't be known. */
  async drain(): Promise<void> {
    this.#checkOpen();
    await this.#writing;
  }

  #take(length: number): Buffer | undefined {
    const chunk = this.#socket.read(Math.min(length, Math.max(1, this.#socket.readableLength)));
    return chunk ?? undefined;
  }

  async #send(buffer: Buffer): Promise<void> {
    if (!this.isOpen) throw canceled();
    if (this.#fault !== undefined) throw this.#fault;
    if (buffer.length === 0) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#abandonWrite = reject;
    this.#socket.write(buffer, (error) =>
      error ? reject(disconnected(this.openOptions.path, error.message)) : resolve(),
    );
    await promise;
  }

  #fail(why: string): void {
    this.#fault ??= disconnected(this.openOptions.path, why);
    this.#abandonWrite?.(this.#fault);
    this.#wake?.();
  }

  #checkOpen(): void {
    if (!this.isOpen) throw new Error("Port is not open");
  }
}
