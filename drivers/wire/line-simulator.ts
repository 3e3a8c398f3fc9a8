import type { Transport } from "./simulated-line.ts";

/** A simulated device at the end of a line that can be pulled out and put in again. */
export abstract class LineSimulator {
  protected readonly transport: Transport;

  protected constructor(transport: Transport) {
    this.transport = transport;
  }

  /** The path for the gateway's configuration: `tcp://127.0.0.1:…` or the path of the pty. */
  get path(): string {
    return this.transport.path;
  }

  /** Puts bytes on the line that no such device would send. */
  garbage(bytes: Uint8Array): void {
    this.transport.write(bytes);
  }

  /** Takes the device out: the connection breaks and the port is gone. */
  unplug(): Promise<void> {
    return this.transport.unplug();
  }

  replug(): Promise<void> {
    return this.transport.replug();
  }

  /** Resolves when the gateway's end of the line has all that was sent. */
  drained(): Promise<void> {
    return this.transport.drained();
  }

  close(): Promise<void> {
    return this.unplug();
  }
}
