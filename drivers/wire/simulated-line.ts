import { ptr } from "bun:ffi";
import { closeSync, constants, lstatSync, openSync, symlinkSync, unlinkSync, writeSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { openLibc } from "../../src/base/libc.ts";
import { openPty, type Pty } from "./pty.ts";

/** `vhci` and `hciuart` make a Bluetooth adapter of this kernel, by its module of that name; Debian's for aarch64 has the second alone. */
export const transportKinds = ["tcp", "pty", "vhci", "hciuart"] as const;
export type TransportKind = (typeof transportKinds)[number];

/** The simulated device's end of its line. */
export interface Transport {
  readonly path: string;
  readonly plugged: boolean;
  onOpen: () => void;
  onData: (chunk: Uint8Array) => void;
  /** Sends to the connected peer; without one the bytes are lost, as on a wire. */
  write(bytes: Uint8Array): void;
  /** Resolves when all that was written has been taken by the kernel. */
  drained(): Promise<void>;
  unplug(): Promise<void>;
  replug(): Promise<void>;
}

/**
 * Makes a line of a kind, or takes one that somebody has made. `link` is the path of a symlink to the pty, so that it keeps its name when it is
 * plugged in again.
 */
export async function openTransport(options: {
  transport: TransportKind | Transport;
  port?: number;
  link?: string;
}): Promise<Transport> {
  if (typeof options.transport !== "string") return options.transport;
  const kinds = {
    tcp: () => new TcpTransport(options.port ?? 0),
    pty: () => new PtyTransport(options.link),
    vhci: () => new VirtualAdapter(),
    hciuart: () => new UartAdapter(),
  };
  const transport = kinds[options.transport]();
  await transport.replug();
  return transport;
}

/** A TCP port of the loopback, as ser2net offers a serial port. A second gateway is turned away. */
class TcpTransport implements Transport {
  onOpen = () => {};
  onData = (_chunk: Uint8Array) => {};
  #port: number;
  #server: Server | undefined;
  #socket: Socket | undefined;

  constructor(port: number) {
    this.#port = port;
  }

  get path(): string {
    return `tcp://127.0.0.1:${this.#port}`;
  }

  get plugged(): boolean {
    return this.#server !== undefined;
  }

  write(bytes: Uint8Array): void {
    this.#socket?.write(bytes);
  }

  async drained(): Promise<void> {
    const socket = this.#socket;
    if (socket === undefined || socket.writableLength === 0) return;
    await new Promise<void>((resolve) => {
      socket.once("drain", resolve);
      socket.once("close", () => resolve());
    });
  }

  async unplug(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
    if (server !== undefined) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  async replug(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer((socket) => this.#accept(socket));
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    const address = server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
    this.#server = server;
  }

  #accept(socket: Socket): void {
    if (this.#socket !== undefined) {
      socket.destroy();
      return;
    }
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.onData(chunk));
    // A reset by the peer ends the connection like any other end: "close" follows.
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
    });
    this.onOpen();
  }
}

/** A pseudo-terminal, which the gateway opens as it would open a stick. */
class PtyTransport implements Transport {
  onOpen = () => {};
  onData = (_chunk: Uint8Array) => {};
  readonly #link: string | undefined;
  #pty: Pty | undefined;
  #path = "";
  #written: Promise<void> = Promise.resolve();

  constructor(link: string | undefined) {
    this.#link = link;
  }

  get path(): string {
    return this.#link ?? this.#path;
  }

  get plugged(): boolean {
    return this.#pty !== undefined;
  }

  write(bytes: Uint8Array): void {
    // Rejected when nobody reads: those bytes are lost, as on a wire.
    if (this.#pty !== undefined) this.#written = this.#pty.write(bytes).catch(() => {});
  }

  async drained(): Promise<void> {
    await this.#written;
  }

  async unplug(): Promise<void> {
    if (this.#pty === undefined) return;
    if (this.#link !== undefined) unlinkSync(this.#link);
    this.#pty.close();
    this.#pty = undefined;
  }

  async replug(): Promise<void> {
    if (this.#pty !== undefined) return;
    const pty = openPty();
    this.#pty = pty;
    this.#path = pty.path;
    if (this.#link !== undefined) {
      removeLink(this.#link);
      symlinkSync(pty.path, this.#link);
    }
    this.onOpen();
    void this.#receive(pty);
  }

  async #receive(pty: Pty): Promise<void> {
    for await (const chunk of pty.read) this.onData(chunk);
  }
}

/** A virtual adapter of the kernel, which hands this end what the host sends to its controller: each write is one packet. */
class VirtualAdapter implements Transport {
  onOpen = () => {};
  onData = (_chunk: Uint8Array) => {};
  path = "";
  #device: { fd: number; reader: ReadableStreamDefaultReader<Uint8Array> } | undefined;

  get plugged(): boolean {
    return this.#device !== undefined;
  }

  write(packet: Uint8Array): void {
    if (this.#device !== undefined) writeSync(this.#device.fd, packet);
  }

  async drained(): Promise<void> {}

  async unplug(): Promise<void> {
    const device = this.#device;
    this.#device = undefined;
    // The adapter is there for as long as any descriptor of it is open, and the reader has one of its own.
    await device?.reader.cancel();
    if (device !== undefined) closeSync(device.fd);
  }

  async replug(): Promise<void> {
    if (this.#device !== undefined) return;
    const fd = openSync("/dev/vhci", constants.O_RDWR | constants.O_NONBLOCK);
    const reader = Bun.file(fd).stream().getReader();
    this.#device = { fd, reader };
    writeSync(fd, createAdapter);
    // The first packet is the kernel's answer: the same two bytes, and the number of the adapter.
    const { value = new Uint8Array() } = await reader.read();
    this.path = `hci${Buffer.from(value).readUInt16LE(createAdapter.length)}`;
    this.onOpen();
    // The kernel asks for the controller at once, and whoever answers sets onData when this has resolved.
    setImmediate(() => void this.#receive(reader, value.subarray(createAdapter.length + 2)));
  }

  async #receive(reader: ReadableStreamDefaultReader<Uint8Array>, first: Uint8Array): Promise<void> {
    let value: Uint8Array | undefined = first;
    for (; value !== undefined; { value } = await reader.read()) if (value.length > 0) this.onData(value);
  }
}

/** The kernel's own packet type, and its request for a controller of the usual kind. */
const createAdapter = Uint8Array.of(0xff, 0);

/** An adapter of the kernel at the end of a pty, as that of a Raspberry Pi is at the end of a UART. */
class UartAdapter implements Transport {
  onOpen = () => {};
  onData = (_chunk: Uint8Array) => {};
  path = "";
  #line: { pty: Pty; fd: number } | undefined;

  get plugged(): boolean {
    return this.#line !== undefined;
  }

  write(packet: Uint8Array): void {
    this.#line?.pty.write(packet).catch(() => {});
  }

  async drained(): Promise<void> {}

  async unplug(): Promise<void> {
    const line = this.#line;
    this.#line = undefined;
    if (line === undefined) return;
    closeSync(line.fd);
    line.pty.close();
  }

  async replug(): Promise<void> {
    if (this.#line !== undefined) return;
    const pty = openPty();
    const fd = openSync(pty.path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOCTTY);
    const { ioctl } = openLibc({ ioctl: { args: ["i32", "u64", "u64"], returns: "i32" } });
    this.#line = { pty, fd };
    const discipline = Int32Array.of(line_discipline_hci);
    if (ioctl(fd, TIOCSETD, ptr(discipline)) === -1) throw new Error("the kernel has no hci_uart");
    ioctl(fd, uart_set_protocol, protocol_h4);
    this.path = `hci${ioctl(fd, uart_get_device, 0)}`;
    this.onOpen();
    // The kernel asks for the controller at once, and whoever answers sets onData when this has resolved.
    setImmediate(() => void this.#receive(pty));
  }

  async #receive(pty: Pty): Promise<void> {
    for await (const chunk of pty.read) this.onData(chunk);
  }
}

export const TIOCSETD = 0x5423;
/** Of the kernel's drivers/bluetooth/hci_uart.h, and in no header of C. */
const line_discipline_hci = 15;
const uart_set_protocol = 0x400455c8;
const uart_get_device = 0x800455ca;
const protocol_h4 = 0;

/** Takes away the link of a simulator that was killed. What is no link is somebody's file, and stays. */
function removeLink(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isSymbolicLink()) unlinkSync(path);
}
