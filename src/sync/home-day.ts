import { day_ms } from "../durations.ts";

/** The day of the calendar of a time zone (an IANA name) at a moment, as days since 1970; of a zone that is unknown here that of UTC. */
export function homeDay(zone: string, at_ms: number): number {
  const moment = Temporal.Instant.fromEpochMilliseconds(Math.floor(at_ms));
  try {
    const { year, month, day } = moment.toZonedDateTimeISO(zone);
    return Date.UTC(year, month - 1, day) / day_ms;
  } catch (thrown) {
    if (!(thrown instanceof RangeError)) throw thrown;
    return Math.floor(at_ms / day_ms);
  }
}
