import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Clock, Moment } from "../../src/base/clock.ts";
import { parseIfWhole, readIfThere, writeDurably } from "../../src/base/disk/safe-files.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";

/** The last zone status of a sensor. */
export interface LastStatus {
  readonly zonestatus: number;
  /** When, on the clock that never jumps; absent when it was before this process: the file has no times. */
  readonly monotonic_ms?: number;
}

/** How long ago a status was said. */
export function age_ms({ monotonic_ms }: LastStatus, now: Moment): number {
  return monotonic_ms === undefined ? Number.POSITIVE_INFINITY : now.monotonic_ms - monotonic_ms;
}

/** A status is written down once it has held this long; motion that comes and goes is not. */
export const rest_ms = 60_000;

/**
 * The last known zone status of each sensor, so that a heartbeat can be told from an event, also after a
 * restart.
 *
 * A wrong "last known status" would take an event for a heartbeat and lose it, so the file never holds a
 * status that a recorded event has overtaken: it lists only sensors at rest, a sensor is struck from the
 * file before its first event out of rest can be committed, and it is added again once its status has held
 * for a minute. A crash in between makes the next heartbeat an event, never an event a heartbeat. An SD
 * card sees two small writes for each spell of activity, not one for each event.
 *
 * What is not recorded is not written down either, and has no part in what comes after it: the first status after a pause is an event.
 */
export class LastStatuses {
  readonly #path: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #known = new Map<string, LastStatus>();
  /** The contents of the file. */
  readonly #written = new Map<string, LastStatus>();
  /** By address, of the newest reading: whether it is recorded, which nobody knows yet. */
  readonly #awaited = new Map<string, Promise<boolean>>();
  #cancel: (() => void) | undefined;

  constructor(options: { directory: string; clock: Clock; log: Log }) {
    this.#path = join(options.directory, "at-rest.json");
    this.#clock = options.clock;
    this.#log = options.log;
    for (const [address, status] of entriesOf(parseIfWhole(readIfThere(this.#path)))) {
      this.#known.set(address, status);
      this.#written.set(address, status);
    }
  }

  get(address: string): LastStatus | undefined {
    return this.#known.get(address);
  }

  set(address: string, status: LastStatus): void {
    this.#known.set(address, status);
    const written = this.#written.get(address);
    if (written !== undefined && written.zonestatus !== status.zonestatus) {
      this.#written.delete(address);
      this.#write();
    }
    this.#cancel ??= this.#clock.after(rest_ms, () => this.#settle());
  }

  forget(address: string): void {
    this.#known.delete(address);
    if (this.#written.delete(address)) this.#write();
  }

  /** Writes down the status of a sensor once the reading that says so is recorded, and forgets it where it is not. */
  await(address: string, recorded: Promise<boolean>): void {
    this.#awaited.set(address, recorded);
    const settle = (isRecorded: boolean) => {
      if (this.#awaited.get(address) !== recorded) return;
      this.#awaited.delete(address);
      if (!isRecorded) this.forget(address);
    };
    recorded.then(settle, () => settle(false));
  }

  /** Writes down every sensor's status: for a clean end. */
  close(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#note(() => true);
  }

  /** Writes down the sensors at rest, and comes back while there are others. */
  #settle(): void {
    this.#cancel = undefined;
    const now = this.#clock.now();
    this.#note((status) => age_ms(status, now) >= rest_ms);
    const waiting = [...this.#known].some(([address, status]) => this.#written.get(address) !== status);
    if (waiting) this.#cancel = this.#clock.after(rest_ms, () => this.#settle());
  }

  #note(atRest: (status: LastStatus) => boolean): void {
    let changed = false;
    for (const [address, status] of this.#known) {
      if (this.#written.get(address) === status || this.#awaited.has(address) || !atRest(status)) continue;
      this.#written.set(address, status);
      changed = true;
    }
    if (changed) this.#write();
  }

  #write(): void {
    const lasting = [...this.#written].map(([address, { zonestatus }]) => [address, zonestatus]);
    try {
      writeDurably(this.#path, JSON.stringify(Object.fromEntries(lasting)));
    } catch (thrown) {
      this.#log.warn(`${this.#path} cannot be written, heartbeats may show as events: ${messageOf(thrown)}`);
      this.#removeOutdated();
    }
  }

  /** A file that is out of date would be worse than none. */
  #removeOutdated(): void {
    try {
      rmSync(this.#path, { force: true });
    } catch {
      // Where nothing can be removed, no event can be recorded either: the file is not out of date.
    }
  }
}

function entriesOf(value: unknown): [string, LastStatus][] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([address, zonestatus]) =>
    typeof zonestatus === "number" ? [[address, { zonestatus }]] : [],
  );
}
