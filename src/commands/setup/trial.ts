import type { Clock } from "../../clock.ts";
import { default_bytes_per_s } from "../../config/upload-section.ts";
import { decodingBounds } from "../../decoding-bounds.ts";
import { day_ms } from "../../durations.ts";
import { messageOf } from "../../errors.ts";
import { TryAgainLater } from "../../http-client/outcome.ts";
import { CentralClient } from "../../sync/upload/central.ts";

/** A central that a set-up names. */
export interface CentralWanted {
  readonly url: string;
  readonly token: string;
  readonly home: number;
  readonly certificate: string | undefined;
}

/**
 * Asks central with the token, once. Nothing is sent or taken.
 *
 * @returns why it could not be asked now, which a later upload finds better or says again; undefined where it takes the token
 * @throws OperatorError where it refuses the token, knows it as another home's, or cannot be trusted
 */
export async function tryCentral(wanted: CentralWanted, clock: Clock): Promise<string | undefined> {
  const stop = AbortSignal.timeout(trial_ms_max);
  const central = new CentralClient({
    ...wanted,
    bytes_per_s: default_bytes_per_s,
    failures_max: 1,
    clock,
    random: () => 0,
    stop,
    onRetry: () => {},
  });
  try {
    // Readings that are yet to come: there are none, whatever home it is.
    const from = clock.now().unix_ms + 36_500 * day_ms;
    await central.ask({ method: "GET", path: "/history", query: { from }, answer: decodingBounds.sentBatch });
    return undefined;
  } catch (thrown) {
    if (thrown === stop.reason) return `${central.title} did not answer within ${trial_ms_max / 1000} s`;
    if (thrown instanceof TryAgainLater) return messageOf(thrown.what);
    throw thrown;
  }
}

const trial_ms_max = 30_000;
