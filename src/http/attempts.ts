import type { Clock } from "../clock.ts";

/**
 * Counts wrong tokens per address, so that guessing is slow and one address's mistakes are no other's. An
 * IPv6 address counts as its /64, which is what one household or host has.
 */
export class Attempts {
  readonly #clock: Clock;
  readonly #attempts_max: number;
  readonly #addresses_max: number;
  /** In order of the last attempt: the first is the one to forget when there are too many. */
  readonly #windows = new Map<string, { readonly since_ms: number; count: number }>();

  constructor(options: { clock: Clock; attempts_max: number; addresses_max: number }) {
    this.#clock = options.clock;
    this.#attempts_max = options.attempts_max;
    this.#addresses_max = options.addresses_max;
  }

  /**
   * Notes a wrong token from `address`. Answers how many seconds remain until its next attempt counts afresh,
   * or undefined while it is within the bound of `attempts_max` a minute.
   */
  note(address: string): number | undefined {
    const key = networkOf(address);
    const now_ms = this.#clock.now().monotonic_ms;
    const known = this.#windows.get(key);
    const current = known !== undefined && now_ms - known.since_ms < window_ms;
    const window = current ? known : { since_ms: now_ms, count: 0 };
    window.count += 1;
    this.#windows.delete(key);
    this.#windows.set(key, window);
    this.#forgetOldest();
    if (window.count <= this.#attempts_max) return undefined;
    return Math.max(1, Math.ceil((window.since_ms + window_ms - now_ms) / 1000));
  }

  #forgetOldest(): void {
    if (this.#windows.size <= this.#addresses_max) return;
    const oldest = this.#windows.keys().next();
    if (!oldest.done) this.#windows.delete(oldest.value);
  }
}

const window_ms = 60_000;

/** An IPv4 address itself, also one written within IPv6; the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("%")[0]?.split("::") ?? [];
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...new Array<string>(zeros).fill("0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}
