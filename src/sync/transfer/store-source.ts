import type { Batch } from "../../store/batch.ts";
import { health_notes_max, health_states_max } from "../../store/device-health.ts";
import type { DayReadings, DigestRequest, UploadStore } from "../../store/upload-store.ts";
import { type GatewayReport, verify_days_max } from "../protocol.ts";
import { type DatedStore, nextDay_ms } from "./days.ts";
import type { SourceBatch, SpanDigests, TransferReport, TransferSource } from "./source-and-target.ts";

/** The part of a gateway's store that is transferred. */
export type SourceStore = Pick<
  UploadStore,
  "epochs" | "batchAfter" | "deviceHealthAfter" | "digests" | "readingsOfDay" | "takeBack" | "uploadState"
> &
  DatedStore;

export interface StoreSourceOptions {
  readonly store: SourceStore;
  /** The gateway's present report of itself. */
  readonly describe: () => Promise<GatewayReport>;
  /** The number of its home, where that is known. */
  readonly home?: number;
}

/** A gateway by its store on this machine. */
export class StoreSource implements TransferSource {
  readonly days_max = verify_days_max;
  readonly #options: StoreSourceOptions;

  constructor(options: StoreSourceOptions) {
    this.#options = options;
  }

  async report(after_note: number, after_device = 0): Promise<TransferReport> {
    const { store, describe, home } = this.#options;
    const [epochs, condition, report, { pruned_before_ms }] = await Promise.all([
      store.epochs(),
      store.deviceHealthAfter(after_note, health_notes_max, { after_device, max: health_states_max }),
      describe(),
      store.uploadState(),
    ]);
    // Readings restored from central are not sent back to it.
    const own = epochs
      .filter(({ restored }) => !restored)
      .map(({ epoch, first_seq, last_seq }) => ({ epoch, first_seq, last_seq }));
    return { epochs: own, condition, report, home, pruned_before_ms };
  }

  async batchAfter(request: Parameters<TransferSource["batchAfter"]>[0]): Promise<SourceBatch | undefined> {
    const batch = await this.#options.store.batchAfter(request);
    return batch && { batch, bytes: 0 };
  }

  async digests(request: DigestRequest): Promise<SpanDigests> {
    const { store } = this.#options;
    const [digests, next_ms] = await Promise.all([
      store.digests(request),
      nextDay_ms(store, request.before_ms),
    ]);
    return { digests, next_ms };
  }

  readingsOfDay(request: DayReadings): Promise<Batch> {
    return this.#options.store.readingsOfDay(request);
  }

  takeBack(readings: Batch): Promise<number> {
    return this.#options.store.takeBack(readings);
  }
}
