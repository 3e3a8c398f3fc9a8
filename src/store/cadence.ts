import { hour_ms } from "../durations.ts";
import type { Kind } from "../kinds.ts";

/** How often a device of a kind is heard although nothing happens: its heartbeat, or how often it is asked. */
export interface Cadence {
  readonly kind: Kind;
  /** Holds for this subtype alone; the row of a kind without one holds for all others, and where the device has not told it. */
  readonly subtype?: string;
  /** Absent where a device is silent until it is used. */
  readonly expected_ms?: number;
  /** It keeps its events for a later poll: once it has been read, only the events that it reports as lost are missing. */
  readonly buffered: boolean;
}

/** A kind that has no row is silent until it is used. */
const cadences: readonly Cadence[] = [
  { kind: "pillboxes", subtype: "polled", expected_ms: hour_ms, buffered: true },
  { kind: "pillboxes", expected_ms: 4 * hour_ms, buffered: false },
  { kind: "wirelesssensors", expected_ms: 2 * hour_ms, buffered: false },
  { kind: "watches", expected_ms: 24 * hour_ms, buffered: true },
];

export function cadenceOf(kind: Kind, subtype: string | undefined): Cadence {
  const found = cadences.find((of) => of.kind === kind && (of.subtype ?? subtype) === subtype);
  return found ?? { kind, buffered: false };
}

/**
 * For how long a device may be silent, unix milliseconds of listening, before it counts as such: one and a half
 * times its cadence, so that neither a late heartbeat nor one that was lost to noise alone makes a gap of its own.
 */
export function silence_max_ms({ expected_ms }: Pick<Cadence, "expected_ms">): number {
  return expected_ms === undefined ? Number.POSITIVE_INFINITY : expected_ms * 1.5;
}

/** Whatever its kind, a device that has been silent for no longer than this does not count as such. */
export const silence_least_ms = Math.min(...cadences.map(silence_max_ms));
