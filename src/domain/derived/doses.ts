import { hour_ms, joined, type LocalDay, localDays, overlap, type TimeSpan } from "../../base/time.ts";

/**
 * States of a day's dose.
 * - `taken`: the door of the weekday went up or down that day.
 * - `late`: not that day, but within six hours after it.
 * - `missed`: all of the day was watched, and the door stayed as it was.
 * - `unknown`: nothing was seen, and not all of the day was watched; or the door moved only while the box was filled, when a pill may have been taken too.
 * - `due`: nothing yet, and the day (or the six hours after it) isn't over.
 */
export const doseStatuses = ["taken", "late", "missed", "unknown", "due"] as const;
export type DoseStatus = (typeof doseStatuses)[number];

export interface Dose {
  /** Date in the home's time zone. */
  readonly date: string;
  /** 0 Sunday to 6 Saturday. */
  readonly weekday: number;
  readonly status: DoseStatus;
  /** When the door first moved, unix milliseconds, of a dose taken or late. */
  readonly at_ms?: number;
  /** Why it is unknown. */
  readonly reason?: string;
}

/** A door that is not the day's, opened outside a reload. */
interface OtherDoor {
  readonly at_ms: number;
  readonly door: number;
}

interface DoorLeftOpen {
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
  const dose = (status: DoseStatus, more: Pick<Dose, "at_ms" | "reason"> = {}): Dose => {
    return { date, weekday, status, ...more };
  };
  const taken = first(quiet, day);
  if (taken !== undefined) return dose("taken", { at_ms: taken });
  const late = first(quiet, night);
  if (late !== undefined) return dose("late", { at_ms: late });
  if (first(filled, day) !== undefined)
    return dose("unknown", { reason: "the door moved while the box was filled" });
  const isOpen = now_ms < night.to_ms;
  // What lasts until now may still be told: by a box that is asked later, or by a home that sends it to central.
  const isLost = ({ to_ms }: TimeSpan) => !isOpen || to_ms < now_ms;
  if (unknown.some((one) => overlap(one, day) && isLost(one)))
    return dose("unknown", { reason: "not all of the day was observed" });
  return dose(isOpen ? "due" : "missed");
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

/** A pill box's doors from this moment on: bit p is set while door p is open. Unix milliseconds. */
export interface DoorState {
  readonly stamp_ms: number;
  readonly event: number;
}

/** One door that went up or down. */
interface DoorChange {
  readonly at_ms: number;
  readonly door: number;
  readonly opened: boolean;
}

/** A door that stood open: the end is absent while it still does, the start where nobody saw it open. */
interface Opening {
  readonly door: number;
  readonly opened_ms?: number;
  readonly closed_ms?: number;
}

/**
 * The doors that changed from each state to the next, in order of time. `before` is the state that held before
 * the first one; a box whose past isn't known is taken to have been closed.
 */
function doorChanges(states: readonly DoorState[], before = 0): DoorChange[] {
  const changes: DoorChange[] = [];
  let open = before;
  for (const { stamp_ms: at_ms, event } of inOrder(states)) {
    const differing = (open ^ event) & allDoors;
    open = event;
    for (let door = 0; door < doorCount; door++)
      if ((differing >> door) & 1) changes.push({ at_ms, door, opened: ((open >> door) & 1) === 1 });
  }
  return changes;
}

/**
 * When the box was being filled again: more than 6 doors opened or closed within ten minutes, as the interface's
 * own guidance has it. Such stretches that overlap are one.
 */
export function reloads(changes: readonly DoorChange[]): TimeSpan[] {
  const spans: TimeSpan[] = [];
  for (let last = reload_changes_max; last < changes.length; last++) {
    const from_ms = changes[last - reload_changes_max]?.at_ms ?? 0;
    const to_ms = changes[last]?.at_ms ?? 0;
    // The end of a span is not in it, and the last change of a reload is.
    if (to_ms - from_ms <= reload_span_ms) spans.push({ from_ms, to_ms: to_ms + 1 });
  }
  return joined(spans);
}

/** Each stay of a door in the open, in the order in which they began; `before` as in `doorChanges`. */
export function openings(changes: readonly DoorChange[], before = 0): Opening[] {
  const done: Opening[] = [];
  const open = new Map<number, Opening>();
  for (let door = 0; door < doorCount; door++) if ((before >> door) & 1) open.set(door, { door });
  for (const { at_ms, door, opened } of changes) {
    if (opened) open.set(door, { door, opened_ms: at_ms });
    else {
      done.push({ ...(open.get(door) ?? { door }), closed_ms: at_ms });
      open.delete(door);
    }
  }
  return [...done, ...open.values()].sort(
    (one, other) => (one.opened_ms ?? -Infinity) - (other.opened_ms ?? -Infinity),
  );
}

function inOrder(states: readonly DoorState[]): readonly DoorState[] {
  return states.toSorted((one, other) => one.stamp_ms - other.stamp_ms);
}

const doorCount = 7;
const allDoors = 2 ** doorCount - 1;
/** This many changes are still somebody who takes pills. */
const reload_changes_max = 6;
const reload_span_ms = 10 * 60_000;
