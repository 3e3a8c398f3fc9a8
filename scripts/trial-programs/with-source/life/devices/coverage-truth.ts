/** Whether the coverage of an item is true: where nobody listened, and where somebody did and the device was alive. Imports nothing of the store or a driver. */

import type { Knowledge } from "./truth.ts";

/** A look at a driver: in which process it is, and whether it hears its devices. */
export interface Look {
  readonly at_ms: number;
  readonly process: number;
  readonly listens: boolean;
}

/** A stretch of coverage as it is served. */
export interface Covered {
  readonly start_ms: number;
  readonly stop_ms: number;
  readonly state: string;
}

/**
 * All that is wrong with the coverage of a device, a line each. Only stretches count at whose ends the gateway knew the time.
 *
 * @param heard_ms when its driver heard the device, in order
 */
export function wrongCoverageIn(
  address: string,
  covered: readonly Covered[],
  heard_ms: readonly number[],
  { looks, known }: { looks: readonly Look[]; known: readonly Knowledge[] },
): string[] {
  const first_ms = Math.min(...covered.map(({ start_ms }) => start_ms));
  const last_ms = Math.max(...covered.map(({ stop_ms }) => stop_ms));
  const stateAt = (at_ms: number) =>
    covered.find(({ start_ms, stop_ms }) => start_ms <= at_ms && at_ms < stop_ms)?.state;
  const wrong: string[] = [];
  const require = (at_ms: number, should: "covered" | "not covered") => {
    if (at_ms < first_ms || at_ms >= last_ms) return;
    const state = stateAt(at_ms);
    if ((state === "covered") !== (should === "covered"))
      wrong.push(`coverage of ${address} at ${new Date(at_ms).toISOString()} is ${state}, not ${should}`);
  };
  // Who listens again may be of another boot: one that never learns the time is placed where it may have been.
  for (const { from_ms, to_ms } of runsOf(looks, false))
    if (
      to_ms - from_ms >= deaf_least_ms &&
      knewTime(from_ms - edge_ms, known) &&
      learns(to_ms + edge_ms, known)
    )
      require((from_ms + to_ms) / 2, "not covered");
  const heeded = runsOf(looks, true);
  for (const [index, to_ms] of heard_ms.entries()) {
    const from_ms = heard_ms[index - 1] ?? to_ms;
    const run = heeded.find((one) => one.from_ms + edge_ms <= from_ms && to_ms <= one.to_ms - edge_ms);
    if (run !== undefined && to_ms - from_ms < heartbeat_most_ms && steady(from_ms, to_ms, known))
      require((from_ms + to_ms) / 2, "covered");
  }
  return wrong;
}

/** Stretches in which all looks are alike, and where somebody listened of one process. */
function runsOf(looks: readonly Look[], listens: boolean): { from_ms: number; to_ms: number }[] {
  const runs: { from_ms: number; to_ms: number }[] = [];
  let before: Look | undefined;
  for (const look of looks) {
    const last = runs.at(-1);
    const goesOn = before?.listens === listens && (!listens || before.process === look.process);
    if (look.listens === listens && goesOn && last !== undefined) last.to_ms = look.at_ms;
    else if (look.listens === listens) runs.push({ from_ms: look.at_ms, to_ms: look.at_ms });
    before = look;
  }
  return runs;
}

function knewTime(at_ms: number, known: readonly Knowledge[]): boolean {
  return known.findLast(({ from_ms }) => from_ms <= at_ms)?.clock === "right";
}

/** Whether the gateway knows the time after a moment, or learns it before it is switched off. */
function learns(at_ms: number, known: readonly Knowledge[]): boolean {
  const now = known.findLast(({ from_ms }) => from_ms <= at_ms);
  return (
    now?.clock === "right" ||
    known.some(({ from_ms, boot, clock }) => from_ms > at_ms && boot === now?.boot && clock === "right")
  );
}

/** Whether it knew the time all along. */
function steady(from_ms: number, to_ms: number, known: readonly Knowledge[]): boolean {
  const changed = known.some(
    (one) =>
      Math.abs(one.from_ms - from_ms) < edge_ms || (one.from_ms > from_ms && one.from_ms < to_ms + edge_ms),
  );
  return !changed && knewTime(from_ms, known);
}

/** Signs of life and of listening wait so long for a commit, and are lost with a process that is killed. */
const edge_ms = 1_000_000;
const deaf_least_ms = 2_400_000;
/** Every two hours; the device counts as silent after half as much again. */
const heartbeat_most_ms = 7_800_000;
