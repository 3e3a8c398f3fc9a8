import { EventEmitter } from "node:events";

/** An open line to a controller that carries whole packets, each with its H4 type byte. */
export interface PacketLine {
  write(packet: Buffer): void;
  /** Where packets of the controller go; set when noble starts to listen, and unset when it stops. */
  onPacket: ((packet: Buffer) => void) | undefined;
}

/**
 * A socket to a controller, in the form that noble expects. The caller opens the line, keeps it and closes it:
 * `bindParams` of `withBindings("hci", { userChannel: true, bindParams: { line } })`.
 */
export class HciSocket extends EventEmitter {
  #line: PacketLine | undefined;

  /** noble calls this once, with its own `bindParams`. */
  bindUser(_device: number | undefined, parameters: { line: PacketLine }): void {
    this.#line = parameters.line;
  }

  start(): void {
    if (this.#line === undefined) throw new Error("the controller's line was not given as bindParams.line");
    this.#line.onPacket = (packet) => this.emit("data", packet);
  }

  stop(): void {
    if (this.#line !== undefined) this.#line.onPacket = undefined;
    this.#line = undefined;
    this.removeAllListeners();
  }

  /** Writes a packet; after `stop` it is dropped, as on a closed socket. */
  write(packet: Buffer): void {
    this.#line?.write(packet);
  }

  isDevUp(): boolean {
    return this.#line !== undefined;
  }

  /** Filters are for the sockets of the kernel; a line of one's own carries everything. */
  setFilter(): void {}
}

/** As the original has it; every kind of driver is the one above. */
export function loadDriver(): typeof HciSocket {
  return HciSocket;
}
