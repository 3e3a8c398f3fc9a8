import { expect } from "bun:test";
import type { Item } from "../../src/domain/records/item.ts";
import type { RecordType } from "../../src/domain/records/record-table.ts";
import type { SeriesName, Value } from "../../src/domain/series.ts";
import type { BatchDevice } from "../../src/store/batch.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { ImportedRecord } from "../../src/store/inventory/record-store.ts";
import { sensor, start_ms } from "../../testbed/sample.ts";
import type { SimulatedReading } from "../../testbed/simulated-gateway.ts";

/** Asks a database behind the back of its store: parameters are `$1`, `$2` … */
export type Ask = (text: string, given?: readonly (Value | Uint8Array)[]) => Promise<Record<string, Value>[]>;

/** A new, empty store of a central server. */
export type MakeCentral = () => Promise<MadeCentral>;
export type MadeCentral = {
  readonly store: CentralStore;
  readonly ask: Ask;
  /**
   * Damages the reading of a series of an item (by key) with this stamp behind the store's back: gives its first field another number, moves it a
   * millisecond or two days on, or removes it. Counts of readings are left as they are.
   */
  readonly damage: (
    reading: { series: SeriesName; item: number; stamp_ms: number },
    how: "value" | "stamp" | "day" | "gone",
  ) => Promise<void>;
} & AsyncDisposable;

export const all = {
  series: "wirelesssensor_events",
  before_ms: start_ms + 10_000_000_000,
  skip: 0,
  limit: 10_000,
  precision: "s",
} as const;

/** Events of a sensor, a second apart; each is told by the number that it has where the gateway has sent `after` before. */
export function events(
  number: number,
  count: number,
  after = 0,
  device: BatchDevice = sensor(number),
): SimulatedReading[] {
  return Array.from({ length: count }, (_, index) => ({
    device,
    series: "wirelesssensor_events",
    stamp_ms: start_ms + (after + index) * 1000,
    fields: [after + index + 1],
  }));
}

/** From `count` down to 1. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => count - index);
}

export async function eventsOf(store: CentralStore, key: number, skip = 0): Promise<unknown[]> {
  return (await store.page({ ...all, item: key, skip })).records.map(({ event }) => event);
}

export async function keyOf(store: CentralStore, name: string): Promise<number> {
  return (await store.item("wirelesssensors", name))?.key ?? 0;
}

/** Imports when an item lived in which home, unix seconds. */
export async function stay(
  store: CentralStore,
  ...given: readonly { homeid: number; item: number; start: number | null; stop: number | null }[]
): Promise<void> {
  const records: ImportedRecord[] = given.map((record) => ({ type: "home_inventory", record }));
  await store.importRecords([records]);
}

/** Imports items. */
export async function take(store: CentralStore, ...given: readonly Item[]): Promise<void> {
  const records: ImportedRecord[] = given.map((record) => ({ type: "items", record }));
  expect((await store.importRecords([records])).clashes).toEqual([]);
}

export async function imported(store: CentralStore, type: RecordType, ...records: object[]): Promise<void> {
  const given = records.map((record) => ({ type, record: record as Record<string, unknown> }));
  expect((await store.importRecords([given])).clashes).toEqual([]);
}

/** The events of all items of a home, by item name. */
export async function ofHome(store: CentralStore, home: number): Promise<Record<string, unknown[]>> {
  const items = await store.itemsIn(home);
  return Object.fromEntries(
    await Promise.all(
      items.map(async ({ itemname }) => [itemname, await eventsOf(store, await keyOf(store, itemname))]),
    ),
  );
}
