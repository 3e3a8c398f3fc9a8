import { hour_ms } from "../../base/time.ts";
import type { CoverageReason, CoverageState } from "../../domain/coverage-record.ts";
import type { Kind } from "../../domain/kinds.ts";
import type { GapReason } from "../../domain/reading.ts";
import type { PauseReason } from "../pause.ts";
import type { CoverageInterval, CoverageRequest } from "../store.ts";

/** How often a device of a kind is heard although nothing happens: its heartbeat, or how often it is asked. */
interface Cadence {
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

/** Stored facts of an item that has been heard; times are unix milliseconds. */
export interface CoverageFacts {
  readonly kind: Kind;
  readonly subtype: string | undefined;
  /** The times that it lived in homes that have heard it, which do not overlap: a gateway knows one. At least one, in order. */
  readonly stays: readonly HeardPlacement[];
}

/** A stay of an item in one home, with what the gateway of that home knows of it, during the stay or not. */
export interface HeardPlacement {
  /** The stay; its end is not included. */
  readonly from_ms: number;
  readonly before_ms: number;
  /** When it was first and last heard there. */
  readonly first_ms: number;
  readonly heard_ms: number;
  /** When the driver that heard it was last known to listen; absent where nobody knows. */
  readonly listened_ms?: number;
  /** When it was not heard although its driver listened. */
  readonly silences: readonly StartStop[];
  /** When its driver, and when the whole gateway, did not listen; all of it, or just what is needed. */
  readonly driverOutages: readonly StartStop[];
  readonly gatewayOutages: readonly StartStop[];
  readonly gaps: readonly KnownGap[];
  /** When nothing of it was recorded because somebody had asked for that, or nobody had consented. */
  readonly pauses: readonly PausedTime[];
}

export interface StartStop {
  readonly start_ms: number;
  readonly stop_ms: number;
}

/** `why` is absent where somebody had asked for a pause. */
export interface PausedTime extends StartStop {
  readonly why?: PauseReason | undefined;
}

export interface KnownGap extends StartStop {
  readonly reason: GapReason;
  readonly lost?: number;
}

/** Puts together when an item was covered: see `Store.coverage`. */
export function coverageOf(
  { kind, subtype, stays }: CoverageFacts,
  { from_ms = 0, before_ms, skip, limit }: Pick<CoverageRequest, "from_ms" | "before_ms" | "skip" | "limit">,
): CoverageInterval[] {
  const cadence = cadenceOf(kind, subtype);
  const covered = stays.map((stay, place) => {
    const intervals = intervalsOf(stay, cadence, place === stays.length - 1);
    const tail = place === stays.length - 1 ? tailOf(stay, cadence) : [];
    const gaps = knownGaps(stay.gaps, cadence, stay.heard_ms);
    return {
      during: during(stay, intervals),
      over: during(stay, [...tail, ...gaps]),
      paused: during(stay, pausesOf(stay)),
    };
  });
  return (["during", "over", "paused"] as const)
    .map((layer) => covered.flatMap((stay) => stay[layer]))
    .reduce((below, layer, place) => (place === 0 ? withoutHoles(layer) : overlaid(below, layer)), [])
    .filter(({ start_ms, stop_ms }) => start_ms < before_ms && (stop_ms > from_ms || start_ms >= from_ms))
    .reverse()
    .slice(skip, skip + limit);
}

/** Intervals as far as they lie in a stay. */
function during(
  { from_ms, before_ms }: HeardPlacement,
  intervals: readonly CoverageInterval[],
): CoverageInterval[] {
  return intervals.flatMap((interval) => {
    const start_ms = Math.max(interval.start_ms, from_ms);
    const stop_ms = Math.min(interval.stop_ms, before_ms);
    // What lasts no time is kept where it is: a gap, or the one moment that a device was heard.
    const isInside = start_ms < stop_ms || (interval.start_ms === interval.stop_ms && start_ms === stop_ms);
    return isInside && start_ms < before_ms ? [{ ...interval, start_ms, stop_ms }] : [];
  });
}

/**
 * Whether a driver has listened for an item, where it lives now, longer than the item may be silent. Of the outages those of the driver since the item was
 * heard are enough.
 */
export function isOverdue({ kind, subtype, stays }: CoverageFacts): boolean {
  const latest = stays.at(-1);
  return latest !== undefined && tailOf(latest, cadenceOf(kind, subtype)).length > 0;
}

function intervalsOf(stay: HeardPlacement, cadence: Cadence, isLatest: boolean): readonly CoverageInterval[] {
  const { first_ms, heard_ms, listened_ms = heard_ms } = stay;
  // Where no sign of life is expected, listening is all that there is to know.
  const lasts = cadence.expected_ms === undefined && isLatest;
  const until_ms = lasts ? Math.max(heard_ms, listened_ms) : heard_ms;
  const covered: CoverageInterval[] = [
    { start_ms: first_ms, stop_ms: Math.max(first_ms, until_ms), state: "covered" },
  ];
  if (cadence.buffered) return covered;
  const within = (spans: readonly StartStop[], as: Label) =>
    spans.flatMap((span) => {
      const start_ms = Math.max(span.start_ms, first_ms);
      const stop_ms = Math.min(span.stop_ms, until_ms);
      return start_ms < stop_ms ? [{ start_ms, stop_ms, ...as }] : [];
    });
  return [
    stay.silences.map(({ start_ms, stop_ms }) => ({ start_ms, stop_ms, ...silent })),
    within(stay.driverOutages, driverDown),
    within(stay.gatewayOutages, gatewayDown),
  ].reduce<readonly CoverageInterval[]>(overlaid, covered);
}

/** Pauses, from the first sign of life on and as long as anybody is known to have listened: one that is not over goes on up to there. */
function pausesOf({
  first_ms,
  heard_ms,
  listened_ms = heard_ms,
  pauses,
}: HeardPlacement): CoverageInterval[] {
  return pauses.flatMap((pause) => {
    const start_ms = Math.max(pause.start_ms, first_ms);
    const stop_ms = Math.min(pause.stop_ms, Math.max(heard_ms, listened_ms));
    return start_ms < stop_ms ? [{ start_ms, stop_ms, ...pausedFor(pause) }] : [];
  });
}

/** The silence since an item was last heard, where that is too long by now. */
function tailOf(
  { heard_ms, listened_ms = heard_ms, driverOutages, pauses }: HeardPlacement,
  cadence: Cadence,
): CoverageInterval[] {
  const deaf_ms = [...driverOutages, ...pauses]
    .map(({ start_ms, stop_ms }) => Math.min(stop_ms, listened_ms) - Math.max(start_ms, heard_ms))
    .filter((overlap_ms) => overlap_ms > 0)
    .reduce((sum, overlap_ms) => sum + overlap_ms, 0);
  const overdue = listened_ms - heard_ms - deaf_ms > silence_max_ms(cadence);
  return overdue ? [{ start_ms: heard_ms, stop_ms: listened_ms, ...silent }] : [];
}

/** Gaps that count. A device that keeps its events may have delivered those of a missed window later: that was no gap. */
function knownGaps(gaps: readonly KnownGap[], { buffered }: Cadence, heard_ms: number): CoverageInterval[] {
  return gaps
    .filter(({ stop_ms, reason }) => !(buffered && reason === "missed_window" && stop_ms <= heard_ms))
    .map((gap) => ({ ...gap, state: "gap" }));
}

/** Fills the time between two homes, in which no gateway hears the item. */
function withoutHoles(intervals: readonly CoverageInterval[]): CoverageInterval[] {
  return intervals.flatMap((interval, index) => {
    const before = intervals[index - 1];
    if (before === undefined || before.stop_ms >= interval.start_ms) return [interval];
    return [{ start_ms: before.stop_ms, stop_ms: interval.start_ms, ...silent }, interval];
  });
}

type Label = { readonly state: CoverageState; readonly reason: CoverageReason };

function pausedFor({ why }: PausedTime): Label {
  return {
    state: "paused",
    reason: why === "restricted" ? "consent_withdrawn" : (why ?? "recording_paused"),
  };
}

const silent: Label = { state: "silent", reason: "device_silent" };
const driverDown: Label = { state: "not_listening", reason: "driver_down" };
const gatewayDown: Label = { state: "not_listening", reason: "gateway_down" };

/** Intervals in order of time, each of `top` in the place of what it covers of `base`. Those of `top` may overlap. */
function overlaid(base: readonly CoverageInterval[], top: readonly CoverageInterval[]): CoverageInterval[] {
  const result: CoverageInterval[] = [];
  const below = [...base].reverse();
  for (const over of inOrder(top)) {
    for (let next = below.pop(); next !== undefined; next = below.pop()) {
      if (next.stop_ms <= over.start_ms) {
        result.push(next);
        continue;
      }
      if (next.start_ms < over.start_ms) result.push({ ...next, stop_ms: over.start_ms });
      if (next.stop_ms > over.stop_ms) {
        below.push({ ...next, start_ms: Math.max(next.start_ms, over.stop_ms) });
        break;
      }
    }
    result.push(over);
  }
  return [...result, ...below.reverse()];
}

/**
 * Intervals in order, without overlaps: one that overlaps an earlier one starts at its end; one that lies within an
 * earlier one becomes empty, at that end.
 */
function inOrder(intervals: readonly CoverageInterval[]): CoverageInterval[] {
  let end_ms = Number.NEGATIVE_INFINITY;
  return [...intervals]
    .sort((one, other) => one.start_ms - other.start_ms || one.stop_ms - other.stop_ms)
    .map((interval) => {
      const start_ms = Math.max(interval.start_ms, end_ms);
      end_ms = Math.max(interval.stop_ms, start_ms);
      return { ...interval, start_ms, stop_ms: end_ms };
    });
}
