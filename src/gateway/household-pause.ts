import { type Clock, repeat } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { day_ms } from "../base/time.ts";
import type { Pause } from "../store/pause.ts";
import { beginPause, endPauses, isPaused, isTimeKnown } from "../store/pause-requests.ts";
import type { Store } from "../store/store.ts";

interface HouseholdPauseOptions {
  readonly store: Pick<Store, "pauses" | "takePauses" | "overview" | "changes">;
  readonly clock: Clock;
  readonly log: Log;
  /** Told when recording has paused, or goes on. */
  readonly changed: () => void;
}

/** Pauses that the people of a home ask for themselves, at the box or on a page, and whether recording is paused, whoever has asked for that. */
export class HouseholdPause {
  readonly #options: HouseholdPauseOptions;
  #pauses: readonly Pause[] = [];
  #changes: number | undefined;
  #wasPaused = false;
  #cancel: () => void = () => {};

  constructor(options: HouseholdPauseOptions) {
    this.#options = options;
  }

  get isPaused(): boolean {
    return isPaused(this.#pauses, this.#options.clock);
  }

  /** Looks now, and again every second until `stop`, so that a pause of `lintel pause` or of central is seen too. */
  async keep(): Promise<void> {
    await this.#look();
    this.#cancel = repeat(this.#options.clock, look_ms, () => void this.#look());
  }

  stop(): void {
    this.#cancel();
  }

  /** Does what a press of the button asks for: the recording pauses, or goes on. */
  async press(): Promise<void> {
    await (this.isPaused ? this.resume("the button") : this.pause("the button", button_ms));
  }

  /** @param by who asks for it, for the log */
  pause(by: string, for_ms: number): Promise<void> {
    return this.#change(`${by} pauses the recording`, async ({ store, clock }) => {
      // Where nobody knows the time, nobody knows when it would end: it lasts until somebody resumes.
      await beginPause(store, clock, { home: 0, for_ms: isTimeKnown(clock) ? for_ms : undefined });
    });
  }

  /** Lets the recording go on, unless it was stopped for want of consent. */
  resume(by: string): Promise<void> {
    return this.#change(`${by} lets the recording go on`, async ({ store, clock }) => {
      await endPauses(store, clock, { home: 0 });
    });
  }

  async #change(what: string, work: (options: HouseholdPauseOptions) => Promise<void>): Promise<void> {
    const { log } = this.#options;
    try {
      await work(this.#options);
      log.info(what);
    } catch (thrown) {
      log.warn(`${what}: that failed (${messageOf(thrown)})`);
    }
    await this.#look();
  }

  async #look(): Promise<void> {
    const { store, log, changed } = this.#options;
    try {
      const changes = store.changes();
      if (changes === undefined || changes !== this.#changes) this.#pauses = await store.pauses();
      this.#changes = changes;
    } catch (thrown) {
      log.warn(`whether recording is paused could not be read (${messageOf(thrown)})`);
    }
    if (this.isPaused === this.#wasPaused) return;
    this.#wasPaused = this.isPaused;
    changed();
  }
}

const look_ms = 1_000;
/** A pause that somebody forgets ends on the next day. */
const button_ms = day_ms;
