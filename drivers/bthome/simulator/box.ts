import { objectIds } from "../objects.ts";
import { encodeServiceData, type Sender } from "../service-data.ts";

export interface SimulatedBoxOptions {
  /** Printed order: `54:48:e6:8f:80:a5`. */
  readonly address: string;
  /** 16 bytes: broadcasts are encrypted with it. */
  readonly key?: Uint8Array;
  /** The box's own clock, unix seconds. */
  readonly clock_s: () => number;
  /** Puts one packet of BTHome service data on the air. */
  readonly send: (serviceData: Uint8Array) => void;
  /** How many times each broadcast is sent; 3 unless said. */
  readonly repeats?: number;
  readonly battery_percent?: number;
  /** Of an earlier run of this box; absent: a new box. */
  readonly memory?: BoxMemory | undefined;
}

/** Numbers that a box keeps as long as its battery lasts. */
export interface BoxMemory {
  /** Events counted so far. */
  readonly count: number;
  /** Of the last broadcast: its packet number, and the counter by which nobody can repeat it later. */
  readonly packet?: number;
  readonly counter?: number;
}

/** A seven-door pill box that broadcasts, as its firmware does: every change several times, and heartbeats. */
export class SimulatedPillBox {
  doors = 0;
  count: number;
  battery_percent: number;
  /** While true it sends, and nobody is near enough to hear. */
  outOfReach = false;
  readonly #options: SimulatedBoxOptions;
  #packet: number;
  #counter: number;
  #stamp_s: number;
  #last: Uint8Array | undefined;

  constructor(options: SimulatedBoxOptions) {
    this.#options = options;
    const { count, packet = 0, counter = 0 } = options.memory ?? { count: 0 };
    this.count = count;
    this.#packet = packet;
    this.#counter = counter;
    this.battery_percent = options.battery_percent ?? 100;
    this.#stamp_s = options.clock_s();
  }

  /** The numbers as they are now, for the next run of this box. */
  get memory(): BoxMemory {
    return { count: this.count, packet: this.#packet, counter: this.#counter };
  }

  /** Opens a door, 0 Sunday to 6 Saturday, or closes it when it is open. */
  turn(door: number): void {
    this.doors ^= 1 << door;
    this.count = (this.count + 1) % 65_536;
    this.#stamp_s = this.#options.clock_s();
    this.#say();
  }

  /** Sends the broadcast that follows 4 h after its last one: the same event under a new packet number. */
  heartbeat(): void {
    this.#say();
  }

  /** Sends the last broadcast once more, byte for byte. */
  repeat(): void {
    if (this.#last !== undefined) this.#put(this.#last);
  }

  /** A new battery: everything that was counted begins again. */
  changeBattery(): void {
    this.battery_percent = 100;
    this.count = 0;
    this.#packet = 0;
    this.#counter = 0;
    this.doors = 0;
    this.#stamp_s = this.#options.clock_s();
    this.#say();
  }

  #say(): void {
    const { address, key, repeats = 3 } = this.#options;
    this.#packet = (this.#packet + 1) % 256;
    this.#counter += 1;
    const sender: Sender = {
      address: Uint8Array.fromHex(address.replaceAll(":", "")),
      ...(key === undefined ? {} : { key }),
    };
    const objects = [
      { id: objectIds.packet, value: this.#packet },
      { id: objectIds.battery, value: this.battery_percent },
      { id: objectIds.count8, value: this.doors },
      { id: objectIds.count16, value: this.count },
      { id: objectIds.timestamp, value: this.#stamp_s },
    ];
    this.#last = encodeServiceData(
      { objects, ...(key === undefined ? {} : { counter: this.#counter }) },
      sender,
    );
    for (let sent = 0; sent < repeats; sent += 1) this.#put(this.#last);
  }

  #put(serviceData: Uint8Array): void {
    if (!this.outOfReach) this.#options.send(serviceData);
  }
}
