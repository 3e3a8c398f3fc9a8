/** Devices of a product that are remembered, and others; the longest unheard is forgotten first. */
export const known_max = 1_000;
export const strangers_max = 256;

/**
 * The devices on the air, by address: which product has each, as far as any. Holds a bounded number of them, so that
 * neither a busy street nor a flood of made-up addresses costs memory.
 */
export class Devices<Product> {
  readonly #known = new Map<string, Product>();
  readonly #strangers = new Set<string>();
  readonly #forget: (address: string) => void;

  /** `forget` is told of each address that is no longer remembered. */
  constructor(forget: (address: string) => void) {
    this.#forget = forget;
  }

  get size(): number {
    return this.#known.size + this.#strangers.size;
  }

  /** The product of a device, found by `recognise` unless it is known already. */
  productOf(address: string, recognise: () => Product | undefined): Product | undefined {
    const product = this.#known.get(address) ?? recognise();
    this.#strangers.delete(address);
    if (product === undefined) {
      this.#strangers.add(address);
      this.#bound(this.#strangers, strangers_max);
    } else {
      this.#known.delete(address);
      this.#known.set(address, product);
      this.#bound(this.#known, known_max);
    }
    return product;
  }

  /** Forgets the first, which was heard longest ago. */
  #bound(devices: Map<string, Product> | Set<string>, most: number): void {
    const [oldest] = devices.keys();
    if (devices.size <= most || oldest === undefined) return;
    devices.delete(oldest);
    this.#forget(oldest);
  }
}
