import type { Clock } from "../../src/base/clock.ts";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";

/** Devices that may wait for a connection. One that comes when all places are taken asks again with its next advertisement. */
export const waiting_max = 64;
/** A request older than this is forgotten: most devices stop advertising before. */
export const waiting_max_ms = 30_000;
/** Between two attempts to connect the controller scans for at least this long without a pause. */
export const scan_least_ms = 2_000;
/** A device that failed is left alone for this long, and twice as long each time … */
const rest_least_ms = 5_000;
/** … up to this. */
const rest_most_ms = 600_000;

/** The work with one device in its turn. `name` is for people: its product and address. */
export interface Turn {
  readonly address: string;
  readonly name: string;
  /** Connects, works and disconnects. Rejects when that fails. */
  take(signal: AbortSignal): Promise<void>;
}

/**
 * Who is connected to when: one device at a time, in the order in which they asked. A device that has had
 * its turn goes to the end, one that failed rests, and the scan, which serves all the others, has its share
 * between any two.
 */
export class Turns {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #dropped: (what: string) => void;
  readonly #waiting = new Map<string, { turn: Turn; asked_ms: number }>();
  /** Devices whose last turn failed, by address; the oldest is forgotten beyond `resting_max`. */
  readonly #resting = new Map<string, { failures: number; until_ms: number; problem: string }>();
  #taking: { address: string; ended: Promise<void>; stop: AbortController } | undefined;
  #cancelPause: (() => void) | undefined;
  #open = false;

  constructor(options: { clock: Clock; log: Log; dropped: (what: string) => void }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.#dropped = options.dropped;
  }

  /** Whether the device may ask for a turn: it has none, does not wait for one and does not rest. */
  mayAsk(address: string): boolean {
    if (this.#waiting.has(address) || this.#taking?.address === address) return false;
    return (this.#resting.get(address)?.until_ms ?? 0) <= this.#clock.now().monotonic_ms;
  }

  ask(turn: Turn): void {
    if (!this.mayAsk(turn.address)) return;
    if (this.#waiting.size >= waiting_max) {
      this.#dropped("Bluetooth connections that had no place in the queue");
      return;
    }
    this.#waiting.set(turn.address, { turn, asked_ms: this.#clock.now().monotonic_ms });
    this.#next();
  }

  /** Lets devices that rest ask again at once, because a person is there who waits for them. */
  endRests(): void {
    this.#resting.clear();
  }

  /** A controller is there and scans. */
  resume(): void {
    this.#open = true;
    this.#pause();
  }

  /** The controller is gone or to be given back: ends the turn that is under way and forgets who waits. */
  async suspend(): Promise<void> {
    this.#open = false;
    this.#cancelPause?.();
    this.#cancelPause = undefined;
    this.#waiting.clear();
    this.#taking?.stop.abort();
    await this.#taking?.ended;
  }

  #next(): void {
    if (!this.#open || this.#taking !== undefined || this.#cancelPause !== undefined) return;
    const oldest_ms = this.#clock.now().monotonic_ms - waiting_max_ms;
    for (const [address, { turn, asked_ms }] of this.#waiting) {
      this.#waiting.delete(address);
      if (asked_ms < oldest_ms) continue;
      const stop = new AbortController();
      this.#taking = { address, stop, ended: this.#take(turn, stop.signal) };
      return;
    }
  }

  async #take(turn: Turn, signal: AbortSignal): Promise<void> {
    // Later than the assignment of `#taking`, whatever `take` does at once.
    await Promise.resolve();
    try {
      await turn.take(signal);
      if (this.#resting.delete(turn.address)) this.#log.info(`${turn.name}: works again`);
    } catch (thrown) {
      // A driver that stops is nobody's failure.
      if (!signal.aborted) this.#rest(turn, thrown);
    }
    this.#taking = undefined;
    if (this.#open) this.#pause();
  }

  #pause(): void {
    this.#cancelPause = this.#clock.after(scan_least_ms, () => {
      this.#cancelPause = undefined;
      this.#next();
    });
  }

  #rest({ address, name }: Turn, thrown: unknown): void {
    const known = thrown instanceof OperatorError;
    const problem = known ? thrown.what : messageOf(thrown);
    const remedy = known ? thrown.remedy : "bring the device nearer or look at its battery";
    const before = this.#resting.get(address);
    const failures = (before?.failures ?? 0) + 1;
    const rest_ms = Math.min(rest_most_ms, rest_least_ms * 2 ** Math.min(failures - 1, doublings_max));
    const until_ms = this.#clock.now().monotonic_ms + rest_ms;
    if (before?.problem === problem) this.#log.debug(`${name}: ${problem}`);
    else {
      this.#log.warn(`${name}: ${problem}: ${remedy} (trying again by itself)`);
    }
    this.#resting.delete(address);
    this.#resting.set(address, { failures, until_ms, problem });
    const [oldest] = this.#resting.keys();
    if (this.#resting.size > resting_max && oldest !== undefined) this.#resting.delete(oldest);
  }
}

const resting_max = 1_000;
/** Keeps 2 ** failures a finite number. */
const doublings_max = 20;
