import type { Batch } from "../../store/batch.ts";
import { condition_notes_max } from "../../store/condition.ts";
import type { DayDigest, DayReadings, DigestRequest, UploadStore } from "../../store/upload-store.ts";
import type { GatewayReport } from "../protocol.ts";
import { allSpans, type DatedStore, type DaySpan, spansOf } from "./days.ts";
import type { HandedBatch, Report, Source } from "./ends.ts";

/** The part of a gateway's store that is transferred. */
export type SourceStore = Pick<
  UploadStore,
  "epochs" | "batchAfter" | "conditionAfter" | "digests" | "readingsOfDay" | "uploadState"
> &
  DatedStore;

/** A gateway by its store on this machine. */
export class StoreSource implements Source {
  readonly #store: SourceStore;
  readonly #describe: () => Promise<GatewayReport>;
  readonly #home: number | undefined;

  /** `describe`: what the gateway says of itself now. `home`: where that is known. */
  constructor(options: {
    store: SourceStore;
    describe: () => Promise<GatewayReport>;
    home?: number | undefined;
  }) {
    this.#store = options.store;
    this.#describe = options.describe;
    this.#home = options.home;
  }

  async report(after_note: number): Promise<Report> {
    const [epochs, condition, report, { pruned_before_ms }] = await Promise.all([
      this.#store.epochs(),
      this.#store.conditionAfter(after_note, condition_notes_max),
      this.#describe(),
      this.#store.uploadState(),
    ]);
    // Readings restored from central are not sent back to it.
    const own = epochs.filter(({ restored }) => !restored);
    return {
      epochs: own.map(({ epoch, first_seq, last_seq }) => ({ epoch, first_seq, last_seq })),
      condition,
      report,
      ...(this.#home === undefined ? {} : { home: this.#home }),
      ...(pruned_before_ms === undefined ? {} : { pruned_before_ms }),
    };
  }

  async batchAfter(request: Parameters<Source["batchAfter"]>[0]): Promise<HandedBatch | undefined> {
    const batch = await this.#store.batchAfter(request);
    return batch && { batch, bytes: 0 };
  }

  digests(request: DigestRequest): Promise<readonly DayDigest[]> {
    return this.#store.digests(request);
  }

  readingsOfDay(request: DayReadings): Promise<Batch> {
    return this.#store.readingsOfDay(request);
  }

  spansOf(days: readonly number[]): Iterable<DaySpan> {
    return spansOf(days);
  }

  allSpans(from_ms: number): AsyncIterable<DaySpan> {
    return allSpans(this.#store, from_ms);
  }
}
