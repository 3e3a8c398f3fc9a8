import { batchType } from "../wire/frame.ts";
import { batchBytes, epochNamed, eventSeries, reportOf, type SensorEvent } from "./wire.ts";

/** A home whose gateway numbers events and uploads them, as often as central tells it to come back. */
export class HonestHome {
  readonly home: number;
  readonly epoch: string;
  readonly sensors: readonly string[];
  readonly #origin: string;
  readonly #token: string;
  readonly #events: SensorEvent[] = [];
  #held_seq = 0;
  /** Refusals that were no "come back later", each as a line. */
  readonly faults: string[] = [];
  later = 0;
  longest_ms = 0;

  constructor({ home, origin, token }: { home: number; origin: string; token: string }) {
    this.home = home;
    this.epoch = epochNamed(`honest ${home}`);
    this.sensors = sensorsOf(home);
    this.#origin = origin;
    this.#token = token;
  }

  get readings(): number {
    return this.#events.length;
  }

  /** The events of a sensor as a page has them, newest first. */
  eventsOf(address: string): { stamp: number; event: number }[] {
    return this.#events
      .filter((one) => one.address === address)
      .map(({ stamp_ms, event }) => ({ stamp: Math.floor(stamp_ms / 1000), event }))
      .reverse();
  }

  /** Hears some events, each with a number of its own, in the order of their stamps. */
  hear(count: number): void {
    const newest_ms = this.#events.at(-1)?.stamp_ms ?? first_ms;
    for (let index = 1; index <= count; index += 1)
      this.#events.push({
        address: this.sensors[this.#events.length % this.sensors.length] as string,
        stamp_ms: newest_ms + index * 100,
        event: this.#events.length,
      });
  }

  /** The batch of all that central does not hold; its bytes. */
  batch(from_seq = this.#held_seq + 1): Uint8Array<ArrayBuffer> {
    const events = this.#events.slice(from_seq - 1);
    const numbers = { epoch: this.epoch, from_seq, to_seq: this.#events.length };
    return batchBytes({ ...numbers, series: eventSeries(events, from_seq) });
  }

  /** Uploads until central holds everything. */
  async upload(): Promise<void> {
    await this.#ask("/report", "application/json", () => JSON.stringify(reportOf(this.epoch, this.readings)));
    while (this.#held_seq < this.readings) {
      const answer = await this.#ask("/batches", batchType, () => this.batch());
      const { held_seq } = (answer ?? {}) as { held_seq?: number };
      if (held_seq === undefined) return;
      this.#held_seq = held_seq;
    }
  }

  /** Asks until it is not told to come back; undefined, and a fault, where it is refused or cannot get through. */
  async #ask(path: string, type: string, body: () => string | Uint8Array<ArrayBuffer>): Promise<unknown> {
    const began_ms = performance.now();
    for (let attempt = 1; attempt <= attempts_max; attempt += 1) {
      const headers = { authorization: `bearer ${this.#token}`, "content-type": type };
      const sent = { method: "POST", headers, body: body(), signal: AbortSignal.timeout(answer_ms_max) };
      const answer = await fetch(`${this.#origin}/sync/v1${path}`, sent).catch(() => undefined);
      const text = await answer?.text().catch(() => undefined);
      if (answer?.status === 200 && text !== undefined) {
        this.longest_ms = Math.max(this.longest_ms, performance.now() - began_ms);
        return JSON.parse(text);
      }
      if (answer !== undefined && answer.status !== 429 && answer.status !== 503) {
        this.faults.push(`home ${this.home}: ${path} is answered ${answer.status}: ${text}`);
        return undefined;
      }
      this.later += 1;
      await Bun.sleep(Math.min(5, Number(answer?.headers.get("retry-after") ?? 1)) * 1000);
    }
    this.faults.push(`home ${this.home}: ${path} does not get through in ${attempts_max} attempts`);
    return undefined;
  }
}

/** The sensors of a home: addresses that nobody else has. */
export function sensorsOf(home: number): string[] {
  const byte = (value: number) => value.toString(16).padStart(2, "0");
  return [1, 2, 3].map((number) => `00:0d:6f:00:${byte(home >> 8)}:${byte(home & 255)}:00:${byte(number)}`);
}

const first_ms = Date.UTC(2026, 9, 1);
const attempts_max = 60;
const answer_ms_max = 120_000;
