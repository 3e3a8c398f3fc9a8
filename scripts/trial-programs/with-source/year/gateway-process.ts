import type { Clock } from "../../../../src/base/clock.ts";
import { Ingest } from "../../../../src/gateway/ingest/ingest.ts";
import { keepListening } from "../../../../src/gateway/ingest/note-book.ts";
import type { GatewayStore } from "../../../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../../../src/store/sqlite/open-store.ts";
import { keptLog } from "../../../../testbed/sample.ts";

/** A process of the gateway, as far as time concerns it: the real store and the real ingest. */
export class GatewayProcess {
  readonly ingest: Ingest;
  readonly store: GatewayStore;
  readonly #endListening: () => void;
  readonly #under = new Set<Promise<unknown>>();
  killed = false;

  private constructor(store: GatewayStore, clock: Clock, dongle: () => boolean) {
    this.store = store;
    const watched = <Result>(call: Promise<Result>): Promise<Result> => {
      this.#under.add(call);
      call.then(
        () => this.#under.delete(call),
        () => this.#under.delete(call),
      );
      return call;
    };
    this.ingest = new Ingest({
      store: {
        append: (readings, notes) => watched(store.append(readings, notes)),
        timeKnown: () => watched(store.timeKnown()),
        waiting: (limit) => watched(store.waiting(limit)),
        deviceOffset: (series, device) => watched(store.deviceOffset(series, device)),
      },
      clock,
      log: keptLog("error").log,
      notesInterval_ms,
    });
    this.#endListening = keepListening({
      clock,
      listeners: () => (dongle() ? ["zigbee"] : []),
      note: (listener) => this.ingest.listening(listener),
    });
  }

  static async start(directory: string, clock: Clock, dongle: () => boolean): Promise<GatewayProcess> {
    const store = await openGatewayStore({ directory, clock, log: keptLog("error").log });
    return new GatewayProcess(store, clock, dongle);
  }

  /** Waits until nothing is under way, so that what comes next does not depend on the speed of this machine. */
  async settle(): Promise<void> {
    for (let round = 0; round < 100_000; round += 1) {
      if (this.#under.size === 0) {
        // Everything that a commit sets off is done within one turn of the event loop, however many promises it takes.
        await new Promise<void>((resolve) => setImmediate(resolve));
        if (this.#under.size === 0) return;
      }
      await Promise.allSettled([...this.#under]);
    }
    throw new Error("the gateway does not come to rest");
  }

  async kill(): Promise<void> {
    this.killed = true;
    this.#endListening();
    await this.settle();
    await this.store.close();
  }

  async stop(): Promise<void> {
    this.#endListening();
    await this.ingest.close();
    await this.store.close();
  }
}

/** Rarer than in life, so that a year has fewer commits. */
const notesInterval_ms = 3 * 3_600_000;
