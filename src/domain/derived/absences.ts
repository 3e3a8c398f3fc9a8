import { isIn, joined, type TimeSpan } from "../../base/time.ts";
import {
  type DerivedRow,
  dayAt,
  daysSince,
  type HomeData,
  itemsOf,
  known,
  leastShare,
  minutes,
  observedShare,
  seconds,
  signsOf,
  within_ms,
} from "./home-data.ts";
import { frontDoors, seesPeople } from "./rooms.ts";

/**
 * Times when nobody was at home: between two openings of the front door no sign of anybody inside, for ten minutes at least. After Petersen, Austin, Kaye, Pavel and Hayes,
 * "Unobtrusive in-home detection of time spent out-of-home with applications to loneliness and physical activity", IEEE J. Biomed. Health Inform. 18 (2014) 1590–1596,
 * who combine the door with the silence of all motion sensors. A silence with one opening alone is somebody who rests.
 */
export function absencesOf(home: HomeData): TimeSpan[] {
  const openings = frontDoors(home)
    .flatMap((item) => signsOf(item, "opened"))
    .sort((one, other) => one - other);
  const inside = insideOf(home)
    .flatMap((item) => signsOf(item, "present", "opened"))
    .sort((one, other) => one - other);
  const found: TimeSpan[] = [];
  // Openings near a silence: from `first` on, before `end`. Both only grow.
  let [first, end] = [0, 0];
  for (const [index, from_ms] of inside.entries()) {
    const to_ms = inside[index + 1] ?? home.now_ms;
    if (to_ms - from_ms < absence_ms_min) continue;
    while ((openings[first] ?? Infinity) < from_ms - door_ms) first += 1;
    while ((openings[end] ?? Infinity) <= to_ms + door_ms) end += 1;
    const [out, back] = [openings[first], openings[end - 1]];
    if (out !== undefined && back !== undefined && back - out >= absence_ms_min)
      found.push({ from_ms: out, to_ms: back });
  }
  return found;
}

/** Sensors inside of the front door. */
function insideOf(home: HomeData): HomeData["items"] {
  return itemsOf(home, "wirelesssensors").filter(({ role }) => role !== "front door");
}

/** Sensors that have to be observed: the front door, and the sensors that see people. */
function witnesses(home: HomeData): HomeData["items"] {
  const seeing = insideOf(home).filter(seesPeople);
  const doors = frontDoors(home);
  return doors.length === 0 || seeing.length === 0 ? [] : [...doors, ...seeing];
}

/** The front doors are as a room of their own: without one of them nothing is known. */
function observedBy(all: HomeData["items"], span: TimeSpan): number {
  const doors = all.filter(({ role }) => role === "front door");
  const seeing = all.filter(({ role }) => role !== "front door");
  return Math.min(leastShare(seeing, span), ...doors.map((door) => observedShare([door], span)));
}

/** A row for each absence that began on one of the days. */
export function outings(home: HomeData): DerivedRow[] {
  const all = witnesses(home);
  if (all.length === 0) return [];
  return absencesOf(home).flatMap(({ from_ms, to_ms }) => {
    const day = dayAt(home.days, from_ms);
    if (day === undefined) return [];
    const observed = observedBy(all, { from_ms, to_ms });
    const values = { stop: seconds(to_ms), away_min: known(minutes(to_ms - from_ms), observed) };
    return [{ at_ms: from_ms, day: day.date, observed, values }];
  });
}

/** Absences of each day, and minutes away by them or by notes; 0 where all sensors were observed and nobody left. */
export function outOfHome(home: HomeData): DerivedRow[] {
  const all = witnesses(home);
  if (all.length === 0) return [];
  const absences = absencesOf(home);
  // Whoever comes in while the resident is in hospital makes no time at home of it.
  const away = joined([...absences, ...(home.away ?? [])]);
  return daysSince(home, all).map((day) => {
    const observed = observedBy(all, day);
    const begun = absences.filter(({ from_ms }) => isIn(day, from_ms)).length;
    const values = {
      outings: known(begun, observed),
      away_min: known(minutes(within_ms(away, day)), observed),
    };
    return { at_ms: day.from_ms, day: day.date, observed, values };
  });
}

/** A shorter silence says nothing: somebody may stand at the open door. */
const absence_ms_min = 10 * 60_000;
/** A sensor at the door sees who leaves after, or who comes before, the door tells that it opened. */
const door_ms = 2 * 60_000;
