import { expect } from "bun:test";
import { clockQuality } from "../../../src/base/clock.ts";
import type { Device, Reading } from "../../../src/domain/reading.ts";
import { type SeriesName, seriesNames, seriesOf, type Value } from "../../../src/domain/series.ts";
import {
  type Batch,
  type BatchDevice,
  readingDigest,
  SetDigest,
  valuesAt,
} from "../../../src/store/batch.ts";
import type { DayDigest } from "../../../src/store/exchange.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import type { UploadStore } from "../../../src/store/gateway/upload-store.ts";
import { below, item, seeded, start_ms } from "../../../testbed/sample.ts";

/** Everything that was appended, in a list: the slow and obvious store that uploads are held against. */
export class UploadModel {
  readonly random: () => number;
  readonly #store: GatewayStore;
  readonly #rows: Row[] = [];
  /** Items by the address of the device that they have now. */
  readonly #owners = new Map<string, Owner>();
  #now_ms = start_ms;

  constructor(store: GatewayStore, seed: number) {
    this.#store = store;
    this.random = seeded(seed);
  }

  get last_seq(): number {
    return this.#rows.length;
  }

  get now_ms(): number {
    return this.#now_ms;
  }

  /** Appends readings of any series and device, in order of time but for some that are late. */
  async append(count: number): Promise<void> {
    const made = Array.from({ length: count }, () => this.#reading());
    const { first_seq } = await this.#store.append(made.map(({ reading }) => reading));
    expect(first_seq).toBe(this.#rows.length + 1);
    for (const { reading, row } of made) {
      const owner = this.#owners.get(reading.device.address) ?? { address: reading.device.address };
      this.#owners.set(reading.device.address, owner);
      this.#rows.push({ ...row, seq: this.#rows.length + 1, owner });
    }
  }

  /** Gives a device to an item of the inventory, with whatever histories both have; not where another item of that has it. */
  async adopt(itemid: number, device: number): Promise<void> {
    const { address } = sensors[device] as Device;
    const other = this.#owners.get(address)?.itemid ?? itemid;
    if (other !== itemid) return;
    const { clashes } = await this.#store.importRecords([
      [{ type: "items", record: item(itemid, { macaddress: address }) }],
    ]);
    expect(clashes).toEqual([]);
    const held = [...new Set(this.#rows.map(({ owner }) => owner))].find((owner) => owner.itemid === itemid);
    const heard = this.#owners.get(address);
    const owner: Owner = held ?? heard ?? { address };
    if (held !== undefined) this.#owners.delete(held.address);
    for (const row of this.#rows) if (row.owner === heard) row.owner = owner;
    Object.assign(owner, { address, itemid });
    this.#owners.set(address, owner);
  }

  /** The readings numbered from one to another, as `rowsOf` has them. */
  between(from_seq: number, to_seq: number): unknown[][] {
    return this.#rows.slice(from_seq - 1, to_seq).map(({ seq, series, owner, stamp_ms, values }) => {
      return [seq, series, owner.address, owner.itemid, stamp_ms, ...values];
    });
  }

  numbers(): number[] {
    return this.#rows.map(({ seq }) => seq);
  }

  /** Numbers of readings that a prune may take. */
  prunable(before_ms: number, through_seq: number): ReadonlySet<number> {
    const rows = this.#rows.slice(0, through_seq).filter(({ stamp_ms }) => stamp_ms < before_ms);
    return new Set(rows.map(({ seq }) => seq));
  }

  /** The expected answer of `UploadStore.digests`, in any order, for readings of which `kept` says that they are there. */
  digests(through_seq: number, kept: (seq: number) => boolean): DayDigest[] {
    const days = new Map<string, { of: Omit<DayDigest, "count" | "hash">; digest: SetDigest }>();
    for (const { seq, series, owner, stamp_ms, values } of this.#rows) {
      if (seq > through_seq || !kept(seq)) continue;
      const day = Math.floor(stamp_ms / 86_400_000);
      const number = owner.itemid === undefined ? {} : { itemid: owner.itemid };
      const of = { series, kind: seriesOf(series).kind, address: owner.address, ...number, day };
      const name = JSON.stringify(of);
      const known = days.get(name) ?? { of, digest: new SetDigest() };
      known.digest.add(readingDigest(seq, stamp_ms, values));
      days.set(name, known);
    }
    return [...days.values()].map(({ of, digest }) => ({ ...of, count: digest.count, hash: digest.hash }));
  }

  #reading(): { reading: Reading; row: Omit<Row, "seq" | "owner"> } {
    const { random } = this;
    this.#now_ms += below(random, 4) * below(random, 60_000);
    const series =
      random() < 0.7
        ? "wirelesssensor_events"
        : (seriesNames[below(random, seriesNames.length)] as SeriesName);
    const late_ms = random() < 0.05 ? below(random, 5 * 86_400_000) : 0;
    const stamp_ms = this.#now_ms - late_ms;
    const { fields, deviceClock, kind } = seriesOf(series);
    const values = Object.fromEntries(
      Object.entries(fields).map(([name, { sql }]): [string, Value] => {
        const number = 1 + below(random, 2);
        const text = name === "powersource" ? "battery" : String(number);
        return [name, sql === "TEXT" ? text : number];
      }),
    );
    const clock = deviceClock === true ? clockQuality.device : clockQuality.synchronised;
    const own = deviceClock === true && random() < 0.5 ? { stamp_ms: stamp_ms - 7, offset_ms: 7 } : undefined;
    const made = deviceClock === true ? [own?.stamp_ms ?? null, own?.offset_ms ?? null] : [];
    const device =
      kind === "wirelesssensors"
        ? (sensors[below(random, sensors.length)] as Device)
        : { kind, address: `c0:ff:ee:00:00:0${below(random, 2)}` };
    return {
      reading: { device, series, stamp_ms, clock, values, ...(own && { deviceClock: own }) },
      row: { series, stamp_ms, values: [...Object.values(values), clock, ...made] },
    };
  }
}

/** The readings of a batch, in order of number. */
export function rowsOf({ devices, series }: Batch): unknown[][] {
  const rows = seriesNames.flatMap((name) => {
    const columns = series[name];
    if (columns === undefined) return [];
    const { device, stamp_ms } = columns;
    return Array.from(columns.seq, (seq, row): [number, ...unknown[]] => {
      const { address, itemid, kind } = devices[device[row] as number] as BatchDevice;
      if (kind !== seriesOf(name).kind) throw new Error(`${name} has a reading of one of the ${kind}`);
      return [seq, name, address, itemid, stamp_ms[row], ...valuesAt(columns, row)];
    });
  });
  return rows.sort((one, other) => one[0] - other[0]);
}

/** All batches after a number, each with at most `readings_max()` readings. */
export async function batchesAfter(
  store: UploadStore,
  request: { epoch: string; after_seq: number; readings_max: () => number },
): Promise<Batch[]> {
  const batches: Batch[] = [];
  for (let { after_seq } = request; ; ) {
    const batch = await store.batchAfter({
      epoch: request.epoch,
      after_seq,
      readings_max: request.readings_max(),
    });
    if (batch === undefined) return batches;
    expect(batch.from_seq).toBe(after_seq + 1);
    batches.push(batch);
    after_seq = batch.to_seq;
  }
}

const sensors: readonly Device[] = Array.from({ length: 5 }, (_, number) => ({
  kind: "wirelesssensors",
  address: `00:0d:6f:00:05:a1:00:0${number + 1}`,
}));

interface Row {
  readonly seq: number;
  readonly series: SeriesName;
  readonly stamp_ms: number;
  /** Fields, then how the stamp was made. */
  readonly values: readonly Value[];
  owner: Owner;
}

interface Owner {
  address: string;
  itemid?: number;
}
