import { clockQuality, type Moment } from "../../src/base/clock.ts";

/** A radio window of a box on battery, in the gateway's time. */
export interface RadioWindow {
  readonly from_ms: number;
  readonly to_ms: number;
}

/** How the last question to a box ended, and so when it is asked again. */
export type Outcome =
  | { readonly result: "read"; readonly window: RadioWindow | undefined }
  | { readonly result: "radio off"; readonly window: RadioWindow }
  | { readonly result: "silent"; readonly failures: number }
  | { readonly result: "clock set" };

/** On mains, and after so long in any case: a window that is far away may be wrong, or the box plugged in again. */
export const poll_interval_ms = 3600_000;
export const ask_interval_most_ms = 6 * 3600_000;
/** Behind the edges of a window, which are known to about a second. */
const margin_ms = 2_000;
const retry_in_window_ms = 30_000;
const retry_ms = 60_000;
const retries_max = 5;
/** Without a clock nobody knows when a window begins. */
const ask_without_clock_ms = 600_000;

/** How long to leave a box alone. `expected`: the window that its next answer was expected in, if there is one. */
export function wait_ms(outcome: Outcome, expected: RadioWindow | undefined, now: Moment): number {
  if (outcome.result === "clock set") return 0;
  const window = outcome.result === "silent" ? expected : outcome.window;
  if (window === undefined) {
    const hurried = outcome.result === "silent" && outcome.failures <= retries_max;
    return hurried ? retry_ms : poll_interval_ms;
  }
  if (now.quality === clockQuality.unsynchronised) return ask_without_clock_ms;
  return Math.min(untilWindow(outcome, window, now.unix_ms), ask_interval_most_ms);
}

function untilWindow(outcome: Outcome, window: RadioWindow, now_ms: number): number {
  if (now_ms < window.from_ms) return window.from_ms + margin_ms - now_ms;
  if (now_ms >= window.to_ms)
    return outcome.result === "silent" && outcome.failures <= retries_max ? retry_ms : poll_interval_ms;
  const end_ms = window.to_ms + margin_ms - now_ms;
  // Read already: the next window is told when this one is over. Not yet: there is still time.
  return outcome.result === "read" ? end_ms : Math.min(retry_in_window_ms, end_ms);
}
