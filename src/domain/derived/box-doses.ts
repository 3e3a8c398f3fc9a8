import { isIn, type TimeSpan, timeOfDate_ms } from "../../base/time.ts";
import { type DoorState, type Dose, type DoseFindings, type DoseStatus, dosesOf } from "./doses.ts";
import {
  type DerivedRow,
  daysSince,
  type HomeData,
  type HomeItem,
  itemsOf,
  minutes,
  observedShare,
  seconds,
  unobservedIn,
} from "./home-data.ts";

/** The dose of each day and pill box. */
export function doses(home: HomeData): DerivedRow[] {
  return itemsOf(home, "pillboxes").flatMap((box) => {
    const days = daysSince(home, [box]);
    const found = boxFindings(home, box);
    return days.map((day) => {
      const dose = found.doses.find(({ date }) => date === day.date);
      const { status = "unknown", at_ms, reason = null } = dose ?? {};
      const at = at_ms === undefined ? null : seconds(at_ms);
      const due_ms =
        box.due === undefined ? undefined : timeOfDate_ms(home.zone, day.date, minuteOf(box.due));
      const off_min = at_ms === undefined || due_ms === undefined ? null : minutes(at_ms - due_ms);
      const values = { itemname: box.itemname, status, at, prescribed: box.due ?? null, off_min, reason };
      return { at_ms: day.from_ms, day: day.date, observed: observedShare([box], day), values };
    });
  });
}

/** Minutes since midnight of an hour such as `08:30`. */
function minuteOf(due: string): number {
  const [hours = 0, minutes = 0] = due.split(":").map(Number);
  return hours * 60 + minutes;
}

/** Doses of a box, and whatever else its doors tell. Whether it has one lid for all days is told by all events that are here. */
export function boxFindings({ zone, days, now_ms }: HomeData, box: HomeItem): DoseFindings {
  const events = box.readings.pillbox_events ?? [];
  const states = events.map(([stamp_ms, event]): DoorState => ({ stamp_ms, event: Number(event) }));
  const [from_ms, to_ms] = [days[0]?.from_ms ?? now_ms, days.at(-1)?.to_ms ?? now_ms];
  const span: TimeSpan = { from_ms: Math.min(from_ms, states[0]?.stamp_ms ?? from_ms), to_ms };
  return dosesOf({ states, zone, span, unknown: unobservedIn(box, span, now_ms), now_ms });
}

/** The same, and of what a box tells only what reaches into a span: its rules look at the days before it too. */
export function boxFindingsIn(home: HomeData, box: HomeItem, span: TimeSpan): DoseFindings {
  const { reloads, otherDoors, leftOpen, ...found } = boxFindings(home, box);
  const reaches = ({ to_ms = home.now_ms }: { readonly to_ms?: number }) => to_ms > span.from_ms;
  return {
    ...found,
    reloads: reloads.filter(reaches),
    otherDoors: otherDoors.filter(({ at_ms }) => isIn(span, at_ms)),
    leftOpen: leftOpen.filter(reaches),
  };
}

/** Rows of `doses` of one box as doses of its days. */
export function dosesInRows(rows: readonly DerivedRow[]): Dose[] {
  return rows.map(({ day: date, values: { status, at = null, reason } }) => ({
    date,
    weekday: Temporal.PlainDate.from(date).dayOfWeek % 7,
    status: status as DoseStatus,
    ...(at !== null && { at_ms: Number(at) * 1_000 }),
    ...(typeof reason === "string" && { reason }),
  }));
}
