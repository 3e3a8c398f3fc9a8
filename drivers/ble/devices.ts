import { type Advertisement, devices_max } from "../peripheral.ts";
import { completed, type Told } from "./advertisement.ts";

/** Devices that are not listened to whose names are remembered. */
export const others_max = 256;

/**
 * The devices that are listened to, by address: which products have each, one of a kind, and what its packets have told of it. At most
 * `devices_max`; the longest unheard is forgotten first. Of any other device only what it has told is remembered, of the
 * `others_max` heard last: a name may come before the packet by which a device is recognised.
 */
export class Devices<Product> {
  readonly #known = new Map<string, { readonly products: readonly Product[]; readonly told: Told }>();
  readonly #others = new Map<string, Told>();
  readonly #forgotten: (address: string) => void;

  /** `forgotten` is told of each address that is no longer remembered. */
  constructor(forgotten: (address: string) => void) {
    this.#forgotten = forgotten;
  }

  get size(): number {
    return this.#known.size + this.#others.size;
  }

  productsOf(address: string): readonly Product[] {
    return this.#known.get(address)?.products ?? [];
  }

  /** The packet with what earlier ones of its device told. */
  completed(heard: Advertisement): Advertisement {
    const told = this.#known.get(heard.address)?.told ?? this.#others.get(heard.address);
    return told === undefined ? heard : completed(heard, told);
  }

  /** Remembers a device by its newest packet, which was completed. */
  remember(heard: Advertisement, product: Product): void {
    const { address } = heard;
    const products = this.productsOf(address);
    this.#others.delete(address);
    this.#known.delete(address);
    this.#known.set(address, {
      products: products.includes(product) ? products : [...products, product],
      told: toldBy(heard),
    });
    const [oldest] = this.#known.keys();
    if (this.#known.size > devices_max && oldest !== undefined) this.forget(oldest);
  }

  /** Remembers what a device that is not listened to has told by its newest packet, which was completed. */
  pass(heard: Advertisement): void {
    const { address } = heard;
    this.#others.delete(address);
    this.#others.set(address, toldBy(heard));
    const [oldest] = this.#others.keys();
    if (this.#others.size > others_max && oldest !== undefined) this.#others.delete(oldest);
  }

  forget(address: string): void {
    if (this.#known.delete(address)) this.#forgotten(address);
  }
}

function toldBy({ name, services }: Advertisement): Told {
  return { ...(name === undefined ? {} : { name }), services };
}
