import type { Block } from "../../drivers/watch/health-log.ts";
import { block_ms, epochReading, notWornGaps, stride_default_m } from "../../drivers/watch/readings.ts";
import { clockQuality } from "../base/clock.ts";
import { day_ms, hour_ms } from "../base/time.ts";
import type { BufferCursor, Gap, Reading } from "../domain/reading.ts";
import type { GatewayStore } from "../store/gateway/gateway-store.ts";
import {
  broadcastReadings,
  climateOn,
  type Doors,
  doorsOn,
  events_before,
  PolledBox,
  watchLogOf,
  weighingsOn,
} from "./daily-readings.ts";
import { boxes, deviceOf, readingOf, sensorNamed, watch } from "./devices.ts";
import { dayOf, type LivedDay, type SensorEvent, type TimeSpent } from "./household.ts";
import { brokenDoorOn, during, type HomeOutages, heartbeatsOf, outagesBefore } from "./outages.ts";
import { Random } from "./random.ts";

/** Contents of the devices' memories when the history ends. Their simulators start with them. */
export interface Buffers {
  readonly box: {
    /** Events that the polled box has told before. */
    readonly told: number;
    readonly doors: readonly Doors[];
  };
  readonly watch: readonly Block[];
}

/**
 * Appends to the store what the devices of the home told from `from_ms` up to `until_ms`, unix milliseconds, a day at a
 * time. A day is the same for the same `seed`, whatever the span. A new home's box was last polled a day ago and its watch
 * last read some hours ago, so that both have something to tell; with `resumed` an earlier history on the same store went on
 * to `from_ms`, and nobody has asked either since. `progress` is told how many days are on disk, `evening` of each midnight with which
 * one of them was over, before more is appended. `outages` are those of every demo, unless others are given.
 */
export async function appendHistory(options: {
  store: GatewayStore;
  from_ms: number;
  until_ms: number;
  seed: number;
  resumed?: boolean;
  progress: (done: number, days: number) => void;
  evening?: (midnight_ms: number) => Promise<void>;
  outages?: HomeOutages;
}): Promise<Buffers> {
  const { store, from_ms, until_ms, seed, resumed = false, evening } = options;
  const midnights = midnightsOf(from_ms, until_ms);
  const { outages = outagesBefore(until_ms) } = options;
  const watch_ms = resumed ? from_ms - read_within_ms : Math.max(from_ms, until_ms - watch_keeps_ms);
  const asked: LastAsked = {
    box_ms: resumed ? from_ms : Math.max(from_ms, until_ms - box_keeps_ms),
    watch_ms: Math.floor(watch_ms / block_ms) * block_ms,
    until_ms,
  };
  const telling = new Telling(seed, outages, asked);
  for (const [done, midnight_ms] of midnights.entries()) {
    options.progress(done, midnights.length);
    const told = telling.day(midnight_ms);
    // What had fallen silent by the end of the earlier demo stays so.
    const broken = resumed
      ? []
      : brokenDoorOn(midnight_ms, seed, outages, awayOn(livedDay(seed, midnight_ms)));
    const readings = [...told.readings, ...broken]
      .filter(({ stamp_ms }) => stamp_ms >= from_ms)
      .sort((one, other) => one.stamp_ms - other.stamp_ms);
    const gaps = told.gaps.filter((gap) => gap.from_ms >= from_ms);
    const span = {
      from_ms: Math.max(midnight_ms, from_ms),
      to_ms: Math.min(midnights[done + 1] ?? until_ms, until_ms),
    };
    const heard = { ...outages, broken_ms: resumed ? from_ms : outages.broken_ms };
    if (readings.length > 0) await store.append(readings, { gaps, ...heartbeatsOf(span, readings, heard) });
    if (span.to_ms < until_ms) await evening?.(span.to_ms);
  }
  if (!resumed) await store.append([], { cursors: telling.cursors });
  options.progress(midnights.length, midnights.length);
  return telling.buffers;
}

/** When the devices with a memory were last asked, and until when anything has happened; unix milliseconds. */
interface LastAsked {
  readonly box_ms: number;
  readonly watch_ms: number;
  readonly until_ms: number;
}

/** Turns days as they were lived into what each device told of them. */
export class Telling {
  readonly #seed: number;
  readonly #outages: HomeOutages;
  readonly #asked: LastAsked;
  readonly #box = new PolledBox();
  readonly #doors: Doors[] = [];
  readonly #blocks: Block[] = [];
  #told = events_before;
  #last: Doors = { at_ms: 0, doors: 0 };

  constructor(
    seed: number,
    outages: HomeOutages,
    asked: LastAsked = { box_ms: Infinity, watch_ms: Infinity, until_ms: Infinity },
  ) {
    this.#seed = seed;
    this.#outages = outages;
    this.#asked = asked;
  }

  /** All readings of a day in order, and the gaps that its devices know of. Days are to be asked for in order. */
  day(midnight_ms: number): { readings: Reading[]; gaps: Gap[] } {
    const { until_ms } = this.#asked;
    const random = (device: number) => randomOf(this.#seed, midnight_ms, device);
    const day = livedDay(this.#seed, midnight_ms);
    const blocks = this.#toldByWatch(watchLogOf(day, random(watchNumbers)));
    const readings = [
      ...day.events
        .filter((event) => this.#heard(event))
        .map(({ sensor, at_ms, zonestatus: event }) =>
          readingOf(sensorNamed(sensor), "wirelesssensor_events", at_ms, { event }),
        ),
      ...this.#toldByBox(this.#box.readings(day, random(1), this.#outages)),
      ...broadcastReadings(day, random(2), this.#outages),
      ...weighingsOn(day, random(3)),
      ...climateOn(day, random(5)).filter(({ stamp_ms }) => !during(stamp_ms, this.#outages.powerCut)),
      ...blocks.flatMap((block) => epochReading(deviceOf(watch), block, epochOptions) ?? []),
    ];
    const gaps = [...notWornGaps(deviceOf(watch), blocks), ...this.#unheard(day, random(2))];
    return {
      readings: readings
        .filter(({ stamp_ms }) => stamp_ms < until_ms)
        .sort((one, other) => one.stamp_ms - other.stamp_ms),
      gaps: gaps.filter(({ to_ms }) => to_ms < until_ms),
    };
  }

  /** Contents of the memories after the days that were asked for. */
  get buffers(): Buffers {
    return { box: { told: this.#told, doors: this.#doors }, watch: this.#blocks };
  }

  /** How far the drivers have read, as their own cursors have it. */
  get cursors(): readonly BufferCursor[] {
    const { box_ms, watch_ms } = this.#asked;
    const { at_ms, doors } = this.#last;
    const place = { seq: this.#told, stamp: Math.floor(at_ms / 1000), doors, boot: 1, time_ms: box_ms };
    return [
      { name: `pillbox events ${boxes.breakfast.address}`, value: JSON.stringify(place) },
      { name: `ble watch/epochs ${watch.address}`, value: JSON.stringify({ end_ms: watch_ms }) },
    ];
  }

  #heard({ at_ms, sensor }: SensorEvent): boolean {
    const { powerCut, deadBattery } = this.#outages;
    return !during(at_ms, powerCut) && !(sensor === deadBattery.sensor && during(at_ms, deadBattery));
  }

  /** Blocks that were read from the watch; it keeps the others. */
  #toldByWatch(blocks: readonly Block[]): Block[] {
    const { watch_ms, until_ms } = this.#asked;
    const over = blocks.filter(({ end_ms }) => end_ms < until_ms);
    this.#blocks.push(...over.filter(({ end_ms }) => end_ms > watch_ms));
    return over.filter(({ end_ms }) => end_ms <= watch_ms);
  }

  /** Readings that polls have brought; the box keeps its events since the last one. */
  #toldByBox(readings: readonly Reading[]): Reading[] {
    const { box_ms, until_ms } = this.#asked;
    for (const { series, stamp_ms: at_ms, values } of readings) {
      if (series !== "pillbox_events" || at_ms >= until_ms) continue;
      const doors = { at_ms, doors: Number(values["event"]) };
      if (at_ms < box_ms) {
        this.#told++;
        this.#last = doors;
      } else this.#doors.push(doors);
    }
    return readings.filter(({ stamp_ms }) => stamp_ms < box_ms);
  }

  /** The broadcasting box counts: what it said to nobody shows once it is heard again. */
  #unheard(day: LivedDay, random: Random): Gap[] {
    const { powerCut } = this.#outages;
    const lost = doorsOn(day, "supper", random).filter(({ at_ms }) => during(at_ms, powerCut)).length;
    const device = deviceOf(boxes.supper);
    return lost === 0 ? [] : [{ device, ...powerCut, reason: "missed_broadcasts", lost }];
  }
}

/** The day that begins at a midnight, as it was lived. */
export function livedDay(seed: number, midnight_ms: number): LivedDay {
  return dayOf(midnight_ms, randomOf(seed, midnight_ms, 0));
}

/** When nobody was at home on a day. */
export function awayOn({ stays }: LivedDay): TimeSpent[] {
  return stays.filter(({ place }) => place === "away");
}

/** The log that the watch would have of a day if it was never taken off. */
export function wornWatchLog(seed: number, day: LivedDay): Block[] {
  return watchLogOf(day, randomOf(seed, day.midnight_ms, watchNumbers), true);
}

/** Each device has numbers of its own, so that a change to one leaves the others as they were. */
function randomOf(seed: number, midnight_ms: number, device: number): Random {
  const date = new Date(midnight_ms);
  return Random.ofDay(seed + device, Date.UTC(date.getFullYear(), date.getMonth(), date.getDate()) / day_ms);
}

const watchNumbers = 4;

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

const epochOptions = { stride_m: stride_default_m, clock: clockQuality.device };
/** More than `--days` allows. */
const days_max = 1_000;
const box_keeps_ms = day_ms;
/** Longer than she ever leaves the watch off. */
const watch_keeps_ms = 8 * hour_ms;
/** Between two times that the watch is read, and the epoch before. */
const read_within_ms = 4_800_000;
