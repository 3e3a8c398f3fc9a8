import type { Clock } from "../../clock.ts";
import type { FleetHome } from "../../fleet-home.ts";
import type { CentralStore } from "../../store/central-store.ts";
import { fleetOf } from "./fleet.ts";

/** Reads the fleet for whoever looks at it: all of it once for all who look within some seconds, or until something changes. */
export class FleetReader {
  readonly #store: CentralStore;
  readonly #clock: Clock;
  #kept:
    | { readonly homes: Promise<FleetHome[]>; readonly changes: number | undefined; readonly at_ms: number }
    | undefined;

  constructor(options: { store: CentralStore; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** See `fleetOf`. What is of some homes alone is read each time: it costs as much as these homes. */
  read(of?: readonly number[]): Promise<FleetHome[]> {
    const { unix_ms, monotonic_ms } = this.#clock.now();
    if (of !== undefined) return fleetOf(this.#store, unix_ms, of);
    const changes = this.#store.changes();
    const age_ms = monotonic_ms - (this.#kept?.at_ms ?? Number.NEGATIVE_INFINITY);
    const isSame = changes !== undefined && changes === this.#kept?.changes;
    if (this.#kept !== undefined && age_ms < (isSame ? same_ms : changed_ms)) return this.#kept.homes;
    const homes = fleetOf(this.#store, unix_ms);
    const kept = { homes, changes, at_ms: monotonic_ms };
    this.#kept = kept;
    homes.catch(() => {
      if (this.#kept === kept) this.#kept = undefined;
    });
    return homes;
  }
}

/** A central that takes in uploads changes all the time: its fleet may be so old. */
const changed_ms = 10_000;
/** A home in which nothing has changed may become overdue all the same. */
const same_ms = 60_000;
