import type { Lamp } from "../../drivers/driver.ts";
import type { Clock } from "../clock.ts";
import type { AttachedDriver } from "./attached-driver.ts";

/** Has the lamps of all drivers show the state of the gateway. */
export class LampKeeper {
  readonly #drivers: () => readonly AttachedDriver[];
  readonly #clock: Clock;
  readonly #isJoining: () => boolean;
  #shown: Lamp | undefined;
  #joinedUntil_ms = Number.NEGATIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(options: {
    drivers: () => readonly AttachedDriver[];
    clock: Clock;
    isJoining: () => boolean;
  }) {
    this.#drivers = options.drivers;
    this.#clock = options.clock;
    this.#isJoining = options.isJoining;
  }

  show(lamp: Lamp): void {
    if (lamp === this.#shown) return;
    this.#shown = lamp;
    for (const driver of this.#drivers()) driver.show(lamp);
  }

  /** A device has just joined: says so for a moment that a person can see. */
  joined(): void {
    this.#joinedUntil_ms = this.#clock.now().monotonic_ms + joined_ms;
    this.show("joined");
  }

  /** Shows the present state, and again every `refresh_ms` until `stop`. */
  keep(): void {
    this.#cancel();
    this.refresh();
    this.#cancel = this.#clock.after(refresh_ms, () => this.keep());
  }

  refresh(): void {
    if (this.#clock.now().monotonic_ms < this.#joinedUntil_ms) return;
    if (this.#isJoining()) this.show("joining");
    else if (this.#drivers().some((driver) => driver.status().problem !== undefined)) this.show("fault");
    else this.show("ready");
  }

  stop(): void {
    this.#cancel();
    this.show("off");
  }
}

const joined_ms = 3_000;
const refresh_ms = 2_000;
