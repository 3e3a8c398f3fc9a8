import type { Clock } from "../../base/clock.ts";
import { day_ms } from "../../base/time.ts";
import { type Batch, numbersIn, readingsIn } from "../../store/batch.ts";
import {
  type BatchRefusal,
  BatchRefused,
  type CentralStore,
  type HeldEpoch,
  type Received,
  type Repaired,
  type Sender,
} from "../../store/central/central-store.ts";
import { days_at_once, notesIn, QuotaExceeded, type QuotaName, type Quotas } from "../../store/exchange.ts";
import type { DayReadings } from "../../store/gateway/upload-store.ts";
import { homeDay } from "../../transfer/days.ts";
import type { ReportBody } from "../../transfer/protocol.ts";

/** Quotas of what a home sends in a day. */
type DailyQuota = Extract<QuotaName, "readings" | "notes">;

/** A home has sent as much as it may for now. */
interface Spent {
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
  readonly #options: { readonly quotas: Quotas; readonly clock: Clock };
  /** Of homes that have spent something; what has come back to the full is forgotten. */
  readonly #spent = new Map<string, { amount: number; at_ms: number }>();

  constructor(options: { quotas: Quotas; clock: Clock }) {
    this.#options = options;
  }

  /** Takes an amount from what a home may send; answers why it cannot. */
  take(home: number, quota: DailyQuota, amount: number): Spent | undefined {
    if (amount <= 0) return undefined;
    const { quotas, clock } = this.#options;
    const most = quotas[quota];
    const now_ms = clock.now().monotonic_ms;
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

export interface IntakeParts {
  readonly store: CentralStore;
  readonly allowances: HomeAllowances;
  readonly counts: ReceivedCounts;
}

/** Takes a batch of a home into the store: see `CentralStore.receive`. What is not new costs nothing. @throws AllowanceSpent */
export async function takeBatch(
  parts: IntakeParts,
  { batch, bytes }: { readonly batch: Batch; readonly bytes: number },
  sender: Sender,
): Promise<Received> {
  const { store, allowances, counts } = parts;
  try {
    const received = await spending(parts, sender.home, "readings", numbersIn(batch), () =>
      store.receive(batch, sender),
    );
    allowances.giveBack(sender.home, "readings", readingsIn(batch) - received.taken);
    counts.taken(received.taken, bytes);
    counts.refusedErased(sender.home, received.erased ?? 0);
    return received;
  } catch (thrown) {
    if (thrown instanceof BatchRefused) counts.refused(thrown.reason);
    throw thrown;
  }
}

/** Repairs a day of a home: see `CentralStore.repairDay`. Only added readings cost something. @throws AllowanceSpent */
export async function takeRepair(
  parts: IntakeParts,
  { request, readings }: { readonly request: DayReadings; readonly readings: Batch },
  sender: Sender,
): Promise<Repaired> {
  const { store, allowances, counts } = parts;
  const amount = readingsIn(readings);
  const repaired = await spending(parts, sender.home, "readings", amount, () =>
    store.repairDay(request, readings, sender),
  );
  allowances.giveBack(sender.home, "readings", amount - repaired.added);
  counts.repaired += repaired.added + repaired.corrected;
  counts.refusedErased(sender.home, repaired.erased ?? 0);
  return repaired;
}

/**
 * Keeps a report of a home's gateway, and answers how far its epochs are held.
 *
 * @param asked_ms when the report was made: what the gateway numbers after it belongs to a later day
 * @throws AllowanceSpent
 */
export async function takeReport(
  parts: IntakeParts,
  { epochs, condition, report, notes }: Pick<ReportBody, "epochs" | "condition" | "report" | "notes">,
  sender: Sender,
  asked_ms = sender.at_ms,
): Promise<readonly HeldEpoch[]> {
  // The last epoch is the one that the gateway numbers by now.
  const { epoch = "", last_seq = 0 } = epochs.at(-1) ?? {};
  const as_of = { last_seq, day: homeDay(report.timezone, asked_ms) };
  await spending(parts, sender.home, "notes", notesIn(condition), () =>
    parts.store.noteReport({ epoch, health: condition, report, as_of, pauses: report.pauses, notes }, sender),
  );
  return parts.store.held(epochs.map((one) => one.epoch));
}

/** Does something that takes an amount of a home's allowance, all of which is given back where it fails. @throws AllowanceSpent */
async function spending<Result>(
  { allowances, counts }: IntakeParts,
  home: number,
  quota: DailyQuota,
  amount: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const spent = allowances.take(home, quota, amount);
  if (spent !== undefined) {
    counts.exceeded(quota);
    throw new AllowanceSpent(spent);
  }
  try {
    return await work();
  } catch (thrown) {
    allowances.giveBack(home, quota, amount);
    if (thrown instanceof QuotaExceeded) counts.exceeded(thrown.quota);
    throw thrown;
  }
}

/** A home has sent as much as it may for now; nothing was taken. */
export class AllowanceSpent extends Error {
  constructor(readonly spent: Spent) {
    super(`more ${spent.quota} than ${spent.most} a day`);
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
