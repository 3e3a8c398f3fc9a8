import type { BatchRefusal } from "../../store/central-store.ts";
import type { QuotaName } from "../../store/intake.ts";

/** Counts of what central has received since its start, for the metrics. */
export class ReceivedCounts {
  readonly refusals: Record<BatchRefusal, number> = { gap: 0, foreign: 0, diverged: 0 };
  batches = 0;
  readings = 0;
  bytes = 0;
  /** Batches, and numbers in them, that were held already. */
  repeatedBatches = 0;
  repeatedReadings = 0;
  /** Requests of homes that had reached a quota. */
  readonly quotas: Record<QuotaName, number> = { devices: 0, epochs: 0, listeners: 0, readings: 0, notes: 0 };
  /** Readings that a comparison has added or put right. */
  repaired = 0;
  /** Readings of times that were erased, which were not kept. */
  erased = 0;
  readonly #erasedOf = new Set<number>();
  readonly #onErased: (home: number, readings: number) => void;

  /** @param onErased called with the first such readings of each home */
  constructor(onErased: (home: number, readings: number) => void = () => {}) {
    this.#onErased = onErased;
  }

  taken(readings: number, bytes: number): void {
    this.batches += 1;
    this.readings += readings;
    this.bytes += bytes;
  }

  repeated(readings: number): void {
    this.repeatedBatches += 1;
    this.repeatedReadings += readings;
  }

  exceeded(quota: QuotaName): void {
    this.quotas[quota] += 1;
  }

  refusedErased(home: number, readings: number): void {
    if (readings === 0) return;
    this.erased += readings;
    if (!this.#erasedOf.has(home)) this.#onErased(home, readings);
    this.#erasedOf.add(home);
  }

  refused(reason: BatchRefusal): void {
    this.refusals[reason] += 1;
  }
}
