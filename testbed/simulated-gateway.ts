import { clockQuality } from "../src/base/clock.ts";
import { day_ms } from "../src/base/time.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../src/domain/series.ts";
import {
  type Batch,
  type BatchDevice,
  batch_readings_max,
  digestText,
  readingDigest,
  type SeriesColumns,
  SetDigest,
} from "../src/store/batch.ts";
import type { ReportNote } from "../src/store/central/central-store.ts";
import type { DayDigest, DeviceHealth } from "../src/store/exchange.ts";
import type { DayReadings, DigestRequest } from "../src/store/gateway/upload-store.ts";
import type { GatewayReport } from "../src/transfer/protocol.ts";
import { columnsOf } from "./plain-batch.ts";

/** A gateway's readings and uploads, in the simplest form: a list of readings. */
export class SimulatedGateway {
  readonly home: number;
  readonly epoch: string;
  readonly first_seq: number;
  readonly readings: Numbered[] = [];
  readonly lost = new Set<number>();

  /** `name`: any short text, which the epoch is made of. */
  constructor(home: number, name: string, first_seq = 1) {
    this.home = home;
    this.epoch = Bun.hash.xxHash64(name).toString(16).padStart(16, "0").repeat(2);
    this.first_seq = first_seq;
  }

  get last_seq(): number {
    return this.first_seq + this.readings.length - 1;
  }

  get sender() {
    return { home: this.home, at_ms: 1_800_000_000_000 };
  }

  /** Takes readings in, numbered on. */
  add(...given: readonly SimulatedReading[]): this {
    for (const reading of given) this.readings.push({ ...reading, seq: this.last_seq + 1 });
    return this;
  }

  /** The batch of some numbers. */
  batch(from_seq: number, to_seq: number): Batch {
    const previous = this.#at(from_seq - 1);
    const lost = [...this.lost].filter((seq) => seq >= from_seq && seq <= to_seq).sort((a, b) => a - b);
    return {
      epoch: this.epoch,
      first_seq: this.first_seq,
      from_seq,
      to_seq,
      ...(previous === undefined ? {} : { previous: digestText(digestOf(previous)) }),
      missing: lost.map((seq) => [seq, seq] as const),
      ...columnsOfReadings(this.#between(from_seq, to_seq)),
    };
  }

  all(): Batch {
    return this.batch(this.first_seq, this.last_seq);
  }

  digests({ through_seq, from_ms, before_ms }: Omit<DigestRequest, "epoch">): DayDigest[] {
    const found = this.#between(this.first_seq, through_seq).filter(
      ({ stamp_ms }) => stamp_ms >= from_ms && stamp_ms < before_ms,
    );
    const days = Map.groupBy(found, ({ device, series, stamp_ms }) => {
      return JSON.stringify([series, device.kind, device.address, device.itemid, dayOf(stamp_ms)]);
    });
    return inDigestOrder(
      [...days].map(([name, readings]) => {
        const [series, kind, address, itemid, day] = JSON.parse(name);
        const digest = new SetDigest();
        for (const reading of readings) digest.add(digestOf(reading));
        const { count, hash } = digest;
        return { series, kind, address, ...(itemid === null ? {} : { itemid }), day, count, hash };
      }),
    );
  }

  /** A gateway's batch of a day that differs. */
  day({ through_seq, series, kind, address, day, after_seq }: DayReadings, most = batch_readings_max): Batch {
    const found = this.#between(after_seq + 1, through_seq)
      .filter((reading) => reading.series === series && dayOf(reading.stamp_ms) === day)
      .filter(({ device }) => device.kind === kind && device.address === address)
      .slice(0, most);
    return {
      epoch: this.epoch,
      first_seq: this.first_seq,
      from_seq: after_seq + 1,
      to_seq: found.at(-1)?.seq ?? after_seq,
      missing: [],
      ...columnsOfReadings(found),
    };
  }

  report(health: Partial<DeviceHealth> = {}, report: Record<string, unknown> = {}): ReportNote {
    const nothing = { devices: [], listeners: [], states: [], outages: [], silences: [], gaps: [] };
    return {
      epoch: this.epoch,
      health: { ...nothing, after_note: 0, to_note: 0, ...health },
      report,
    };
  }

  #at(seq: number): Numbered | undefined {
    return this.lost.has(seq) ? undefined : this.readings[seq - this.first_seq];
  }

  #between(from_seq: number, to_seq: number): Numbered[] {
    return this.readings.filter(({ seq }) => seq >= from_seq && seq <= to_seq && !this.lost.has(seq));
  }
}

export interface SimulatedReading {
  readonly device: BatchDevice;
  readonly series: SeriesName;
  readonly stamp_ms: number;
  readonly fields: readonly Value[];
  /** For series with a device's clock. */
  readonly device_ms?: number;
  readonly offset_ms?: number;
}

export interface Numbered extends SimulatedReading {
  readonly seq: number;
}

export function dayOf(stamp_ms: number): number {
  return Math.floor(stamp_ms / day_ms);
}

/** Digests in an order of their own, to be compared. */
export function inDigestOrder(digests: readonly DayDigest[]): DayDigest[] {
  const nameOf = ({ series, kind, address, itemid = 0, day }: DayDigest) =>
    `${series} ${kind} ${address} ${itemid} ${day}`;
  return digests.toSorted((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1));
}

function columnsOfReadings(readings: readonly Numbered[]): Pick<Batch, "devices" | "series"> {
  const names = new Map<string, number>();
  const devices: BatchDevice[] = [];
  const placeOf = (device: BatchDevice) => {
    const name = JSON.stringify(device);
    const place = names.get(name) ?? devices.push(device) - 1;
    names.set(name, place);
    return place;
  };
  const series: Partial<Record<SeriesName, SeriesColumns>> = {};
  for (const name of seriesNames) {
    const of = readings.filter((reading) => reading.series === name);
    if (of.length === 0) continue;
    const { fields, deviceClock } = seriesOf(name);
    series[name] = columnsOf(name, {
      seq: of.map(({ seq }) => seq),
      device: of.map(({ device }) => placeOf(device)),
      stamp_ms: of.map(({ stamp_ms }) => stamp_ms),
      clock: of.map(() => clockQuality.synchronised),
      ...(deviceClock === true
        ? {
            device_ms: of.map(({ device_ms = null }) => device_ms),
            offset_ms: of.map(({ offset_ms = null }) => offset_ms),
          }
        : {}),
      fields: Object.keys(fields).map((_, index) => of.map((reading) => reading.fields[index] ?? null)),
    });
  }
  return { devices, series };
}

function digestOf({ seq, stamp_ms, series, fields, device_ms, offset_ms }: Numbered): bigint {
  const made: Value[] = [clockQuality.synchronised];
  if (seriesOf(series).deviceClock === true) made.push(device_ms ?? null, offset_ms ?? null);
  return readingDigest(seq, stamp_ms, [...fields, ...made]);
}

/** A gateway's report of itself where all is well, with what is given. */
export function wellReport(
  rest: Pick<GatewayReport, "now_ms" | "last_seq"> & Partial<GatewayReport>,
): GatewayReport {
  return {
    version: "1.0.0",
    clock_synchronised: true,
    timezone: "UTC",
    waiting: 0,
    disk_free_bytes: 20e9,
    bytes_on_disk: 1e6,
    dropped: {},
    differing_days: 0,
    ...rest,
  };
}
