import type { Clock } from "../clock.ts";
import { day_ms, hour_ms } from "../durations.ts";
import type { Log } from "../log.ts";
import type { DemoCentral } from "./central-copy.ts";
import { NeighbourGateway, neighbours } from "./neighbours.ts";
import type { PastClock } from "./past-clock.ts";

/**
 * The nights before the demo began, lived through as each evening is on disk: the home and its neighbours upload to central,
 * whose clock tells the time of that night.
 */
export class PastNights implements AsyncDisposable {
  readonly #central: DemoCentral;
  readonly #past: PastClock;
  readonly #until_ms: number;
  readonly #from_ms: number;
  readonly #gateways: readonly NeighbourGateway[];

  private constructor(of: {
    central: DemoCentral;
    past: PastClock;
    until_ms: number;
    gateways: readonly NeighbourGateway[];
  }) {
    this.#central = of.central;
    this.#past = of.past;
    this.#until_ms = of.until_ms;
    this.#from_ms = of.until_ms - nights_max * day_ms;
    this.#gateways = of.gateways;
  }

  static async open(options: {
    central: DemoCentral;
    past: PastClock;
    until_ms: number;
    /** The demo's data directory. */
    directory: string;
    clock: Clock;
    log: Log;
  }): Promise<PastNights> {
    const gateways: NeighbourGateway[] = [];
    for (const neighbour of neighbours) {
      const gateway = await NeighbourGateway.open({ ...options, neighbour });
      gateways.push(gateway);
      await options.central.admit(gateway.neighbour.home, gateway.directory);
    }
    return new PastNights({ ...options, gateways });
  }

  /** The night that begins at this midnight, as far as it is one of the last. */
  async evening(midnight_ms: number): Promise<void> {
    const night_ms = midnight_ms + upload_hour * hour_ms;
    if (midnight_ms < this.#from_ms || night_ms > this.#until_ms) return;
    this.#past.set(night_ms);
    const ago = Math.floor((this.#until_ms - night_ms) / day_ms);
    const from_ms = new Date(midnight_ms - 12 * hour_ms).setHours(0, 0, 0, 0);
    await Promise.all([
      this.#central.upload(),
      ...this.#gateways.map(async (gateway) => {
        await gateway.live({ from_ms, to_ms: midnight_ms });
        if (!gateway.neighbour.missed.includes(ago)) await this.#central.upload(gateway.directory);
      }),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#past.putRight();
    for (const gateway of this.#gateways) await gateway.close();
  }
}

/** Each takes a tenth of a second before the demo is ready. */
const nights_max = 8;
/** When the gateways of the demo upload: soon after midnight, when a day of theirs is on disk. */
const upload_hour = 0.2;
