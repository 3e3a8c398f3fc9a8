import type { TimeSpan } from "../../base/time.ts";
import { type DoorState, type DoseFindings, type DoseStatus, dosesOf } from "./doses.ts";
import {
  type DerivedRow,
  daysSince,
  type HomeData,
  type HomeItem,
  itemsOf,
  observedShare,
  seconds,
  unobservedIn,
} from "./home-data.ts";

/** The dose of each day and pill box. */
export function doses(home: HomeData): DerivedRow[] {
  return itemsOf(home, "pillboxes").flatMap((box) => {
    const days = daysSince(home, [box]);
    const [first, last] = [days[0], days.at(-1)];
    if (first === undefined || last === undefined) return [];
    const span = { from_ms: first.from_ms, to_ms: last.to_ms };
    const found = findingsOf(home, box, span);
    return days.map((day) => {
      const dose = found.doses.find(({ date }) => date === day.date);
      const { status, reason } = told[dose?.status ?? "unknown"];
      const values = {
        itemname: box.itemname,
        status,
        at: dose?.at_ms === undefined ? null : seconds(dose.at_ms),
        reason,
      };
      return { at_ms: day.from_ms, day: day.date, observed: observedShare([box], day), values };
    });
  });
}

/** The word of the table for each status of a dose: one of four, and `due` while it can still be taken. */
const told: Readonly<Record<DoseStatus, { status: DerivedStatus; reason: string | null }>> = {
  taken: { status: "taken", reason: null },
  late: { status: "late", reason: null },
  missed: { status: "missed", reason: null },
  due: { status: "due", reason: null },
  reload: { status: "unknown", reason: "the door moved while the box was filled" },
  unknown: { status: "unknown", reason: "not all of the day was observed" },
};

export const derivedStatuses = ["taken", "late", "missed", "unknown", "due"] as const;
type DerivedStatus = (typeof derivedStatuses)[number];

/** Doses of a box in a span. Whether it has one lid for all days is told by all events that are here. */
function findingsOf({ zone, now_ms }: HomeData, box: HomeItem, span: TimeSpan): DoseFindings {
  const events = box.readings.pillbox_events ?? [];
  const states = events.map(([stamp_ms, event]): DoorState => ({ stamp_ms, event: Number(event) }));
  const first_ms = Math.min(span.from_ms, states[0]?.stamp_ms ?? span.from_ms);
  const whole = { from_ms: first_ms, to_ms: span.to_ms };
  return dosesOf({ states, zone, span: whole, unknown: unobservedIn(box, whole, now_ms), now_ms });
}
