import { day_ms } from "../../src/base/time.ts";

/** How far the clocks of a time zone are ahead of UTC at an instant, milliseconds. */
function ahead_ms(zone: string, at_ms: number): number {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  }).formatToParts(at_ms);
  const part = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((one) => one.type === type)?.value);
  const [year, month, day] = [part("year"), part("month"), part("day")];
  const shown_ms = Date.UTC(year, month - 1, day, part("hour"), part("minute"), part("second"));
  return shown_ms - (at_ms - (((at_ms % 1000) + 1000) % 1000));
}

/** The date and time of the zone at an instant, as unix milliseconds of that date and time in UTC. */
export function shownIn(zone: string, at_ms: number): number {
  return at_ms + ahead_ms(zone, at_ms);
}

/** The instant at which a clock of the zone showed this; of an hour that came twice, the first. */
export function instantOf(zone: string, shown_ms: number): number {
  // A change of the clocks is never larger than a day, so that one of these two is on the right side of it.
  const candidates = [-day_ms, day_ms].map((shift) => shown_ms - ahead_ms(zone, shown_ms + shift));
  const right = candidates.filter((at_ms) => shownIn(zone, at_ms) === shown_ms);
  return Math.min(...(right.length > 0 ? right : candidates));
}

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
