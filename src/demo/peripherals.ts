import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { TransportKind } from "../../drivers/wire/simulated-line.ts";
import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Random } from "./random.ts";

/** Needs of every simulated device that is plugged in. */
export interface Peripherals {
  readonly clock: Clock;
  readonly random: Random;
  /** Stopped before anything is unplugged. */
  readonly pauses: Pauses;
  readonly log: Log;
  /** Keeps their memory between demos on the same data. */
  readonly file: string;
}

/** A simulator on a pty as its device would be, or, where there is none to be had, on a TCP port of this machine. */
export async function plugIn<Simulator>(
  what: string,
  log: Log,
  listen: (transport: TransportKind) => Promise<Simulator>,
): Promise<Simulator> {
  try {
    return await listen("pty");
  } catch (error) {
    log.warn(`no pseudo-terminal to be had (${messageOf(error)}): ${what} is on TCP instead`);
    return await listen("tcp");
  }
}

/** The memory that an earlier demo kept in a file. */
export function saved<Memory>(file: string): Memory | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export function save(file: string, memory: unknown): void {
  writeFileSync(file, JSON.stringify(memory), { mode: 0o600 });
}

/** Pauses of whatever happens at the same time in the demo; once stopped none lasts. */
export class Pauses {
  readonly #clock: Clock;
  readonly #ends = new Set<() => void>();
  #stopped = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get stopped(): boolean {
    return this.#stopped;
  }

  /** Resolves after the delay, or once all are stopped; with whether to go on. */
  pause(delay_ms: number): Promise<boolean> {
    if (this.#stopped || delay_ms <= 0) return Promise.resolve(!this.#stopped);
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        this.#ends.delete(end);
        resolve(!this.#stopped);
      };
      const cancel = this.#clock.after(delay_ms, end);
      this.#ends.add(end);
    });
  }

  stop(): void {
    this.#stopped = true;
    for (const end of [...this.#ends]) end();
  }
}
