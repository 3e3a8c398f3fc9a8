import type { World } from "../world.ts";
import type { Fact, Values } from "./truth.ts";

/** Lines of the drivers, by their sections. */
export const sectionNames = ["zigbee", "ble", "pillbox", "watch"] as const;
export type Section = (typeof sectionNames)[number];

/** The record of everything that happened at the devices of a home, and of what its gateway may have heard of it. */
export class FactBook {
  readonly facts: Fact[] = [];
  /** When each sensor with a regular sign of life was heard. */
  readonly signs = new Map<string, number[]>();
  readonly #world: World;
  readonly #listens: (section: Section) => boolean;

  /** @param listens whether the gateway's driver hears its devices now */
  constructor(world: World, listens: (section: Section) => boolean) {
    this.#world = world;
    this.#listens = listens;
  }

  listens(section: Section): boolean {
    return this.#listens(section);
  }

  /** A fact of now, told once and dated by its arrival. */
  live(address: string, series: string, values: Values): Fact {
    const at_ms = this.#world.now_ms;
    return { address, series, at_ms, values, within_ms: 0, dated: "live", told_ms: [], owed: false };
  }

  /** So too, from a device that tells its own time with it. */
  stamped(address: string, series: string, values: Values): Fact {
    return { ...this.live(address, series, values), dated: "stamped" };
  }

  /** Keeps what the device has until it is asked. */
  keeps(fact: Omit<Fact, "told_ms" | "owed">): void {
    this.facts.push({ ...fact, told_ms: [], owed: true });
  }

  /** Keeps a fact that is told once. */
  told(fact: Fact, section: Section, heard = true): void {
    this.facts.push(fact);
    if (heard && this.#listens(section)) this.hear(fact, true);
    // A driver that is just starting may hear it.
    else fact.told_ms.push(this.#world.now_ms);
  }

  /** A sensor is heard, whether it has something to tell or not. */
  sign(address: string): void {
    this.signs.set(address, [...(this.signs.get(address) ?? []), this.#world.now_ms]);
  }

  hear(fact: Fact, owed: boolean): void {
    fact.told_ms.push(this.#world.now_ms);
    fact.owed = owed;
  }

  /** The gateway's process is gone: what it heard since then need not be there. */
  crashed(since_ms: number): void {
    for (const fact of this.facts) if ((fact.told_ms.at(-1) ?? 0) >= since_ms) fact.owed = false;
  }
}
