import { expect, test } from "bun:test";
import type { PageRequest, Store } from "../../src/store/store.ts";
import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import type { MakeStore } from "./make-store.ts";

/** Tests of the marks that pages have at every store. */
export function marks(make: MakeStore): void {
  test("of a page stay the same until readings come that it may show", async () => {
    await using made = await make();
    const { store } = made;
    await store.append(events(0, 3_000));
    const end_ms = start_ms + 3_000_000;
    const old = { ...newest, before_ms: start_ms + 1_000_000 };
    const asked = [newest, { ...newest, before_ms: end_ms, skip: 2_900 }, old, { ...old, from_ms: start_ms }];
    const first = await marksOf(store, asked);
    expect(await marksOf(store, asked)).toEqual(first);
    await store.append([sensorEvent(sensor(2), start_ms, 1)]);
    expect(await marksOf(store, asked)).toEqual(first);
    // Newer ones shift what is passed over, but nothing of a time that is long over.
    await store.append(events(3_000, 2));
    const later = await marksOf(store, asked);
    expect(later.slice(2)).toEqual(first.slice(2));
    for (const place of [0, 1]) expect(later[place]).not.toBe(first[place] as string);
    // A late one lies among those.
    await store.append(events(500, 1));
    await store.append(events(3_002, 1_500));
    const last = await marksOf(store, asked);
    for (const [place, mark] of later.entries()) expect(last[place]).not.toBe(mark);
  });

  test("of different pages are different, of one that only its end beyond all readings tells from another the same", async () => {
    await using made = await make();
    await made.store.append([...events(0, 30), sensorEvent(sensor(2), start_ms, 1)]);
    const asked: PageRequest[] = [
      newest,
      { ...newest, item: 2 },
      { ...newest, series: "wirelesssensor_measures" },
      { ...newest, precision: "s" },
      { ...newest, skip: 1 },
      { ...newest, limit: 1 },
      { ...newest, from_ms: start_ms },
      { ...newest, oldestFirst: true },
      { ...newest, oldestFirst: true, from_ms: start_ms },
      { ...newest, before_ms: start_ms + 29_000 },
      { ...newest, before_ms: start_ms + 30_000, through: 29 },
      { ...newest, before_ms: start_ms + 30_000, through: 30 },
      { ...newest, before_ms: start_ms + 31_000, through: 30 },
    ];
    const told = await marksOf(made.store, asked);
    expect(new Set(told).size).toBe(asked.length);
    const beyond = { ...newest, before_ms: start_ms + 29_001 };
    expect(await made.store.pageMark(beyond)).toBe(told[0] as string);
    // In another store they mean nothing.
    const { epoch } = await made.store.overview();
    for (const mark of told) expect(mark).toStartWith(epoch);
  });

  test("find what is kept under them, and the page where nothing is", async () => {
    await using made = await make();
    const { store } = made;
    await store.append(events(0, 30));
    const mark = await store.pageMark(newest);
    const kept = new Map<string, string>();
    const { records, ...page } = await store.page(newest);
    const json = new TextEncoder().encode(JSON.stringify(records));
    expect(await store.markedPage(newest, (of) => kept.get(of))).toEqual({ mark, page: { json, ...page } });
    kept.set(mark, "kept");
    expect(await store.markedPage(newest, (of) => kept.get(of))).toEqual({ mark, kept: "kept" });
  });
}

const newest: PageRequest = {
  series: "wirelesssensor_events",
  item: 1,
  before_ms: start_ms + 1_000_000_000,
  skip: 0,
  limit: 20,
  precision: "ms",
};

/** Readings of sensor 1, a second apart. */
function events(first: number, count: number) {
  return Array.from({ length: count }, (_, at) =>
    sensorEvent(sensor(1), start_ms + (first + at) * 1000, first + at),
  );
}

function marksOf(store: Store, asked: readonly PageRequest[]): Promise<string[]> {
  return Promise.all(asked.map((request) => store.pageMark(request)));
}
