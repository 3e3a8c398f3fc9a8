import { writeFileSync } from "node:fs";
// By the name that serialport has for it: in a copy of the source with a fault in it they are one module too.
import { BindingsError, LinuxBinding } from "@serialport/bindings-cpp";
import type {
  BindingPortInterface,
  OpenOptions,
} from "../../../../../drivers/native/serialport/interface.ts";
import type { Transport } from "../../../../../drivers/wire/simulated-line.ts";
import type { Process, World } from "../world.ts";
import { currentProcess, runAs } from "./processes.ts";

/**
 * A serial line in memory: a simulated device at one end, at the other what serialport opens under its path. Bytes that nobody has read when the host's
 * process dies are gone with it, as the kernel drops them.
 */
export class MemoryLine implements Transport {
  readonly path: string;
  onOpen = () => {};
  onData = (_chunk: Uint8Array) => {};
  plugged = true;
  readonly #world: World;
  #port: MemoryPort | undefined;

  /** @param path a file that is made here, because drivers look whether it is there */
  constructor(world: World, path: string) {
    this.#world = world;
    this.path = path;
    writeFileSync(path, "");
    lines.set(path, this);
  }

  write(bytes: Uint8Array): void {
    this.#world.stir();
    this.#port?.deliver(bytes);
  }

  async drained(): Promise<void> {}

  async unplug(): Promise<void> {
    this.plugged = false;
    this.#world.stir();
    this.#port?.fail();
    this.#port = undefined;
  }

  async replug(): Promise<void> {
    this.plugged = true;
  }

  /** The host's process is gone. */
  hangUp(): void {
    this.#port = undefined;
  }

  open(options: OpenOptions): MemoryPort {
    if (!this.plugged) throw new Error(`Error: No such file or directory, cannot open ${this.path}`);
    if (this.#port?.isOpen === true)
      throw new Error("Error Resource temporarily unavailable Cannot lock port");
    const port = new MemoryPort(options, {
      send: (bytes) => {
        if (this.#port !== port) return;
        this.#world.stir();
        // What the device does of it is none of the host's doing.
        runAs(undefined, () => this.onData(bytes));
      },
      closed: () => {
        if (this.#port === port) this.#port = undefined;
      },
    });
    this.#port = port;
    runAs(undefined, () => this.onOpen());
    return port;
  }
}

/** The host's end of a line. */
class MemoryPort implements BindingPortInterface {
  readonly openOptions: Required<OpenOptions>;
  isOpen = true;
  readonly #process: Process | undefined = currentProcess();
  readonly #line: { send(bytes: Uint8Array): void; closed(): void };
  #waiting: Buffer[] = [];
  #failed = false;
  #wake: (() => void) | undefined;

  constructor(options: OpenOptions, line: { send(bytes: Uint8Array): void; closed(): void }) {
    this.openOptions = options as Required<OpenOptions>;
    this.#line = line;
  }

  deliver(bytes: Uint8Array): void {
    if (this.#process?.alive === false) return;
    this.#waiting.push(Buffer.from(bytes));
    this.#wakeReader();
  }

  fail(): void {
    this.#failed = true;
    this.#wakeReader();
  }

  async read(buffer: Buffer, offset: number, length: number): Promise<{ buffer: Buffer; bytesRead: number }> {
    for (;;) {
      if (!this.isOpen) throw new BindingsError("Canceled: the port was closed", { canceled: true });
      const chunk = this.#waiting.shift();
      if (chunk !== undefined) {
        const bytesRead = chunk.copy(buffer, offset, 0, length);
        if (bytesRead < chunk.length) this.#waiting.unshift(chunk.subarray(bytesRead));
        return { buffer, bytesRead };
      }
      if (this.#failed)
        throw new BindingsError(`${this.openOptions.path}: the device hung up`, { disconnect: true });
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async write(buffer: Buffer): Promise<void> {
    if (!this.isOpen || this.#failed || this.#process?.alive === false)
      throw new BindingsError(`${this.openOptions.path}: the device hung up`, { disconnect: true });
    this.#line.send(Uint8Array.from(buffer));
  }

  async close(): Promise<void> {
    this.isOpen = false;
    this.#line.closed();
    this.#wakeReader();
  }

  async update(): Promise<void> {}
  async set(): Promise<void> {}
  async get() {
    return { cts: true, dsr: true, dcd: true };
  }
  async getBaudRate() {
    return { baudRate: this.openOptions.baudRate };
  }
  async flush(): Promise<void> {
    this.#waiting = [];
  }
  async drain(): Promise<void> {}

  #wakeReader(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    // The reader goes on as its own process, whoever has sent.
    if (wake !== undefined) runAs(this.#process, wake);
  }
}

const lines = new Map<string, MemoryLine>();

/** Has serialport open lines of memory from now on, and nothing else. */
export function openLinesOfMemory(): void {
  const binding = LinuxBinding as { open: (options: OpenOptions) => Promise<unknown> };
  binding.open = async (options) => {
    const line = lines.get(options.path);
    if (line === undefined) throw new Error(`Error: No such file or directory, cannot open ${options.path}`);
    return line.open(options);
  };
}
