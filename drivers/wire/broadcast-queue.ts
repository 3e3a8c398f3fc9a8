import type { Host } from "../driver.ts";

/** Broadcasts of one device that wait for the disk. */
const queue_max = 256;

/** The broadcasts of one device, one after another: each is judged by what the one before has left on the disk. */
export class BroadcastQueue {
  readonly #host: Host;
  readonly #kind: string;
  #last: Promise<void> = Promise.resolve();
  #queued = 0;

  /** @param options.kind of the devices, for the counters of what is thrown away */
  constructor({ host, kind }: { host: Host; kind: string }) {
    this.#host = host;
    this.#kind = kind;
  }

  /** Some wait, or one is being heard. */
  get isBusy(): boolean {
    return this.#queued > 0;
  }

  /** Hears a broadcast, in its turn. */
  add(hear: () => Promise<void>): void {
    if (this.#queued >= queue_max) {
      this.#host.dropped(`${this.#kind} broadcasts that found the disk too slow`);
      return;
    }
    this.#queued += 1;
    this.#last = this.#last
      .then(hear)
      // The disk could not be read or written: it has been counted and said, and a repeat of the broadcast tries again.
      .catch(() => this.#host.dropped(`${this.#kind} broadcasts that the disk had no answer for`))
      .finally(() => {
        this.#queued -= 1;
      });
  }

  /** Resolves when all that was added has been heard. */
  async settled(): Promise<void> {
    await this.#last;
  }
}
