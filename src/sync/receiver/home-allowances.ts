import type { Clock } from "../../clock.ts";
import { day_ms } from "../../durations.ts";
import { days_at_once, type QuotaName, type Quotas } from "../../store/intake.ts";

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
