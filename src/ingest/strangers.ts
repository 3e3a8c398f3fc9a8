import { hour_ms } from "../durations.ts";
import type { Device, Stranger } from "../reading.ts";
import { kindAndAddress } from "./validity.ts";

/**
 * The strangers heard last: as many that were heard once as that were heard again, so that devices which are heard once each,
 * however many, leave the others on the list. Everything here costs the same however many there are.
 */
export class Strangers {
  readonly #once = new Map<string, Stranger>();
  readonly #again = new Map<string, Stranger>();

  heard(device: Device, by: { listener: string; at_ms: number; signal_dbm?: number | undefined }): void {
    const { listener, at_ms, signal_dbm } = by;
    const name = kindAndAddress(device);
    const earlier = this.#again.get(name) ?? this.#once.get(name);
    this.forget(name);
    const list = earlier === undefined ? this.#once : this.#again;
    list.set(name, {
      device: { ...earlier?.device, ...device },
      listener,
      first_ms: earlier?.first_ms ?? at_ms,
      last_ms: at_ms,
      count: (earlier?.count ?? 0) + 1,
      ...(signal_dbm === undefined ? {} : { signal_dbm }),
    });
    const [oldest] = list.keys();
    if (list.size > strangers_max / 2 && oldest !== undefined) list.delete(oldest);
  }

  /** Those that were heard in the last `stranger_max_ms`, the one heard last first. */
  list(now_ms: number): Stranger[] {
    for (const [name, { last_ms }] of [...this.#once, ...this.#again])
      if (now_ms - last_ms > stranger_max_ms) this.forget(name);
    const strangers = [...this.#again.values(), ...this.#once.values()].reverse();
    return strangers.sort((one, other) => other.last_ms - one.last_ms);
  }

  /** @param name as `nameOf` the device */
  forget(name: string): void {
    this.#once.delete(name);
    this.#again.delete(name);
  }
}

export const strangers_max = 256;
/** A stranger that has not been heard for so long is forgotten. */
export const stranger_max_ms = 24 * hour_ms;
