import type { SimulatedDevice } from "./device.ts";

const zonestatus_max = 0xffff;

/**
 * A sensor that notifies at an interval, its zone status counting up from 1, and what of it a host can have heard: what is
 * written before a host's first word may be flushed when it opens the port, what is written after it may not be lost.
 */
export class Reports {
  /** Status of the first notification that was written after the first word of the present host; null before it. */
  first: number | null = null;
  /** Status of the last notification that was written; 0 before the first. */
  last = 0;
  #spoken = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Has the device notify from now on; 0 ends it. */
  every(device: SimulatedDevice, every_ms: number): void {
    clearInterval(this.#timer);
    if (every_ms > 0) this.#timer = setInterval(() => this.#notify(device), every_ms);
  }

  /** The host has closed the port, so that what it wrote has been read: the next first words are another's. */
  hostClosed(): void {
    this.first = null;
    this.#spoken = false;
  }

  hostSpoke(): void {
    this.#spoken = true;
  }

  #notify(device: SimulatedDevice): void {
    if (this.last === zonestatus_max || !device.notify(this.last + 1)) return;
    this.last += 1;
    if (this.#spoken) this.first ??= this.last;
  }
}
