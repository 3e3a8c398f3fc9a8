import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";

/**
 * When tokens were last used, gathered in memory and written once a minute, so that a request costs no
 * write. A crash loses at most a minute of it.
 */
export class TokenUses {
  readonly #store: Pick<Store, "noteTokenUse">;
  readonly #clock: Clock;
  readonly #log: Log;
  #used = new Map<string, number>();
  #cancel: (() => void) | undefined;

  constructor(options: { store: Pick<Store, "noteTokenUse">; clock: Clock; log: Log }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  note(id: string): void {
    if (this.#used.size >= tokens_max && !this.#used.has(id)) return;
    this.#used.set(id, this.#clock.now().unix_ms);
    this.#cancel ??= this.#clock.after(flush_ms, () => {
      this.#cancel = undefined;
      void this.flush();
    });
  }

  /** Writes the gathered uses, now. Uses that cannot be written are kept for the next time. */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    try {
      await this.#store.noteTokenUse(used);
    } catch (thrown) {
      this.#log.warn(`when tokens were last used could not be kept: ${messageOf(thrown)}`);
      this.#used = new Map([...used, ...this.#used]);
    }
  }
}

const flush_ms = 60_000;

/** More tokens than this in one minute: the first ones are noted. */
const tokens_max = 10_000;
