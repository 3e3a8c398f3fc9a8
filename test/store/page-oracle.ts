import { expect } from "bun:test";
import type { Reading } from "../../src/domain/reading.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { Page, PageRequest, Precision } from "../../src/store/store.ts";
import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";

/** The slow and obvious answer to every page: everything, sorted. */
export class PageOracle {
  #events = 0;
  /** The last number of each home: a gateway's is 0. */
  readonly #last = new Map<number, number>();
  readonly #rows = new Map<number, Row[]>();

  /** Has the store know the sensors first, so that the item of sensor n has key n. */
  static async beside(store: GatewayStore): Promise<PageOracle> {
    await store.append([], {
      states: [1, 2].map((number) => ({ device: sensor(number), heard_ms: start_ms })),
    });
    return new PageOracle();
  }

  fresh(item: number, stamp_ms: number): Reading {
    this.#events += 1;
    return sensorEvent(sensor(item), stamp_ms, this.#events);
  }

  /** Appends to the store and keeps the same, under events of its own. */
  async append(store: GatewayStore, batch: readonly Reading[]): Promise<void> {
    const own = batch.map(({ device, stamp_ms }) => this.fresh(numberOf(device.address), stamp_ms));
    const { first_seq, last_seq } = await store.append(own);
    expect({ first_seq, last_seq }).toEqual({
      first_seq: this.last_seq + 1,
      last_seq: this.last_seq + own.length,
    });
    for (const { device, stamp_ms, values } of own) {
      this.keep(numberOf(device.address), { stamp_ms, event: values["event"] as number });
    }
    this.sort();
  }

  /** Keeps a reading under the next number of its home; `sort` is to be called before anything is asked. */
  keep(item: number, reading: { stamp_ms: number; event: number }, home = 0): void {
    this.pass(home);
    const rows = this.#rows.get(item) ?? [];
    rows.push({ ...reading, seq: this.#last.get(home) ?? 0, home });
    this.#rows.set(item, rows);
  }

  /** Passes over the number of a reading that is not the item's. */
  pass(home: number): void {
    this.#last.set(home, (this.#last.get(home) ?? 0) + 1);
  }

  sort(): void {
    for (const rows of this.#rows.values()) {
      rows.sort((one, other) => other.stamp_ms - one.stamp_ms || other.seq - one.seq);
    }
  }

  of(item: number): readonly Row[] {
    return this.#rows.get(item) ?? [];
  }

  get last_seq(): number {
    return Math.max(0, ...this.#last.values());
  }

  /**
   * The page that a store has to answer. `answered` is its real answer: as the newest number on disk it may name any
   * number that no reading of the item in the second that the page ends in has passed.
   */
  page(request: PageRequest, answered?: Page): Page {
    const second = (answered?.next?.before_s ?? 0) - 1;
    const within = this.of(request.item).filter(({ stamp_ms }) => Math.floor(stamp_ms / 1000) === second);
    const newest = within.reduce((most, { seq }) => Math.max(most, seq), 0);
    const named = answered?.next?.through ?? 0;
    const last_seq = this.#last.get(within[0]?.home ?? 0) ?? 0;
    const newest_seq = named >= newest && named <= last_seq ? named : last_seq;
    return request.oldestFirst ? this.#ascending(request, newest_seq) : this.#descending(request, newest_seq);
  }

  #ascending(request: PageRequest, newest_seq: number): Page {
    const { item, from_ms = 0, before_ms, skip, limit, through, precision } = request;
    const counted = this.of(item)
      .filter(({ stamp_ms }) => stamp_ms >= from_ms && stamp_ms < before_ms)
      .filter(({ stamp_ms, seq }) => through === undefined || stamp_ms >= from_ms + 1000 || seq <= through)
      .reverse();
    const rows = counted.slice(skip, skip + limit);
    const last = rows.at(-1);
    const page = {
      records: rows.map(({ stamp_ms, event }) => ({ stamp: stampIn(precision, stamp_ms), event })),
    };
    if (last === undefined || counted.length <= skip + limit) return page;
    const second = Math.floor(last.stamp_ms / 1000);
    const kept = through !== undefined && from_ms === second * 1000 ? through : newest_seq;
    const passed = this.of(item)
      .filter(({ stamp_ms }) => Math.floor(stamp_ms / 1000) === second)
      .filter(({ seq }) => seq <= kept)
      .filter(
        (row) => row.stamp_ms < last.stamp_ms || (row.stamp_ms === last.stamp_ms && row.seq <= last.seq),
      );
    return { ...page, next: { before_s: second + 1, skip: passed.length, through: kept } };
  }

  #descending(request: PageRequest, newest_seq: number): Page {
    const { item, from_ms = 0, before_ms, skip, limit, through, precision } = request;
    const counted = this.of(item)
      .filter(({ stamp_ms }) => stamp_ms >= from_ms && stamp_ms < before_ms)
      .filter(({ stamp_ms, seq }) => through === undefined || stamp_ms < before_ms - 1000 || seq <= through);
    const rows = counted.slice(skip, skip + limit);
    const last = rows.at(-1);
    const page = {
      records: rows.map(({ stamp_ms, event }) => ({ stamp: stampIn(precision, stamp_ms), event })),
    };
    if (last === undefined || counted.length <= skip + limit) return page;
    const before_s = Math.floor(last.stamp_ms / 1000) + 1;
    const kept = through !== undefined && before_ms === before_s * 1000 ? through : newest_seq;
    const passed = this.of(item)
      .filter(({ stamp_ms }) => Math.floor(stamp_ms / 1000) + 1 === before_s)
      .filter(({ seq }) => seq <= kept)
      .filter(
        (row) => row.stamp_ms > last.stamp_ms || (row.stamp_ms === last.stamp_ms && row.seq >= last.seq),
      );
    return { ...page, next: { before_s, skip: passed.length, through: kept } };
  }
}

interface Row {
  readonly stamp_ms: number;
  readonly seq: number;
  readonly event: number;
  readonly home: number;
}

function stampIn(precision: Precision, stamp_ms: number): number {
  return precision === "ms" ? stamp_ms : Math.floor(stamp_ms / 1000);
}

function numberOf(address: string): number {
  return Number.parseInt(address.slice(-5).replace(":", ""), 16);
}
