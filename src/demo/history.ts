import { clockQuality } from "../clock.ts";
import { day_ms } from "../day.ts";
import { joined, type Span } from "../meaning/span.ts";
import type { Gap, Reading } from "../reading.ts";
import type { GatewayStore } from "../store/store.ts";
import { boxes, deviceOf, watch } from "./belongings.ts";
import { type Buffers, Withholding, withheldBefore } from "./buffers.ts";
import { sensorNamed } from "./flat.ts";
import { dayOf, type Happening, type LivedDay } from "./household.ts";
import { during, type Mishaps, mishapsBefore } from "./mishaps.ts";
import { broadcastReadings, doorsOn, PolledBox } from "./pill-boxes.ts";
import { Random } from "./random.ts";
import { signsOfLife } from "./signs-of-life.ts";
import { wristOn } from "./watch-epochs.ts";
import { weighingsOn } from "./weighings.ts";

/**
 * Appends to the store what the devices of the home told from `from_ms` up to `until_ms`, unix milliseconds, a day
 * at a time. A day is the same for the same `seed`, whatever the span. `progress` is told how many days are on
 * disk. Returns what devices have kept to themselves: from `withheld` on, which with `resumed` is where an earlier
 * history on the same store ended, and drivers know how far they have read.
 */
export async function appendHistory(options: {
  store: GatewayStore;
  from_ms: number;
  until_ms: number;
  seed: number;
  resumed?: boolean;
  progress: (done: number, days: number) => void;
}): Promise<Buffers> {
  const { store, from_ms, until_ms, seed, resumed = false } = options;
  const midnights = midnightsOf(from_ms, until_ms);
  const mishaps = mishapsBefore(until_ms);
  const telling = new Telling(seed, mishaps);
  const withheld = withheldBefore({ until_ms, from_ms, resumed });
  const withholding = new Withholding(withheld);
  for (const [done, midnight_ms] of midnights.entries()) {
    options.progress(done, midnights.length);
    const told = telling.day(midnight_ms);
    const span: Span = {
      from_ms: Math.max(midnight_ms, from_ms),
      to_ms: Math.min(midnights[done + 1] ?? until_ms, until_ms),
    };
    const over = told.readings.filter(({ stamp_ms, values }) => {
      return stamp_ms + Number(values["duration"] ?? 0) * 1000 < until_ms;
    });
    const readings = withholding.readings(over).filter(({ stamp_ms }) => stamp_ms >= from_ms);
    const gaps = withholding
      .gaps(told.gaps.filter(({ to_ms }) => to_ms < until_ms))
      .filter((gap) => gap.from_ms >= from_ms);
    if (readings.length > 0) await store.append(readings, { gaps, ...signsOfLife(span, readings, mishaps) });
  }
  if (!resumed) await store.append([], { cursors: withholding.cursors });
  options.progress(midnights.length, midnights.length);
  return withholding.buffers;
}

/** Turns days as they were lived into what each device told of them. */
export class Telling {
  readonly #seed: number;
  readonly #mishaps: Mishaps;
  readonly #box = new PolledBox();

  constructor(seed: number, mishaps: Mishaps) {
    this.#seed = seed;
    this.#mishaps = mishaps;
  }

  /** All readings of a day in order, and the gaps that its devices know of. Days are to be asked for in order. */
  day(midnight_ms: number): { readings: Reading[]; gaps: Gap[] } {
    const date = new Date(midnight_ms);
    const number = Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / day_ms;
    // Each device has numbers of its own, so that a change to one leaves the others as they were.
    const random = (device: number) => Random.ofDay(this.#seed + device, number);
    const day = dayOf(midnight_ms, random(0));
    const wrist = wristOn(day, random(4));
    const readings = [
      ...day.happenings.filter((one) => this.#heard(one)).map(readingOf),
      ...this.#box.readings(day, random(1), this.#mishaps),
      ...broadcastReadings(day, random(2), this.#mishaps),
      ...weighingsOn(day, random(3)),
      ...wrist.readings,
    ].sort((one, other) => one.stamp_ms - other.stamp_ms);
    return { readings, gaps: [...notWorn(wrist.notWorn), ...this.#unheard(day, random(2))] };
  }

  #heard({ at_ms, sensor }: Happening): boolean {
    const { powerCut, deadBattery } = this.#mishaps;
    return !during(at_ms, powerCut) && !(sensor === deadBattery.sensor && during(at_ms, deadBattery));
  }

  /** The broadcasting box counts: what it said to nobody shows once it is heard again. */
  #unheard(day: LivedDay, random: Random): Gap[] {
    const { powerCut } = this.#mishaps;
    const lost = doorsOn(day, "supper", random).filter(({ at_ms }) => during(at_ms, powerCut)).length;
    const device = deviceOf(boxes.supper);
    return lost === 0 ? [] : [{ device, ...powerCut, reason: "missed_broadcasts", lost }];
  }
}

function notWorn(spans: readonly Span[]): Gap[] {
  return joined(spans).map((span) => ({ device: deviceOf(watch), ...span, reason: "not_worn" }));
}

/** Midnights, in this machine's time zone, of the days that the span touches. */
export function midnightsOf(from_ms: number, until_ms: number): number[] {
  const midnights: number[] = [];
  const day = new Date(from_ms);
  day.setHours(0, 0, 0, 0);
  while (day.getTime() < until_ms && midnights.length < days_max) {
    midnights.push(day.getTime());
    day.setDate(day.getDate() + 1);
  }
  return midnights;
}

function readingOf({ at_ms, sensor, zonestatus }: Happening): Reading {
  return {
    device: { kind: "wirelesssensors", address: sensorNamed(sensor).address },
    series: "wirelesssensor_events",
    stamp_ms: at_ms,
    clock: clockQuality.synchronised,
    values: { event: zonestatus },
  };
}

/** More than `--days` allows. */
const days_max = 1_000;
