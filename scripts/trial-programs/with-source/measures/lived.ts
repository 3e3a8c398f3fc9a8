import { type TimeSpan, timeOfDate_ms } from "../../../../src/base/time.ts";
import { zonestatus } from "../../../../src/demo/devices.ts";
import { awayOn, livedDay } from "../../../../src/demo/history.ts";
import { alongHall, type FlatPlace, type TimeSpent } from "../../../../src/demo/household.ts";
import { brokenDoorOn } from "../../../../src/demo/outages.ts";
import type { SimulatedMonth } from "./simulated-month.ts";

/** Names that the measures have for the rooms of the flat. */
export const rooms = {
  bedroom: "bedroom",
  bathroom: "bathroom",
  kitchen: "kitchen",
  living: "living room",
} as const;

/** Stays without those in the same place before and after, whether she slept or not. */
export function byPlace(stays: readonly TimeSpent[]): TimeSpent[] {
  const whole: TimeSpent[] = [];
  for (const stay of stays) {
    const last = whole.at(-1);
    if (last?.place === stay.place) whole[whole.length - 1] = { ...last, to_ms: stay.to_ms };
    else whole.push(stay);
  }
  return whole;
}

/** Ways from room to room, of which the hall is one. Who comes home or leaves goes from or to no room. */
export function changesOf(stays: readonly TimeSpent[]): { at_ms: number; from: string; to: string }[] {
  return stays.flatMap((stay, at) => {
    const before = stays[at - 1];
    if (before === undefined) return [];
    const [from, to, at_ms] = [roomOf(before.place), roomOf(stay.place), stay.from_ms];
    if (!alongHall(before.place, stay.place))
      return from === undefined || to === undefined ? [] : [{ at_ms, from, to }];
    return [
      ...(from === undefined ? [] : [{ at_ms, from, to: "hall" }]),
      ...(to === undefined ? [] : [{ at_ms, from: "hall", to }]),
    ];
  });
}

function roomOf(place: FlatPlace): string | undefined {
  return place === "away" ? undefined : rooms[place];
}

/** Minutes of stays within a span. */
export function lasting(stays: readonly TimeSpan[], { from_ms, to_ms }: TimeSpan): number {
  const ms = stays.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.to_ms, to_ms) - Math.max(one.from_ms, from_ms)),
    0,
  );
  return ms / 60_000;
}

/** The night before a day: from an hour of the evening to one of the morning. */
export function nightBefore(day: string, { zone }: SimulatedMonth, [from_h, to_h] = [20, 10]): TimeSpan {
  const before = Temporal.PlainDate.from(day).subtract({ days: 1 }).toString();
  return {
    from_ms: timeOfDate_ms(zone, before, from_h * 60),
    to_ms: timeOfDate_ms(zone, day, to_h * 60),
  };
}

/** Counts the minutes of a span in which a sensor of the flat saw something, whether or not anybody heard it. */
export function activeMinutes({ lived, outages, seed }: SimulatedMonth): (span: TimeSpan) => number {
  const never = { from_ms: 0, to_ms: 0 };
  const whole = { ...outages, powerCut: never, broken_ms: Number.POSITIVE_INFINITY };
  const alarms: readonly number[] = Object.values(zonestatus).map(({ alarm }) => alarm);
  const active = new Set(
    [...lived.values()].flatMap(({ events, midnight_ms }) => [
      ...events.flatMap(({ at_ms, zonestatus: status }) =>
        alarms.includes(status) ? [minuteOf(at_ms)] : [],
      ),
      ...brokenDoorOn(midnight_ms, seed, whole, awayOn(livedDay(seed, midnight_ms))).flatMap(
        ({ stamp_ms, values }) => (alarms.includes(Number(values["event"])) ? [minuteOf(stamp_ms)] : []),
      ),
    ]),
  );
  return ({ from_ms, to_ms }) =>
    [...active].filter((minute) => minute >= minuteOf(from_ms) && minute < minuteOf(to_ms)).length;
}

function minuteOf(at_ms: number): number {
  return Math.floor(at_ms / 60_000);
}
