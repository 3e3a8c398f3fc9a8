import { clockQuality } from "../clock.ts";
import { day_ms, hour_ms } from "../durations.ts";
import type { Reading } from "../reading.ts";
import { boxes, type MealName, readingOf } from "./devices.ts";
import type { LivedDay } from "./household.ts";
import { during, type HomeOutages } from "./outages.ts";
import type { Random } from "./random.ts";

/** A box's doors from `at_ms` on: bit p is door p. */
export interface Doors {
  readonly at_ms: number;
  readonly doors: number;
}

/** Door states of a meal's box on a day: the dose, sometimes a mistake, and on Saturdays the refill for the week. */
export function doorsOn(day: LivedDay, meal: MealName, random: Random): Doors[] {
  const states: Doors[] = [];
  const open = (door: number, at_ms: number, for_ms: number) =>
    states.push(
      { at_ms: Math.round(at_ms), doors: 1 << door },
      { at_ms: Math.round(at_ms + for_ms), doors: 0 },
    );
  const dose_ms = day.doses[meal];
  const [slip, forgotten] = [random.chance(0.03), random.chance(0.04)];
  if (dose_ms !== undefined) {
    // The neighbour's door first, closed at once.
    if (slip) open((day.weekday + 1) % 7, dose_ms - 9_000, 4_000);
    const evening_ms = random.between(1.5, 2.2) * hour_ms;
    open(day.weekday, dose_ms, forgotten ? evening_ms : random.between(6_000, 35_000));
  }
  if (day.visit !== undefined && day.weekday === 6) {
    let at_ms = day.visit.from_ms + (meal === "breakfast" ? 40 : 47) * 60_000;
    for (let door = 0; door < 7; door++) {
      const for_ms = random.between(9_000, 28_000);
      open(door, at_ms, for_ms);
      at_ms += for_ms + random.between(3_000, 12_000);
    }
  }
  return states.sort((one, other) => one.at_ms - other.at_ms);
}

/** Memory of a polled box, kept from poll to poll. */
export class PolledBox {
  #eventcount = events_before;
  #batteryseconds = 5_460;

  /** Events with the box's clock corrected, and the hourly polls; the box itself goes on through a power cut. */
  readings(day: LivedDay, random: Random, { powerCut }: HomeOutages): Reading[] {
    const box = boxes.breakfast;
    const doors = doorsOn(day, "breakfast", random);
    const events = doors.map(({ at_ms, doors: event }): Reading => {
      const offset_ms = offsetAt_ms(at_ms);
      const deviceClock = { stamp_ms: at_ms - offset_ms, offset_ms };
      const reading = readingOf(box, "pillbox_events", at_ms, { event });
      return { ...reading, clock: clockQuality.device, deviceClock };
    });
    const polls: Reading[] = [];
    let told = 0;
    for (let hour = 0; hour < 24; hour++) {
      const at_ms = day.midnight_ms + hour * hour_ms + 300_000 + Math.round(random.between(0, 2_500));
      const voltage = Math.round(random.between(4_985, 5_030));
      while ((doors[told]?.at_ms ?? Infinity) <= at_ms) told++;
      if (during(at_ms, powerCut)) {
        this.#batteryseconds += 3_600;
        continue;
      }
      const stamp_s = Math.floor((at_ms - offsetAt_ms(at_ms)) / 1000);
      const window_s = (Math.floor(stamp_s / broadcast_every_s) + 1) * broadcast_every_s;
      const status = {
        devicestamp: stamp_s,
        voltage,
        powersource: "external_power",
        eventcount: this.#eventcount + told,
        batteryseconds: String(this.#batteryseconds),
        firmwarerevsion: "1.4.2",
        macaddress: box.address,
        nextpanicstart: window_s,
        nextpanicstop: window_s + broadcast_for_s,
      };
      polls.push(readingOf(box, "pillbox_status", at_ms, status));
    }
    this.#eventcount += doors.length;
    return [...events, ...polls];
  }
}

/** Events of the broadcasting box; broadcasts during a power cut of the gateway are lost. */
export function broadcastReadings(day: LivedDay, random: Random, { powerCut }: HomeOutages): Reading[] {
  return doorsOn(day, "supper", random)
    .filter(({ at_ms }) => !during(at_ms, powerCut))
    .map(({ at_ms, doors: event }) => readingOf(boxes.supper, "pillbox_events", at_ms, { event }));
}

/** The polled box's clock is slow, and loses a second and a half a day; it is set right every thirty days. */
export function offsetAt_ms(at_ms: number): number {
  return 2_000 + Math.round(((at_ms % (30 * day_ms)) / day_ms) * 1_500);
}
/** Events that the box had counted before it came into this home. */
export const events_before = 412;
export const broadcast_every_s = 8 * 3_600;
export const broadcast_for_s = 600;
