import type { Clock } from "../../base/clock.ts";
import { day_ms } from "../../base/time.ts";
import type { BatchRefusal } from "../../store/central/central-store.ts";
import { days_at_once, QuotaExceeded, type QuotaName, type Quotas } from "../../store/exchange.ts";
import { HttpError } from "../../web/server/http-errors.ts";

/** Quotas of what a home sends in a day. */
export type DailyQuota = Extract<QuotaName, "readings" | "notes">;

/** A home has sent as much as it may for now. */
export interface Spent {
  readonly quota: DailyQuota;
  readonly most: number;
  /** When there will be room for as much as it wanted to send. */
  readonly retry_s: number;
}

/**
 * Allowances of homes: each may send some days' worth at once, and then a day's worth a day. Kept in memory, so a server that is started again counts
 * anew, and several that share a database count each for itself.
 */
export class HomeAllowances {
  readonly #quotas: Quotas;
  readonly #clock: Clock;
  /** Of homes that have spent something; what has come back to the full is forgotten. */
  readonly #spent = new Map<string, { amount: number; at_ms: number }>();

  constructor({ quotas, clock }: { quotas: Quotas; clock: Clock }) {
    this.#quotas = quotas;
    this.#clock = clock;
  }

  /** Takes an amount from what a home may send; answers why it cannot. */
  take(home: number, quota: DailyQuota, amount: number): Spent | undefined {
    if (amount <= 0) return undefined;
    const most = this.#quotas[quota];
    const now_ms = this.#clock.now().monotonic_ms;
    const spent = this.#spentBy(`${quota} ${home}`, most, now_ms);
    // A batch that is larger than all that may be sent at once goes through where nothing else was sent.
    const over = spent + amount - Math.max(most * days_at_once, amount);
    if (over > 0) return { quota, most, retry_s: Math.ceil((over / most) * (day_ms / 1000)) };
    this.#spent.set(`${quota} ${home}`, { amount: spent + amount, at_ms: now_ms });
    return undefined;
  }

  /** Gives back what was taken and not used. */
  giveBack(home: number, quota: DailyQuota, amount: number): void {
    const spent = this.#spent.get(`${quota} ${home}`);
    if (spent !== undefined) spent.amount = Math.max(0, spent.amount - amount);
  }

  #spentBy(name: string, most: number, now_ms: number): number {
    const spent = this.#spent.get(name);
    if (spent === undefined) return 0;
    const left = spent.amount - (most * (now_ms - spent.at_ms)) / day_ms;
    if (left > 0) return left;
    this.#spent.delete(name);
    return 0;
  }
}

interface Parts {
  readonly allowances: HomeAllowances;
  readonly counts: ReceivedCounts;
}

/**
 * Does something that takes an amount of a home's allowance, all of which is given back where it fails.
 *
 * @throws HttpError 429 where the home has sent as much as it may, 422 where it has reached another quota
 */
export async function withinAllowance<Result>(
  { allowances, counts }: Parts,
  { home, quota, amount }: { home: number; quota: DailyQuota; amount: number },
  work: () => Promise<Result>,
): Promise<Result> {
  const spent = allowances.take(home, quota, amount);
  if (spent !== undefined) {
    counts.exceeded(quota);
    const { most, retry_s } = spent;
    throw new HttpError(
      "allowance_spent",
      { home, quota, most, retry_s },
      { "Retry-After": String(retry_s) },
    );
  }
  try {
    return await work();
  } catch (thrown) {
    allowances.giveBack(home, quota, amount);
    if (!(thrown instanceof QuotaExceeded)) throw thrown;
    counts.exceeded(thrown.quota);
    const { most, remedy } = thrown;
    throw new HttpError("quota_exceeded", { home, most, quota: thrown.quota }, {}, { remedy });
  }
}

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
