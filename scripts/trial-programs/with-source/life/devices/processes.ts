import { AsyncLocalStorage } from "node:async_hooks";
import type { Process, World } from "../world.ts";

/** Whose work it is that runs: that of a simulated process, or of the world around it. */
const running = new AsyncLocalStorage<Process | undefined>();

export function currentProcess(): Process | undefined {
  return running.getStore();
}

export function runAs<Result>(process: Process | undefined, work: () => Result): Result {
  return running.run(process, work);
}

/**
 * Puts the timers and the date of the runtime, which libraries use, onto the time of a world. A timer of a process that was killed never rings. The date is true:
 * no reading may depend on it.
 */
export function takeOverTimers(worldOf: () => World): void {
  const start = (repeats: boolean) =>
    ((action: (...given: unknown[]) => void, delay_ms = 0, ...given: unknown[]) =>
      new WorldTimer(worldOf(), Math.max(delay_ms, least_ms), repeats, () => action(...given))) as unknown;
  const stop = (timer: unknown) => {
    if (timer instanceof WorldTimer) timer.stop();
  };
  Object.assign(globalThis, {
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout: stop,
    clearInterval: stop,
  });
  Date.now = () => Math.floor(worldOf().now_ms);
}

/** As in any runtime. */
const least_ms = 1;

/** A timer as the runtime makes them. */
class WorldTimer {
  readonly #start: () => void;
  #cancel = () => {};

  constructor(world: World, delay_ms: number, repeats: boolean, action: () => void) {
    const process = currentProcess();
    const ring = () => {
      if (process?.alive === false) return;
      if (repeats) this.#start();
      runAs(process, action);
    };
    this.#start = () => {
      this.#cancel = world.after(delay_ms, ring);
    };
    this.#start();
  }

  stop(): void {
    this.#cancel();
  }

  refresh(): this {
    this.#cancel();
    this.#start();
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}
