import { type Clock, clockQuality } from "../../../../src/base/clock.ts";

/** The world's time, and what is due in it. Nothing happens by itself: time passes by `pass` and `until`, and everything runs in this one thread. */
export class World {
  now_ms: number;
  /** Work of the runtime that is under way and ends without the world's time: time stands still meanwhile. */
  readonly busy = new Set<Promise<unknown>>();
  readonly #held = new Set<Promise<unknown>>();
  /** Called after each event, when everything that it set off has come to rest. */
  onRest: () => void = () => {};
  readonly #timers = new Set<Timer>();
  readonly #still_turns: number;
  #stirred = false;

  /** @param still_turns turns of the event loop without `stir` after which everything has come to rest */
  constructor(now_ms: number, still_turns = 1) {
    this.now_ms = now_ms;
    this.#still_turns = still_turns;
  }

  /** Something went from one part of the world to another, which may set off more. */
  stir(): void {
    this.#stirred = true;
  }

  /** Time stands still until work has ended that waits for none of it, however long it takes the runtime. */
  hold<Result>(work: Promise<Result>): Promise<Result> {
    this.#held.add(work);
    const done = () => this.#held.delete(work);
    work.then(done, done);
    return work;
  }

  after(delay_ms: number, action: () => void): () => void {
    const timer = { at_ms: this.now_ms + Math.max(0, delay_ms), action };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  pause(delay_ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(delay_ms, resolve));
  }

  /** Lets time pass; none where `ms` is below 0. */
  async pass(ms: number): Promise<void> {
    const end_ms = this.now_ms + Math.max(0, ms);
    await this.#rest();
    while (await this.#ring(end_ms));
    this.now_ms = end_ms;
  }

  /** Lets time pass until a promise has settled, `most_ms` at most. Answers whether it has. */
  async until(promise: Promise<unknown>, most_ms: number): Promise<boolean> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    promise.then(note, note);
    const end_ms = this.now_ms + most_ms;
    await this.#rest();
    while (!settled && (await this.#ring(end_ms)));
    return settled;
  }

  async #ring(end_ms: number): Promise<boolean> {
    let first: Timer | undefined;
    for (const timer of this.#timers)
      if (timer.at_ms <= end_ms && timer.at_ms < (first?.at_ms ?? Infinity)) first = timer;
    if (first === undefined) return false;
    this.#timers.delete(first);
    this.now_ms = Math.max(this.now_ms, first.at_ms);
    first.action();
    await this.#rest();
    return true;
  }

  /** Everything that an event sets off is done within so many turns of the event loop, but for what is `busy`. */
  async #rest(): Promise<void> {
    for (let turns = 0, still = 0; still < this.#still_turns && turns < turns_max; turns += 1) {
      this.#stirred = this.#held.size > 0;
      if (this.#stirred) await Promise.allSettled(this.#held);
      await turn();
      still = this.busy.size > 0 || this.#stirred ? 0 : still + 1;
    }
    this.onRest();
  }
}

/** A machine without a clock chip. */
export class Machine {
  readonly world: World;
  readonly #name: string;
  #boots = 0;
  #booted_ms = 0;
  /** System clock minus monotonic time. */
  #offset_ms = 0;
  #synchronised = false;

  constructor(world: World, name: string) {
    this.world = world;
    this.#name = name;
  }

  /** Starts the machine: its system clock shows `shows_ms`. */
  boot(shows_ms: number): void {
    this.#boots += 1;
    // The kernel has run for a while before anything can ask it.
    this.#booted_ms = this.world.now_ms - 5_000;
    this.#offset_ms = shows_ms - 5_000;
    this.#synchronised = false;
  }

  /** Sets the system clock as a time service does. */
  synchronise(): void {
    this.#offset_ms = this.world.now_ms - this.#monotonic_ms;
    this.#synchronised = true;
  }

  leap(by_ms: number): void {
    this.#offset_ms += by_ms;
  }

  /** The clock as a process has it. */
  clock(process: Process): Clock {
    return {
      boot: `${this.#name} boot ${this.#boots}`,
      now: () => ({
        unix_ms: Math.floor(this.#monotonic_ms + this.#offset_ms),
        monotonic_ms: this.#monotonic_ms,
        quality: this.#synchronised ? clockQuality.synchronised : clockQuality.unsynchronised,
      }),
      after: (delay_ms, action) => this.world.after(delay_ms, () => process.alive && action()),
    };
  }

  get #monotonic_ms(): number {
    return this.world.now_ms - this.#booted_ms;
  }
}

/** A process of a machine: once it is killed its timers ring no more, and nothing of it reaches anybody. */
export interface Process {
  alive: boolean;
}

interface Timer {
  readonly at_ms: number;
  readonly action: () => void;
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Turns of the event loop that work of the runtime may take; what takes longer waits for the world's time. */
const turns_max = 200;
