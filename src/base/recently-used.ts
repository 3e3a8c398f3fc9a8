/** Values by name, bounded by what they weigh together: the one that was not used for longest goes first. */
export class RecentlyUsed<Value> {
  readonly #weight_max: number;
  readonly #held = new Map<string, { readonly value: Value; readonly weight: number }>();
  #weight = 0;

  constructor(options: { weight_max: number }) {
    this.#weight_max = options.weight_max;
  }

  /** The weights of all entries together. */
  get weight(): number {
    return this.#weight;
  }

  get(name: string): Value | undefined {
    const held = this.#held.get(name);
    if (held === undefined) return undefined;
    // A map keeps the order of insertion: put in again, it is the newest.
    this.#held.delete(name);
    this.#held.set(name, held);
    return held.value;
  }

  /** Holds `value`, in place of another of the name. What is too heavy by itself is not held. */
  set(name: string, value: Value, weight: number): void {
    this.delete(name);
    if (weight > this.#weight_max) return;
    this.#held.set(name, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#held.keys()) {
      if (this.#weight <= this.#weight_max) break;
      this.delete(oldest);
    }
  }

  delete(name: string): void {
    const held = this.#held.get(name);
    if (held === undefined) return;
    this.#held.delete(name);
    this.#weight -= held.weight;
  }
}
