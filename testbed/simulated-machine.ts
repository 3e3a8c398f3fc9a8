import { type Clock, clockQuality, type Moment } from "../src/base/clock.ts";

/**
 * A machine without a clock chip, and the world's time beside it. Nothing happens by itself: time passes by
 * `advance`, and what else happens to clocks is called by name, so that the same calls make the same run.
 */
export class SimulatedMachine {
  /** The world's time, unix milliseconds: what is right. */
  now_ms: number;
  #boots = 0;
  #boot = "";
  #monotonic_ms = 0;
  #crystal = 1;
  /** System clock minus monotonic time. */
  #offset_ms = 0;
  #synchronised = false;
  #process: Process | undefined;

  constructor(options: { now_ms: number }) {
    this.now_ms = options.now_ms;
  }

  /** Starts the machine: its system clock shows `shows_ms`, and its crystal runs fast by `fast_ppm`. */
  start(shows_ms: number, fast_ppm: number): void {
    this.#process = undefined;
    this.#boots += 1;
    this.#boot = `boot ${this.#boots}`;
    this.#crystal = 1 + fast_ppm / 1e6;
    // The kernel has run for a while before anything can ask it.
    this.#monotonic_ms = 5_000;
    this.#offset_ms = shows_ms - this.#monotonic_ms;
    this.#synchronised = false;
  }

  /** The clock as a new process has it; timers of the one before never ring. */
  startProcess(): Clock {
    const process: Process = { timers: new Set() };
    this.#process = process;
    return {
      boot: this.#boot,
      now: () => this.moment(),
      after: (delay_ms, action) => {
        const timer = { at_ms: this.#monotonic_ms + delay_ms, action };
        process.timers.add(timer);
        return () => process.timers.delete(timer);
      },
    };
  }

  killProcess(): void {
    this.#process = undefined;
  }

  moment(): Moment {
    return {
      unix_ms: Math.floor(this.#monotonic_ms + this.#offset_ms),
      monotonic_ms: this.#monotonic_ms,
      quality: this.#synchronised ? clockQuality.synchronised : clockQuality.unsynchronised,
    };
  }

  get synchronised(): boolean {
    return this.#synchronised;
  }

  /** Sets the system clock as a time service does: right but for `off_ms`, and known to be synchronised. */
  synchronise(off_ms = 0): void {
    this.#offset_ms = this.now_ms + off_ms - this.#monotonic_ms;
    this.#synchronised = true;
  }

  /** Somebody sets the system clock. */
  leap(by_ms: number): void {
    this.#offset_ms += by_ms;
  }

  /** Lets time pass, and rings what is due, in order. */
  advance(by_ms: number): void {
    const end_ms = this.now_ms + by_ms;
    for (let next = this.#next(end_ms); next !== undefined; next = this.#next(end_ms)) {
      const { process, timer } = next;
      this.#pass(Math.max(0, (timer.at_ms - this.#monotonic_ms) / this.#crystal));
      process.timers.delete(timer);
      timer.action();
    }
    this.#pass(end_ms - this.now_ms);
  }

  #next(end_ms: number): { process: Process; timer: Timer } | undefined {
    const process = this.#process;
    if (process === undefined) return undefined;
    const until_ms = this.#monotonic_ms + (end_ms - this.now_ms) * this.#crystal;
    let first: Timer | undefined;
    for (const timer of process.timers)
      if (timer.at_ms <= until_ms && timer.at_ms < (first?.at_ms ?? Infinity)) first = timer;
    return first === undefined ? undefined : { process, timer: first };
  }

  #pass(by_ms: number): void {
    this.now_ms += by_ms;
    this.#monotonic_ms += by_ms * this.#crystal;
  }
}

interface Timer {
  readonly at_ms: number;
  readonly action: () => void;
}

interface Process {
  readonly timers: Set<Timer>;
}
