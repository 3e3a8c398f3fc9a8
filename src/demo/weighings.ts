import { day_ms, hour_ms } from "../durations.ts";
import type { Reading } from "../reading.ts";
import { readingOf, scale } from "./devices.ts";
import type { LivedDay } from "./household.ts";
import type { Random } from "./random.ts";

/**
 * Readings of the bathroom scale: the person's weight on most mornings, with body composition where the feet were bare
 * and the heart rate where the scale knew her, and sometimes a visitor's weight at the weekend.
 */
export function weighingsOn(day: LivedDay, random: Random): Reading[] {
  const readings: Reading[] = [];
  const number = dayNumber(day.midnight_ms);
  const batteryLevel = batteryOn(number);
  const weigh = (at_ms: number, values: Reading["values"]) =>
    readings.push(readingOf(scale, "scale_weights", at_ms, { ...values, batteryLevel }));
  const woken = day.stays.findIndex(({ asleep, to_ms }) => asleep && to_ms > day.midnight_ms + 6 * hour_ms);
  const bath = day.stays.find(({ place }, index) => index > woken && place === "bathroom");
  const [weighs, barefoot, known] = [random.chance(0.78), random.chance(0.85), random.chance(0.93)];
  if (bath !== undefined && weighs) {
    const at_ms = bath.from_ms + random.between(120_000, 400_000);
    const weight = Math.round(weightOn(number) + random.between(-220, 220));
    weigh(at_ms, { weight, ...(barefoot && known ? composition(weight, random) : nothing) });
    const heartRate = Math.round(66 + (1 - day.restedness) * 9 + random.between(-4, 4));
    if (known) readings.push(readingOf(scale, "scale_heart", at_ms + 8_000, { heartRate }));
  }
  if (day.visit !== undefined && day.weekday === 6 && random.chance(0.35)) {
    const weight = Math.round(random.pick([23_400, 81_900]) + random.between(-400, 400));
    weigh(random.between(day.visit.from_ms, day.visit.to_ms), { weight, ...nothing });
  }
  return readings;
}

/** The number of the day by which her weight and the battery change. */
export function dayNumber(unix_ms: number): number {
  return Math.round(unix_ms / day_ms);
}

/** Per cent. */
export function batteryOn(day: number): number {
  return 96 - Math.floor((day % 360) / 4);
}

/** Grams of her whole weight and its parts on a day. */
export function composedWeight(day: number, random: Random) {
  const weight = Math.round(weightOn(day) + random.between(-220, 220));
  return { weight, ...composition(weight, random) };
}

/** Grams on a day, by its number: a slow loss that comes and goes, as appetite does. */
function weightOn(day: number): number {
  return 67_800 + 650 * Math.sin(day / 14) + 280 * Math.sin(day / 4.3 + 1);
}

/** Grams of an old woman of this weight: water and muscle are parts of what isn't fat. */
function composition(weight: number, random: Random) {
  const fatMass = Math.round(weight * random.between(0.352, 0.364));
  const lean = weight - fatMass;
  const boneMass = Math.round(2_280 + random.between(-20, 20));
  return {
    fatMass,
    waterMass: Math.round(lean * random.between(0.727, 0.735)),
    boneMass,
    muscleMass: lean - boneMass,
  };
}

const nothing = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null };
