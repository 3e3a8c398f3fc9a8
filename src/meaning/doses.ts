import { hour_ms } from "../durations.ts";
import { type DoorChange, type DoorState, doorChanges, openings, reloads } from "./doors.ts";
import { type LocalDay, localDays } from "./local-day.ts";
import { overlap, type TimeSpan } from "./span.ts";

/**
 * State of a day's dose.
 * - `taken`: the door of the weekday went up or down that day.
 * - `late`: not that day, but within six hours after it.
 * - `reload`: the door moved only while the box was filled, when a pill may have been taken too.
 * - `due`: nothing yet, and the day (or the six hours after it) isn't over.
 * - `unknown`: nothing was seen, but not all of the day was watched.
 * - `missed`: all of the day was watched, and the door stayed as it was.
 */
export type DoseStatus = "taken" | "late" | "reload" | "due" | "unknown" | "missed";

export interface Dose {
  /** Date in the home's time zone. */
  readonly date: string;
  /** 0 Sunday to 6 Saturday. */
  readonly weekday: number;
  readonly status: DoseStatus;
  /** When the door first moved, unix milliseconds, of a dose taken or late. */
  readonly at_ms?: number;
}

/** A door that is not the day's, opened outside a reload. */
export interface OtherDoor {
  readonly at_ms: number;
  readonly door: number;
}

export interface DoorLeftOpen {
  readonly door: number;
  readonly from_ms: number;
  /** Absent while it is still open. */
  readonly to_ms?: number;
}

export interface DoseFindings {
  /** Whether the box has a door for each day, or one lid for all. */
  readonly doors: "weekdays" | "one";
  readonly doses: readonly Dose[];
  readonly reloads: readonly TimeSpan[];
  readonly otherDoors: readonly OtherDoor[];
  readonly leftOpen: readonly DoorLeftOpen[];
}

/**
 * Doses of the days in `span`, from the events of a pill box.
 *
 * A change of a door in either direction counts as a pill perhaps taken, and more than six changes within ten
 * minutes as a reload: both are the guidance of the interface that serves the events. That an opened door is a pill
 * swallowed is an assumption; medication adherence by such boxes is measured this way for want of better (see
 * docs/report.md). Weekdays are those of the home's time zone, so a day may have 23 or 25 hours.
 *
 * @param options.states events of the span, any order, unix milliseconds; may reach six hours past its end
 * @param options.before the last state before the span, 0 when unknown
 * @param options.zone IANA time zone of the home
 * @param options.unknown stretches in which events of the box may have been lost: what was not seen there was not missed
 * @param options.now_ms until when readings may have come
 */
export function dosesOf(options: {
  states: readonly DoorState[];
  before?: number;
  zone: string;
  span: TimeSpan;
  unknown?: readonly TimeSpan[];
  now_ms: number;
}): DoseFindings {
  const { states, before = 0, zone, span, unknown = [], now_ms } = options;
  const changes = doorChanges(states, before);
  const reloading = reloads(changes);
  const inReload = ({ at_ms }: DoorChange) =>
    reloading.some(({ from_ms, to_ms }) => at_ms >= from_ms && at_ms < to_ms);
  const quiet = changes.filter((change) => !inReload(change));
  const days = localDays(zone, span);
  const doors = doorsOf(changes, days);
  const context: DayContext = {
    doorOf: ({ weekday }) => (doors === "one" ? 0 : weekday),
    quiet,
    filled: changes.filter(inReload),
    unknown,
    late_ms: doors === "one" ? 0 : late_ms_max,
    now_ms,
  };
  const doses = days.map((day) => doseOf(day, context));
  return {
    doors,
    doses,
    reloads: reloading.filter((one) => overlap(one, span)),
    otherDoors: doors === "one" ? [] : otherDoors(quiet, days, doses),
    leftOpen: leftOpen(openings(changes, before), span, now_ms),
  };
}

/** A box that only ever moves door 0, and that not on Sundays alone, has one lid for all days. */
function doorsOf(changes: readonly DoorChange[], days: readonly LocalDay[]): DoseFindings["doors"] {
  if (changes.length === 0 || changes.some(({ door }) => door !== 0)) return "weekdays";
  const weekdays = days.filter((day) => day.weekday !== 0 && changes.some((change) => within(change, day)));
  return weekdays.length > 1 ? "one" : "weekdays";
}

interface DayContext {
  readonly doorOf: (day: LocalDay) => number;
  /** Changes outside reloads, and those of reloads. */
  readonly quiet: readonly DoorChange[];
  readonly filled: readonly DoorChange[];
  readonly unknown: readonly TimeSpan[];
  readonly late_ms: number;
  readonly now_ms: number;
}

function doseOf(day: LocalDay, context: DayContext): Dose {
  const { quiet, filled, unknown, late_ms, now_ms } = context;
  const own = context.doorOf(day);
  const night: TimeSpan = { from_ms: day.to_ms, to_ms: day.to_ms + late_ms };
  const first = (changes: readonly DoorChange[], span: TimeSpan) =>
    changes.find((change) => change.door === own && within(change, span))?.at_ms;
  const { date, weekday } = day;
  const dose = (status: DoseStatus, at_ms?: number): Dose => ({ date, weekday, status, at_ms });
  const taken = first(quiet, day);
  if (taken !== undefined) return dose("taken", taken);
  const late = first(quiet, night);
  if (late !== undefined) return dose("late", late);
  if (first(filled, day) !== undefined) return dose("reload");
  if (unknown.some((one) => overlap(one, day))) return dose("unknown");
  return dose(now_ms < night.to_ms ? "due" : "missed");
}

/** Openings of doors that are neither the day's nor explain a late dose of the day before. */
function otherDoors(
  changes: readonly DoorChange[],
  days: readonly LocalDay[],
  doses: readonly Dose[],
): OtherDoor[] {
  const late = new Set(doses.filter(({ status }) => status === "late").map(({ at_ms }) => at_ms));
  return changes
    .filter((change) => change.opened && !late.has(change.at_ms))
    .filter((change) => days.some((day) => within(change, day) && day.weekday !== change.door))
    .map(({ at_ms, door }) => ({ at_ms, door }));
}

function leftOpen(stays: ReturnType<typeof openings>, span: TimeSpan, now_ms: number): DoorLeftOpen[] {
  return stays.flatMap(({ door, opened_ms: from_ms, closed_ms: to_ms }) => {
    if (from_ms === undefined || (to_ms ?? now_ms) - from_ms <= open_ms_max) return [];
    if (!overlap({ from_ms, to_ms: to_ms ?? now_ms }, span)) return [];
    return [{ door, from_ms, to_ms }];
  });
}

function within({ at_ms }: DoorChange, { from_ms, to_ms }: TimeSpan): boolean {
  return at_ms >= from_ms && at_ms < to_ms;
}

/** An evening's dose taken after midnight is late; one taken after this is the next day's wrong door. */
export const late_ms_max = 6 * hour_ms;
/** A door that stands open this long was forgotten. */
const open_ms_max = hour_ms;
