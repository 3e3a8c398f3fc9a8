import { HttpError } from "../../http/errors.ts";
import { QuotaExceeded } from "../../store/intake.ts";
import type { DailyQuota, HomeAllowances } from "./home-allowances.ts";
import type { ReceivedCounts } from "./received-counts.ts";

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
