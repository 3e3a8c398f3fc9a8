import { type Clock, repeat, whileSame } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { localDate, localTime } from "../base/time.ts";

/**
 * Has central's mirror brought up to date: when central starts, each night once gateways have uploaded, and at once after an erasure, a restriction or a
 * pause. Another process does the work, so that no gateway and no reader waits for it.
 */
export class MirrorKeeper {
  readonly #options: MirrorKeeperOptions;
  readonly #stop = new AbortController();
  #cancel = () => {};
  #running: Promise<void> = Promise.resolve();
  /** The night of the last update that has succeeded, and what was hidden then. Empty: that was before any night had ended. */
  #night: string | undefined;
  #hidden = "";
  #next_ms = 0;

  constructor(options: MirrorKeeperOptions) {
    this.#options = options;
  }

  start(): void {
    this.#cancel = repeat(this.#options.clock, look_interval_ms, () => this.#look(), 0);
  }

  /** Ends an update that is under way: the next one does what is left. */
  async stop(): Promise<void> {
    this.#cancel();
    this.#stop.abort(new Error("central stops"));
    await this.#running;
  }

  /** Never rejects. */
  #look(): Promise<void> {
    const { clock, log } = this.#options;
    this.#running = this.#updateIfDue().catch((thrown) => {
      if (this.#stop.signal.aborted) return;
      this.#next_ms = clock.now().monotonic_ms + again_ms;
      log.warn(
        `the mirror is not up to date, and is tried again in ${again_ms / minute_ms} minutes: ${messageOf(thrown)}`,
      );
    });
    return this.#running;
  }

  async #updateIfDue(): Promise<void> {
    const { clock, timezone, update } = this.#options;
    const { unix_ms, monotonic_ms } = clock.now();
    if (monotonic_ms < this.#next_ms) return;
    const hidden = await this.#options.hidden();
    const isOver = localTime(timezone, unix_ms) >= nightly_at;
    const night = isOver ? localDate(timezone, unix_ms) : (this.#night ?? "");
    if (night === this.#night && hidden === this.#hidden) return;
    // An update of years may take hours, and what it has written of a home already it looks at no more.
    using same = whileSame({
      ...{ clock, interval_ms: look_interval_ms, read: this.#options.hidden, before: hidden },
      why: () => new Error("something else is hidden now"),
    });
    try {
      await update(AbortSignal.any([this.#stop.signal, same.signal]));
      [this.#night, this.#hidden] = [night, hidden];
    } catch (thrown) {
      if (!same.signal.aborted) throw thrown;
    }
  }
}

interface MirrorKeeperOptions {
  /** Brings the mirror up to date. Rejects where that fails, or the signal ends it. */
  readonly update: (stop: AbortSignal) => Promise<void>;
  /** A text that is another after each erasure, each pause that takes anything away, and each change of what is restricted. */
  readonly hidden: () => Promise<string>;
  /** IANA name of the zone whose nights count. */
  readonly timezone: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Gateways upload from 02:00 on. */
const nightly_at = "05:00";
const look_interval_ms = 10_000;
const minute_ms = 60_000;
const again_ms = 10 * minute_ms;
