import { batchType } from "../wire/frame.ts";
import { encoded } from "./batch.ts";
import { deviceNumbered, valueFrom } from "./marks.ts";

/** A gateway with one sensor that sends a batch every `every_ms`, and comes back when it is told to. */
export class UploadingHome {
  readonly home: number;
  readonly #origin: string;
  readonly #token: string;
  readonly #epoch = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
  /** Readings that central has confirmed. */
  confirmed = 0;
  /** How often it was told to come later, and to go back to a number, and answers of any other kind. */
  later = 0;
  back = 0;
  readonly faults: string[] = [];

  constructor(options: { home: number; origin: string; token: string }) {
    this.home = options.home;
    this.#origin = options.origin;
    this.#token = options.token;
  }

  get address(): string {
    return deviceNumbered("wirelesssensors", this.home).address;
  }

  /** The events that have to be served, in order: each with a stamp of its own. */
  event(order: number): { stamp: number; event: number } {
    return { stamp: begin_s + order, event: valueFrom(this.home, order) };
  }

  /** Sends until `ended`, and then what is under way to its end. `onTaken` is called with each number of readings that were confirmed. */
  async upload(ended: () => boolean, onTaken: (readings: number) => void): Promise<void> {
    // Homes spread over the time between two batches.
    await Bun.sleep(Math.random() * every_ms);
    while (!ended()) {
      const began_ms = performance.now();
      const body = this.#nextBatch();
      for (let wait_ms = await this.#send(body); wait_ms !== undefined; wait_ms = await this.#send(body))
        await Bun.sleep(wait_ms);
      onTaken(batch_readings);
      await Bun.sleep(Math.max(0, began_ms + every_ms - performance.now()));
    }
  }

  #nextBatch(): Uint8Array<ArrayBuffer> {
    const { home, confirmed } = this;
    const device = deviceNumbered("wirelesssensors", home);
    const readings = Array.from({ length: batch_readings }, (_, place) => {
      const order = confirmed + place + 1;
      const { stamp, event } = this.event(order);
      return {
        ...{ ...device, home, series: "wirelesssensor_events", stamp_ms: stamp * 1000, value: event },
        ...{ order, upload: 0, epoch: this.#epoch, seq: order },
      };
    });
    return encoded({
      ...{ epoch: this.#epoch, first_seq: 1, from_seq: confirmed + 1, to_seq: confirmed + batch_readings },
      ...{ missing: [], readings },
    });
  }

  /** Undefined once the batch is confirmed; otherwise when to come again, milliseconds. */
  async #send(body: Uint8Array<ArrayBuffer>): Promise<number | undefined> {
    const response = await fetch(`${this.#origin}/sync/v1/batches`, {
      method: "POST",
      headers: { authorization: `bearer ${this.#token}`, "content-type": batchType },
      body,
    }).catch(() => undefined);
    // A server may close a connection that was idle just as it is used again.
    if (response === undefined) return 100;
    if (response.status === 200) {
      const { held_seq } = (await response.json()) as { held_seq: number };
      const wanted = this.confirmed + batch_readings;
      if (held_seq !== wanted) this.faults.push(`home ${this.home}: ${held_seq} held instead of ${wanted}`);
      this.confirmed = wanted;
      return undefined;
    }
    const text = await response.text();
    if (response.status === 429 || response.status === 503) {
      this.later += 1;
      // As gateways do: never earlier, and not all at once.
      return 1000 * Number(response.headers.get("retry-after") ?? 1) * (1 + Math.random() / 2);
    }
    // Confirmed readings that are prepared on a worker are not seen until it has finished them.
    if (response.status === 409) this.back += 1;
    else this.faults.push(`home ${this.home}: ${response.status} ${text}`);
    return 1000;
  }
}

const begin_s = Date.UTC(2026, 0, 1) / 1000;
const batch_readings = 20;
const every_ms = 5_000;
