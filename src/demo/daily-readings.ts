import type { Activity, Block } from "../../drivers/watch/health-log.ts";
import { block_ms } from "../../drivers/watch/readings.ts";
import { clockQuality } from "../base/clock.ts";
import { day_ms, hour_ms, type TimeSpan } from "../base/time.ts";
import { measureOf } from "../domain/quantities.ts";
import type { Reading } from "../domain/reading.ts";
import { boxes, type MealName, readingOf, type SensorName, scale, sensorNamed } from "./devices.ts";
import type { FlatPlace, LivedDay, TimeSpent } from "./household.ts";
import { during, type HomeOutages } from "./outages.ts";
import type { Random } from "./random.ts";

/** Wall sensors that also tell how warm and how damp the room is, each at its own minute of every ten. */
const measuring: readonly { readonly sensor: SensorName; readonly usual: readonly [number, number] }[] = [
  { sensor: "bedroom-wall", usual: [18.5, 48] },
  { sensor: "bathroom-wall", usual: [21.5, 55] },
];

/** Measures of a day: warmer in the afternoon, and damp in the bathroom for an hour after somebody was there for long. */
export function climateOn(day: LivedDay, random: Random): Reading[] {
  return measuring.flatMap(({ sensor, usual: [warm, damp] }, index) => {
    const drift = random.between(-0.6, 0.6);
    return Array.from({ length: (24 * hour_ms) / period_ms }, (_, step): Reading[] => {
      const at_ms = day.midnight_ms + step * period_ms + (index * 3 + 1) * 60_000 + random.between(0, 900);
      const hour = (at_ms - day.midnight_ms) / hour_ms;
      const sun = Math.max(0, Math.sin(((hour - 8) / 12) * Math.PI));
      const steam = sensor === "bathroom-wall" ? steamAt(at_ms, day.stays) : 0;
      const temperature = warm + drift + 1.6 * sun + 1.2 * steam + random.between(-0.05, 0.05);
      const humidity = damp - 4 * sun + 30 * steam + random.between(-0.4, 0.4);
      return [
        readingOf(
          sensorNamed(sensor),
          climateSeries,
          at_ms,
          measureOf("temperature", hundredths(temperature)),
        ),
        readingOf(sensorNamed(sensor), climateSeries, at_ms, measureOf("humidity", hundredths(humidity))),
      ];
    }).flat();
  });
}

/** 1 when somebody has just showered, and less with each minute since. */
function steamAt(at_ms: number, stays: readonly TimeSpent[]): number {
  const showers = stays.filter(
    ({ place, from_ms, to_ms }) => place === "bathroom" && to_ms - from_ms > shower_ms,
  );
  const since_ms = Math.min(
    ...showers.map(({ to_ms }) => at_ms - to_ms).filter((since) => since >= 0),
    Infinity,
  );
  return Math.exp(-since_ms / hour_ms);
}

/** As such sensors count. */
function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

const climateSeries = "wirelesssensor_measures";
const period_ms = 600_000;
/** Nobody is in the bathroom for so long without hot water. */
const shower_ms = 9 * 60_000;

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
export function weightOn(day: number): number {
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

/** The watch's log of a day: a block for every ten minutes, also where nobody wore it. With `always` she never takes it off. */
export function watchLogOf(day: LivedDay, random: Random, always = false): Block[] {
  const off = takenOff(day, random);
  const notWorn = always ? [] : off;
  const blocks: Block[] = [];
  const end_ms = Math.max(...day.stays.map(({ to_ms }) => to_ms));
  let from_ms = Math.ceil(day.midnight_ms / block_ms) * block_ms;
  for (; from_ms < end_ms; from_ms += block_ms) {
    const span = { from_ms, to_ms: from_ms + block_ms };
    const worn = blockOf(day, span, random);
    const off = notWorn.some((one) => span.from_ms < one.to_ms && one.from_ms < span.to_ms);
    blocks.push(off ? { end_ms: span.to_ms, steps: 0, activity: "NOT_WORN" } : worn);
  }
  return blocks;
}

/** On its charger two evenings of three, and some mornings forgotten beside the wash-basin. */
function takenOff(day: LivedDay, random: Random): TimeSpan[] {
  const at = (hour: number) => day.midnight_ms + Math.round((hour * hour_ms) / block_ms) * block_ms;
  const spans: TimeSpan[] = [];
  const [charges, forgets] = [random.chance(0.65), random.chance(0.09)];
  if (forgets) spans.push({ from_ms: at(random.between(7, 7.6)), to_ms: at(random.between(11.5, 13.5)) });
  if (charges) spans.push({ from_ms: at(random.between(19.6, 20.2)), to_ms: at(random.between(20.9, 21.6)) });
  return spans;
}

function blockOf(day: LivedDay, span: TimeSpan, random: Random): Block {
  const end_ms = span.to_ms;
  const middle_ms = (span.from_ms + end_ms) / 2;
  const stay = day.stays.find((one) => during(middle_ms, one));
  const walks = day.walks.filter(({ at_ms }) => during(at_ms, span)).length;
  const [share, hall] = [random.next(), random.between(11, 19)];
  if (stay === undefined || (stay.asleep && walks === 0))
    return { end_ms, steps: 0, activity: sleepOf(stay, { at_ms: middle_ms, midnight_ms: day.midnight_ms }) };
  const [low, high] = stay.asleep ? [2, 14] : stepsIn[stay.place];
  const steps = Math.round(low + (high - low) * share ** 2 + walks * hall);
  return { end_ms, steps, activity: steps >= walking_steps_min ? "WALKING" : "UNKNOWN" };
}

/** Deep sleep comes early in each cycle of about ninety minutes, and the less of it the longer the night lasts. */
function sleepOf(
  stay: TimeSpent | undefined,
  { at_ms, midnight_ms }: { at_ms: number; midnight_ms: number },
): Activity {
  if (stay === undefined) return "UNKNOWN";
  // At midnight she has slept for a while.
  const before_min = stay.from_ms === midnight_ms ? 75 : 0;
  const slept_min = (at_ms - stay.from_ms) / 60_000 + before_min;
  if (slept_min < 12) return "UNKNOWN";
  const cycle = Math.floor(slept_min / 90);
  const within = (slept_min % 90) / 90;
  return within > 0.2 && within < 0.62 - cycle * 0.1 ? "DEEP_SLEEP" : "LIGHT_SLEEP";
}

/** The ten minutes that ended last: somebody who moves about the flat. */
export function blockNow(now_ms: number, random: Random): Block {
  const end_ms = Math.floor(now_ms / block_ms) * block_ms;
  return { end_ms, steps: Math.round(random.between(15, 140)), activity: "UNKNOWN" };
}

/** Steps in ten minutes, few to many. */
const stepsIn: Readonly<Record<FlatPlace, readonly [low: number, high: number]>> = {
  bedroom: [4, 40],
  bathroom: [4, 30],
  kitchen: [12, 120],
  living: [0, 45],
  away: [40, 900],
};

const walking_steps_min = 250;
