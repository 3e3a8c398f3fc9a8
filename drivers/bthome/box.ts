import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type ClockQuality, clockQuality } from "../../src/base/clock.ts";
import { parseIfWhole } from "../../src/base/disk/safe-files.ts";
import { type Arrival, type BoxClock, between, delayOf, withStamp } from "./box-clock.ts";
import type { Sighting } from "./sighting.ts";

const stateSchema = Type.Object({
  /** Absent where the last event is not recorded. */
  doors: Type.Optional(Type.Integer()),
  count: Type.Optional(Type.Integer()),
  packet: Type.Optional(Type.Integer()),
  battery_percent: Type.Optional(Type.Integer()),
  counter: Type.Optional(Type.Integer()),
  /** When it was last heard, on every clock there is. */
  heard: Type.Object({
    boot: Type.String(),
    monotonic_ms: Type.Number(),
    unix_ms: Type.Number(),
    synchronised: Type.Boolean(),
  }),
  clock: Type.Optional(
    Type.Object({
      boot: Type.String(),
      monotonic_ms: Type.Number(),
      unix_ms: Type.Number(),
      synchronised: Type.Boolean(),
      least_ms: Type.Number(),
      grown_ms: Type.Optional(Type.Number()),
    }),
  ),
});

/** State of a box, kept from one broadcast to the next. */
export type BoxState = Static<typeof stateSchema>;

/** The result of a broadcast, given all that came before it. */
export interface Judgement {
  /** Undefined for a broadcast that an earlier one has overtaken: it changes nothing. */
  readonly state?: BoxState;
  readonly event?: {
    readonly doors: number;
    /** How long before the arrival it happened. */
    readonly age_ms: number;
    readonly clock: ClockQuality;
    /** By how much more it may be older, where nobody can say. */
    readonly unsure_ms?: number;
    /** Events before this one whose broadcasts were not heard. */
    readonly lost: number;
  };
}

/**
 * One event for each new count, however often and late it is broadcast; a box without a count is told by its lid.
 * The first broadcast ever heard of a box is an event too, unless it says that nothing has happened yet.
 */
export function judge(state: BoxState | undefined, seen: Sighting, arrival: Arrival): Judgement {
  if (state !== undefined && isOvertaken(state, seen, arrival)) return {};
  const change = changeOf(state, seen);
  const clock = change.restarted ? undefined : state?.clock;
  if (!change.event) return { state: stateOf(state, seen, arrival, afterRepeat(clock, seen, arrival)) };
  const dated = dateOf({ state, clock, seen, arrival });
  return {
    state: stateOf(state, seen, arrival, dated.clock),
    event: {
      ...{ doors: seen.doors, age_ms: dated.age_ms, clock: dated.quality, lost: change.lost },
      ...(dated.unsure_ms === undefined ? {} : { unsure_ms: dated.unsure_ms }),
    },
  };
}

/** A state without what the last event was and when: how far the box has counted. */
export function bareState({ count, packet, counter, battery_percent }: BoxState): BoxState {
  const unheard = { boot: "", monotonic_ms: 0, unix_ms: 0, synchronised: false };
  return { count, packet, counter, battery_percent, heard: unheard };
}

/** Of what `JSON.stringify` made of a state; a damaged text is a box never heard. */
export function parseState(text: string | undefined): BoxState | undefined {
  const value = parseIfWhole(text);
  return Value.Check(stateSchema, value) ? value : undefined;
}

interface Change {
  readonly event: boolean;
  readonly lost: number;
  /** The box lost its power: its count and clock began again. */
  readonly restarted: boolean;
}

function changeOf(state: BoxState | undefined, seen: Sighting): Change {
  const { doors, count } = seen;
  if (count === undefined) return { event: state?.doors !== doors, lost: 0, restarted: false };
  // Events counted before the box was first heard may have happened elsewhere: they are not lost here.
  if (state?.count === undefined) return { event: count > 0, lost: 0, restarted: false };
  const ahead = (count - state.count + counts) % counts;
  if (ahead === 0 && doors === (state.doors ?? doors)) return { event: false, lost: 0, restarted: false };
  const freshBattery = hasFreshBattery(state, seen);
  if (ahead === 0) return { event: true, lost: 0, restarted: freshBattery };
  const wrapped = ahead <= wrap_lost_most && !freshBattery;
  if (count > state.count || wrapped) return { event: true, lost: ahead - 1, restarted: false };
  return { event: count > 0, lost: Math.max(0, count - 1), restarted: true };
}

/**
 * A repeat that was held up on its way behind a newer broadcast: packet number and count went back a little, just now,
 * and the battery is the same.
 */
function isOvertaken(state: BoxState, seen: Sighting, arrival: Arrival): boolean {
  if (seen.packet === undefined || state.packet === undefined) return false;
  const behind = (state.packet - seen.packet + packets) % packets;
  const countBehind =
    seen.count === undefined || state.count === undefined
      ? behind
      : (state.count - seen.count + counts) % counts;
  const little = [behind, countBehind].every((number) => number > 0 && number <= overtaken_most);
  const elapsed_ms = between(state.heard, arrival) ?? Infinity;
  return little && elapsed_ms <= overtaken_most_ms && !hasFreshBattery(state, seen);
}

function hasFreshBattery(state: BoxState, { battery_percent: now = 0 }: Sighting): boolean {
  return now - (state.battery_percent ?? now) >= fresh_battery_percent;
}

/**
 * A repeat or a heartbeat tells the stamp of its event again: however old that is, the box's clock was not set. Of a clock with which
 * nothing can be compared it teaches nothing.
 */
function afterRepeat(
  clock: BoxClock | undefined,
  { stamp_s }: Sighting,
  arrival: Arrival,
): BoxClock | undefined {
  const isKnown = stamp_s !== undefined && delayOf(clock, stamp_s, arrival) !== undefined;
  return isKnown ? withStamp(clock, stamp_s, arrival) : clock;
}

interface Dated {
  readonly age_ms: number;
  readonly quality: ClockQuality;
  readonly unsure_ms?: number;
  readonly clock: BoxClock | undefined;
}

/**
 * When it happened. The arrival is right to milliseconds for a broadcast that was heard when it was sent; the box's
 * stamp, in whole seconds of a clock that may be off, is used only where it shows that the broadcast is older: the
 * change itself was not heard, only a repeat or the next heartbeat. It cannot be older than the broadcast before it.
 */
function dateOf(options: {
  state: BoxState | undefined;
  clock: BoxClock | undefined;
  seen: Sighting;
  arrival: Arrival;
}): Dated {
  const { state, clock, seen, arrival } = options;
  const { moment } = arrival;
  if (seen.stamp_s === undefined) return { age_ms: 0, quality: moment.quality, clock };
  const fresh = { age_ms: 0, quality: moment.quality };
  const synchronised = moment.quality === clockQuality.synchronised;
  const delay = delayOf(clock, seen.stamp_s, arrival);
  if (delay === undefined) {
    // Nothing to compare with: a stamp that a heartbeat may carry is believed, any other is a clock that is off.
    const mayBeOld = mayBeRepeat(state, seen);
    const age_ms = moment.unix_ms - seen.stamp_s * 1000;
    const believed = synchronised && mayBeOld && age_ms > fresh_most_ms && age_ms <= heartbeat_most_ms;
    // An old stamp would make the next ones look fresh.
    const learnt = state === undefined || !mayBeOld ? withStamp(undefined, seen.stamp_s, arrival) : clock;
    if (believed) return { age_ms, quality: clockQuality.deviceUnmeasured, clock: learnt };
    const isUnsure = synchronised && mayBeOld && state !== undefined;
    const unsure = { quality: clockQuality.bounded, unsure_ms: heartbeat_most_ms };
    return { ...fresh, ...(isUnsure ? unsure : {}), clock: learnt };
  }
  const kept = withStamp(clock, seen.stamp_s, arrival);
  if (delay.atLeast_ms <= fresh_most_ms) return { ...fresh, clock: kept };
  const bound_ms = (state && between(state.heard, arrival)) ?? heartbeat_most_ms;
  // Older than the broadcast before it: the box's clock was set back meanwhile.
  const setBack = delay.atLeast_ms > bound_ms + fresh_most_ms;
  if (setBack) return { ...fresh, clock: withStamp(undefined, seen.stamp_s, arrival) };
  const age_ms = Math.min(delay.likely_ms, bound_ms);
  return { age_ms, quality: synchronised ? clockQuality.device : moment.quality, clock: kept };
}

/** Whether an event may have been broadcast before: not where each broadcast since the last one heard was of an event of its own. Without packet numbers only the first may. */
function mayBeRepeat(state: BoxState | undefined, seen: Sighting): boolean {
  if (state === undefined) return true;
  if (state.packet === undefined || seen.packet === undefined) return false;
  if (state.count === undefined || seen.count === undefined) return false;
  const broadcasts = (seen.packet - state.packet + packets) % packets;
  return broadcasts !== (seen.count - state.count + counts) % counts;
}

function stateOf(
  before: BoxState | undefined,
  { stamp_s: _, ...seen }: Sighting,
  { moment, boot }: Arrival,
  clock: BoxClock | undefined,
): BoxState {
  return {
    ...(before?.battery_percent === undefined ? {} : { battery_percent: before.battery_percent }),
    ...seen,
    heard: {
      boot,
      monotonic_ms: moment.monotonic_ms,
      unix_ms: moment.unix_ms,
      synchronised: moment.quality === clockQuality.synchronised,
    },
    ...(clock === undefined ? {} : { clock }),
  };
}

const counts = 65_536;
const packets = 256;
/** A count that went back by wrapping has lost no more than this: a year of a box used fourteen times a day. */
const wrap_lost_most = 5_000;
/** A battery does not recover by itself by this much. */
const fresh_battery_percent = 15;
const overtaken_most = 32;
const overtaken_most_ms = 60_000;
/** A box tells whole seconds, and is heard within the first of its repeats. */
const fresh_most_ms = 2_000;
/** Every 4 h, and the repeats. */
const heartbeat_most_ms = (4 * 3600 + 300) * 1000;
