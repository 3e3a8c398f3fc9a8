import { isKind } from "../../kinds.ts";
import type { MissingReport } from "../../meaning/report-missing.ts";
import type { TimeSpan } from "../../meaning/span.ts";
import { cadenceOf } from "../../store/cadence.ts";
import type { Uncovered } from "../uncovered.ts";

/** Stretches in which nothing is known of an item, as plots draw them: before the first sign of life it was not there, and what a device keeps until it is read has not come yet. */
export function uncoveredIn({ known, span, typename }: MissingReport): Uncovered[] {
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return [{ ...span, why: "absent" }];
  const found: Uncovered[] = [];
  if (first.from_ms > span.from_ms)
    found.push({ from_ms: span.from_ms, to_ms: first.from_ms, why: "absent" });
  for (const { from_ms, to_ms, state } of known)
    if (state !== "covered")
      found.push({ from_ms, to_ms, why: state === "silent" ? "silent" : "not_listening" });
  const keeps = isKind(typename) && cadenceOf(typename, undefined).buffered;
  if (keeps && last.to_ms < span.to_ms) found.push({ from_ms: last.to_ms, to_ms: span.to_ms, why: "away" });
  return found;
}

/** Round values of a scale around numbers, and where each stands: at most five. */
export function scaleOf(numbers: readonly number[], digits: number): AxisScale {
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
  const step = steps.find((one) => Math.ceil(greatest / one) - Math.floor(least / one) <= steps_max) ?? 1_000;
  const low = Math.floor(least / step) * step;
  const high = Math.max(Math.ceil(greatest / step) * step, low + step);
  const count = Math.round((high - low) / step);
  // What is far from all others is drawn at the edge.
  const of = (value: number) =>
    Math.round((1 - (Math.min(high, Math.max(low, value)) - low) / (high - low)) * 10_000) / 100;
  const ticks = Array.from({ length: count + 1 }, (_, index) => low + index * step);
  return { of, ticks: ticks.map((value) => ({ at: of(value), text: value.toFixed(digits) })) };
}

export interface AxisScale {
  /** Per cent from above. */
  of(value: number): number;
  readonly ticks: readonly { readonly at: number; readonly text: string }[];
}

/** The spans of all, from the first to the last. */
export function around(spans: readonly TimeSpan[]): TimeSpan {
  return {
    from_ms: Math.min(...spans.map(({ from_ms }) => from_ms)),
    to_ms: Math.max(...spans.map(({ to_ms }) => to_ms)),
  };
}

const steps = [0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200];
const steps_max = 4;
