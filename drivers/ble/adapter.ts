import { ptr } from "bun:ffi";
import { close, realpathSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import { factIn, namesIn } from "../../src/base/kernel-files.ts";
import { errnoFunction, errnoOf, openLibc } from "../../src/base/libc.ts";
import type { SerialLine } from "../wire/serial-line.ts";

/** The number of an adapter of the kernel, such as `hci0`; undefined where a port is none. */
export function adapterNumber(port: string): number | undefined {
  const number = /^hci(\d{1,5})$/.exec(port)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** A Bluetooth adapter of the kernel, as /sys describes it. */
export interface Adapter {
  /** Such as `hci0`. */
  readonly name: string;
  /** In words: where it is, and what it calls itself if it is on USB. */
  readonly title: string;
  /** Why rfkill keeps it off; absent where it does not. */
  readonly off?: "by software" | "by a switch";
  /** Connections that another program has through it now. */
  readonly connections: number;
}

/** The adapters of the kernel, by number. `directory` is where the kernel lists them. */
export function kernelAdapters(directory = "/sys/class/bluetooth"): Adapter[] {
  const entries = namesIn(directory);
  return entries
    .filter((name) => adapterNumber(name) !== undefined)
    .sort((one, other) => (adapterNumber(one) ?? 0) - (adapterNumber(other) ?? 0))
    .map((name) => {
      const off = switchedOff(join(directory, name));
      return {
        name,
        title: `Bluetooth adapter ${placeOf(join(directory, name))}`,
        ...(off === undefined ? {} : { off }),
        // The kernel lists a connection beside its adapter, as `hci0:64`.
        connections: entries.filter((entry) => entry.startsWith(`${name}:`)).length,
      };
    });
}

function placeOf(adapter: string): string {
  const device = realpathSync(adapter);
  if (device.includes("/virtual/")) return "of a simulation";
  if (!device.includes("/usb")) return "built in";
  // The adapter hangs below an interface of its USB device: …/1-2/1-2:1.0/bluetooth/hci0.
  const usb = join(device, "../../..");
  const words = ["manufacturer", "product"].map((file) => factIn(join(usb, file))).filter(Boolean);
  return words.length === 0 ? "on USB" : `on USB (${words.join(" ")})`;
}

function switchedOff(adapter: string): "by software" | "by a switch" | undefined {
  const [rfkill] = namesIn(adapter).filter((name) => name.startsWith("rfkill"));
  if (rfkill === undefined) return undefined;
  if (factIn(join(adapter, rfkill, "hard")) === "1") return "by a switch";
  return factIn(join(adapter, rfkill, "soft")) === "1" ? "by software" : undefined;
}

/**
 * Opens an adapter of the kernel by its HCI user channel: until it is closed, nobody else uses the adapter, and the kernel
 * adds nothing to what is sent. An adapter that another program has switched on without using it is switched off first.
 * Packets have the H4 type byte, as on a serial line. Blocks while the kernel starts the adapter. Rejects with an
 * OperatorError, and has then given the adapter back. Needs CAP_NET_ADMIN.
 */
export async function openAdapter(port: string, onData: (chunk: Uint8Array) => void): Promise<SerialLine> {
  const number = adapterNumber(port) ?? 0;
  const fd = hciSocket(port);
  try {
    let failure = bindTo(fd, number);
    if (failure === "EBUSY") {
      switchOff(fd, port, number);
      failure = bindTo(fd, number);
    }
    if (failure !== undefined) throw adapterFault(port, failure);
    return new AdapterLine(port, fd, onData);
  } catch (thrown) {
    await closeDescriptor(fd);
    throw thrown;
  }
}

/** An adapter that is open: each write is one packet, and the kernel hands over whole packets. */
export class AdapterLine implements SerialLine {
  readonly ended: Promise<OperatorError>;
  readonly #port: string;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #fd: number | undefined;
  #end: (reason: OperatorError) => void;

  constructor(port: string, fd: number, onData: (chunk: Uint8Array) => void) {
    const { promise, resolve } = Promise.withResolvers<OperatorError>();
    this.ended = promise;
    this.#end = resolve;
    this.#port = port;
    this.#fd = fd;
    this.#reader = Bun.file(fd).stream().getReader();
    void this.#receive(onData);
  }

  async write(packet: Uint8Array): Promise<void> {
    if (this.#fd === undefined) throw adapterFault(this.#port, "EBADF");
    try {
      writeSync(this.#fd, packet);
    } catch (thrown) {
      throw adapterFault(this.#port, (thrown as NodeJS.ErrnoException).code ?? messageOf(thrown));
    }
  }

  async close(): Promise<void> {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#fd = undefined;
    await this.#reader.cancel().catch(() => {}); // a stream that failed has nothing left to cancel
    await closeDescriptor(fd);
  }

  async #receive(onData: (chunk: Uint8Array) => void): Promise<void> {
    // An adapter that is unplugged fails its socket, with whatever errno.
    const next = () => this.#reader.read().catch(() => ({ done: true, value: undefined }) as const);
    for (let { value, done } = await next(); !done && this.#fd !== undefined; { value, done } = await next())
      if (value !== undefined) onData(value);
    this.#end(adapterFault(this.#port, "EPIPE"));
  }
}

/** Switches an adapter off that another program has on, as `hciconfig hci0 down` does. */
function switchOff(fd: number, port: string, number: number): void {
  const inUse = kernelAdapters().some(({ name, connections }) => name === port && connections > 0);
  const failed = inUse || libc().ioctl(fd, hci_device_down, number) === -1;
  if (failed) throw adapterFault(port, inUse ? "connected" : errnoName());
}

function hciSocket(port: string): number {
  const fd = libc().socket(AF_BLUETOOTH, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol_hci);
  if (fd === -1) throw adapterFault(port, errnoName());
  return fd;
}

/** Binds a socket to the user channel of an adapter, which starts it. Answers the name of errno if that fails. */
function bindTo(fd: number, number: number): string | undefined {
  const address = new DataView(new ArrayBuffer(address_bytes));
  address.setUint16(0, AF_BLUETOOTH, true);
  address.setUint16(2, number, true);
  address.setUint16(4, user_channel, true);
  return libc().bind(fd, ptr(address.buffer), address_bytes) === -1 ? errnoName() : undefined;
}

/** One line about an adapter, by the name of errno, or `connected`. */
export function adapterFault(port: string, code: string): OperatorError {
  const [what, remedy] = faults[code] ?? [
    `the kernel cannot start it (${code})`,
    "`sudo dmesg | grep -i bluetooth` says why: if it names a firmware file, install that, and start the machine again",
  ];
  return new OperatorError(`the Bluetooth adapter ${port}: ${what}`, remedy);
}

/** The meaning of errno here, and the remedy. Source: `hci_sock_bind` and `hci_dev_do_open` of Linux 6.12. */
const faults: Readonly<Record<string, readonly [what: string, remedy: string]>> = {
  ENODEV: [
    "it is not there",
    "plug it in, or correct the port in [ble]: `lintel doctor` lists the adapters of the kernel",
  ],
  EPIPE: ["it is gone", "plug it in again, or correct the port in [ble]"],
  EPERM: [
    "Lintel lacks the right to use it (CAP_NET_ADMIN)",
    "run `sudo lintel setup` again, which gives the service this right; docs/bluetooth.md has the lines",
  ],
  EAFNOSUPPORT: [
    "this service may not use Bluetooth, or the kernel has none",
    "run `sudo lintel setup` again, which gives the service this right, or `sudo modprobe bluetooth`",
  ],
  // While the kernel loads its firmware, which ends by itself.
  EBUSY: [
    "another program or the kernel is just starting it",
    "it is tried again by itself; if this lasts, `sudo systemctl disable --now bluetooth`",
  ],
  connected: [
    "another program is connected through it, such as bluetoothd to a loudspeaker",
    "disconnect that device, or stop the program: `sudo systemctl disable --now bluetooth`",
  ],
  EUSERS: ["another program has it for itself", "stop that program, perhaps another Lintel"],
  ERFKILL: ["rfkill keeps it off", "`sudo rfkill unblock bluetooth`, or the switch at the machine"],
};

export const AF_BLUETOOTH = 31;
export const SOCK_RAW = 3;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;
/** Of `struct sockaddr_hci`, three u16: family, device, channel. No header of C has these: net/bluetooth/hci_sock.h. */
const address_bytes = 6;
const protocol_hci = 1;
const user_channel = 1;
/** The request HCIDEVDOWN: `_IOW('H', 202, int)`. */
const hci_device_down = 0x400448ca;

const closeDescriptor = promisify(close);

let loaded: ReturnType<typeof load> | undefined;

function libc() {
  loaded ??= load();
  return loaded;
}

function load() {
  return openLibc({
    socket: { args: ["i32", "i32", "i32"], returns: "i32" },
    bind: { args: ["i32", "ptr", "u32"], returns: "i32" },
    ioctl: { args: ["i32", "u64", "u64"], returns: "i32" },
    ...errnoFunction,
  });
}

function errnoName(): string {
  const { code } = errnoOf(libc());
  return code === rfkill ? "ERFKILL" : code;
}

/** Linux's own, which Bun has no name for. */
const rfkill = "errno 132";
