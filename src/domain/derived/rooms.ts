import { hour_ms, isIn, type TimeSpan } from "../../base/time.ts";
import { isMovement } from "../event-words.ts";
import {
  type DerivedRow,
  dayAt,
  daysSince,
  type HomeData,
  type HomeItem,
  itemsOf,
  known,
  leastShare,
  minutes,
  observedShare,
  seconds,
  signsOf,
  within_ms,
} from "./home-data.ts";

/** A stay in a room, as its motion sensors tell it. */
export interface RoomVisit {
  readonly room: string;
  /** Its first sign of movement. */
  readonly from_ms: number;
  /** The first sign of somebody elsewhere; undefined where there was none yet. */
  readonly to_ms: number | undefined;
  /** The room of that sign; null where it was the front door. */
  readonly next: string | null;
  /** Signs of movement in it. */
  readonly signs: number;
}

/** Sensors that see people, and whose room is known. */
export function roomSensors({ items }: HomeData): readonly (HomeItem & { room: string })[] {
  return items.filter((item): item is HomeItem & { room: string } => item.room !== null && seesPeople(item));
}

/** Whether it is a sensor of movement, by its subtype, or by what it told where it has none. */
export function seesPeople(item: HomeItem): boolean {
  if (item.kind !== "wirelesssensors" || item.subtype === "door") return false;
  return isMovement(item.subtype) || signsOf(item, "present").length > 0;
}

/**
 * Stays in rooms, in order. A stay begins with the first movement in a room, and ends with the first sign elsewhere: movement in another room, or the
 * front door. Somebody who sits or sleeps is still there, however long no movement is seen, so that silence alone ends nothing.
 */
export function visitsOf(home: HomeData): readonly RoomVisit[] {
  const known = visitsKnown.get(home) ?? visitsIn(home);
  visitsKnown.set(home, known);
  return known;
}

/** By home: most measures of rooms begin with its visits. */
const visitsKnown = new WeakMap<HomeData, readonly RoomVisit[]>();

function visitsIn(home: HomeData): RoomVisit[] {
  const signs = [
    ...roomSensors(home).flatMap((item) =>
      signsOf(item, "present").map((at_ms) => ({ at_ms, room: item.room as string | null })),
    ),
    ...frontDoors(home).flatMap((item) => signsOf(item, "opened").map((at_ms) => ({ at_ms, room: null }))),
  ].sort((one, other) => one.at_ms - other.at_ms || (one.room ?? "").localeCompare(other.room ?? ""));
  const visits: RoomVisit[] = [];
  let visit: RoomVisit | undefined;
  for (const { at_ms, room } of signs) {
    if (visit !== undefined && visit.room === room) visit = { ...visit, signs: visit.signs + 1 };
    else {
      if (visit !== undefined) visits.push({ ...visit, to_ms: at_ms, next: room });
      visit = room === null ? undefined : { room, from_ms: at_ms, to_ms: undefined, next: null, signs: 1 };
    }
  }
  return visit === undefined ? visits : [...visits, visit];
}

export function frontDoors(home: HomeData): readonly HomeItem[] {
  return itemsOf(home, "wirelesssensors").filter(({ role }) => role === "front door");
}

/** A row for each stay that began on one of the days. */
export function roomVisits(home: HomeData): DerivedRow[] {
  const sensors = roomSensors(home);
  return visitsOf(home).flatMap(({ room, from_ms, to_ms, signs }) => {
    const day = dayAt(home.days, from_ms);
    if (day === undefined) return [];
    const observed = leastShare(sensors, { from_ms, to_ms: to_ms ?? home.now_ms });
    const dwell = to_ms === undefined ? null : known(minutes(to_ms - from_ms), observed);
    const values = { room, stop: to_ms === undefined ? null : seconds(to_ms), dwell_min: dwell, signs };
    return [{ at_ms: from_ms, day: day.date, observed, values }];
  });
}

/** Visits and minutes of each room on each day. A day without visits is in it: 0 where its sensors were observed. */
export function roomDays(home: HomeData): DerivedRow[] {
  const sensors = roomSensors(home);
  const visits = visitsOf(home);
  const rooms = roomsOf(sensors).map((room) => ({
    room,
    watching: sensors.filter((sensor) => sensor.room === room),
    stays: visits
      .filter((visit) => visit.room === room)
      .map(({ from_ms, to_ms }): TimeSpan => ({ from_ms, to_ms: to_ms ?? home.now_ms })),
  }));
  return daysSince(home, sensors).flatMap((day) => {
    const all = leastShare(sensors, day);
    return rooms.map(({ room, watching, stays }) => {
      const observed = observedShare(watching, day);
      const begun = stays.filter(({ from_ms }) => isIn(day, from_ms));
      const values = {
        room,
        visits: known(begun.length, observed),
        // How long somebody stayed is known by the other rooms too.
        minutes: known(minutes(within_ms(stays, day)), Math.min(observed, all)),
      };
      return { at_ms: day.from_ms, day: day.date, observed, values };
    });
  });
}

/** How often somebody went from one room straight to another, for each pair of rooms and day. */
export function transitions(home: HomeData): DerivedRow[] {
  const sensors = roomSensors(home);
  const changes = visitsOf(home).filter(({ next }) => next !== null);
  const rooms = roomsOf(sensors);
  return daysSince(home, sensors).flatMap((day) => {
    const own = changes.filter(({ to_ms }) => to_ms !== undefined && isIn(day, to_ms));
    return rooms.flatMap((from) =>
      rooms
        .filter((to) => to !== from)
        .map((to) => {
          const both = sensors.filter(({ room }) => room === from || room === to);
          const observed = leastShare(both, day);
          const count = own.filter(({ room, next }) => room === from && next === to).length;
          const values = { fromroom: from, toroom: to, transitions: known(count, observed) };
          return { at_ms: day.from_ms, day: day.date, observed, values };
        }),
    );
  });
}

/** Active minutes of each hour: minutes with a movement or an opening anywhere in the home. */
export function activity(home: HomeData): DerivedRow[] {
  const all = itemsOf(home, "wirelesssensors");
  const moving = all.filter(seesPeople);
  const active = new Set(
    all.flatMap((item) => signsOf(item, "present", "opened").map((at_ms) => Math.floor(at_ms / 60_000))),
  );
  return daysSince(home, moving).flatMap((day) =>
    hoursOf(day)
      .filter(({ from_ms }) => from_ms <= home.now_ms)
      .map((span, hour) => {
        const observed = leastShare(moving, span);
        let count = 0;
        for (let minute = span.from_ms / 60_000; minute < span.to_ms / 60_000; minute++)
          if (active.has(minute)) count++;
        const values = { hour, active_min: known(count, observed) };
        return { at_ms: span.from_ms, day: day.date, observed, values };
      }),
  );
}

function roomsOf(sensors: readonly { readonly room: string }[]): string[] {
  return [...new Set(sensors.map(({ room }) => room))].sort().slice(0, rooms_max);
}

function hoursOf({ from_ms, to_ms }: TimeSpan): TimeSpan[] {
  const count = Math.ceil((to_ms - from_ms) / hour_ms);
  return Array.from({ length: count }, (_, hour) => ({
    from_ms: from_ms + hour * hour_ms,
    to_ms: Math.min(to_ms, from_ms + (hour + 1) * hour_ms),
  }));
}

/** Pairs of rooms grow with the square. */
const rooms_max = 16;
