import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { TransportKind } from "../../drivers/wire/simulated-line.ts";
import type { Clock } from "../clock.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Pauses } from "./pauses.ts";
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
