import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { type LocalDay, localDays, type TimeSpan } from "../base/time.ts";
import { gapReasons } from "./reading.ts";
import { record, unixTime } from "./records/record-field.ts";

/** Whether an item was listened to and alive. */
const coverageStates = {
  covered: "its driver was listening and the device alive: no event means that nothing happened",
  silent: "the device was not heard for too long: it may be out of range, or its battery empty",
  not_listening: "the gateway or the driver was down",
  paused:
    "nobody had consented to a recording, or the home had asked for a pause: nothing of that time is kept",
  gap: "the device or driver knows that something is missing, or that there was nothing to record",
} as const;

/** Why it was not covered. */
export const coverageReasons = {
  device_silent: "silent for more than one and a half times its heartbeat",
  gateway_down: "the gateway was not running",
  driver_down: "the driver did not hear its hardware",
  recording_paused: "recording was paused",
  consent_withdrawn: "the consent to record was withdrawn",
  enrollment_ended: "the enrollment in the project had ended",
  ...gapReasons,
} as const;

export type CoverageState = keyof typeof coverageStates;
export type CoverageReason = keyof typeof coverageReasons;

/** A stretch of time of an item as it is served, in whole seconds. */
export const Coverage = record("Coverage", {
  start: unixTime({ description: "start of the interval" }),
  stop: unixTime({
    description: "end of the interval, not included; where it lies in the same second, its start",
  }),
  state: Type.Unsafe<CoverageState>(
    Type.Union(literals(coverageStates), { description: explained(coverageStates) }),
  ),
  reason: Type.Unsafe<CoverageReason | null>(
    Type.Union([...literals(coverageReasons), Type.Null()], {
      description: `null where it was covered; ${explained(coverageReasons)}`,
    }),
  ),
  lost: Type.Union([Type.Integer(), Type.Null()], {
    description: "how many events are missing, where the device tells",
  }),
});

export type Coverage = Static<typeof Coverage>;

function literals(meanings: Readonly<Record<string, string>>): TSchema[] {
  return Object.keys(meanings).map((name) => Type.Literal(name));
}

function explained(meanings: Readonly<Record<string, string>>): string {
  return Object.entries(meanings)
    .map(([name, meaning]) => `${name}: ${meaning}`)
    .join("; ");
}

/** A stretch for which it is known whether an item was listened to and alive, unix milliseconds; the end is not in it. */
export interface KnownCoverage extends TimeSpan {
  readonly state: CoverageState;
  /** Absent where it was covered. */
  readonly reason?: CoverageReason | undefined;
}

/** The minutes of a day of the calendar by what is known of them: `listened`, `missing` and `unknown` add up to `minutes`. */
export interface DayMinutes {
  readonly day: LocalDay;
  /** 1,440; 1,380 and 1,500 where the clocks change. */
  readonly minutes: number;
  /** Somebody listened and the device was alive: no event means that nothing happened. */
  readonly listened: number;
  readonly missing: Readonly<Partial<Record<CoverageReason, number>>>;
  /** Nobody knows anything: the device was not there yet, or is not heard of any more, or the day is not over. */
  readonly unknown: number;
}

/**
 * Knowledge of each day that a span touches, in order. Where a stretch begins and ends is rounded to the minute, so that days add up to
 * whole minutes; one that lasts less than half a minute may be none.
 *
 * @param known in order of time, without overlaps
 */
export function* minutesByDay(
  zone: string,
  span: TimeSpan,
  known: readonly KnownCoverage[],
): Generator<DayMinutes> {
  let first = 0;
  for (const day of localDays(zone, span)) {
    const minutes = Math.round((day.to_ms - day.from_ms) / minute_ms);
    const minuteAt = (at_ms: number) =>
      Math.min(minutes, Math.max(0, Math.round((at_ms - day.from_ms) / minute_ms)));
    const missing: Partial<Record<CoverageReason, number>> = {};
    let listened = 0;
    let told = 0;
    while ((known[first]?.to_ms ?? Number.POSITIVE_INFINITY) <= day.from_ms) first += 1;
    for (let at = first; at < known.length; at += 1) {
      const { from_ms, to_ms, state, reason } = known[at] as KnownCoverage;
      if (from_ms >= day.to_ms) break;
      const count = minuteAt(to_ms) - minuteAt(from_ms);
      told += count;
      if (state === "covered" || reason === undefined) listened += count;
      else if (count > 0) missing[reason] = (missing[reason] ?? 0) + count;
    }
    yield { day, minutes, listened, missing, unknown: minutes - told };
  }
}

const minute_ms = 60_000;
