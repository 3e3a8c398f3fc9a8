import { expect, test } from "bun:test";
import type { PageRequest } from "../../src/store/store.ts";
import { sensor, sensorEvent, start_ms } from "../../testbed/sample.ts";
import type { MakeStore } from "./make-store.ts";

/** Pages beyond the tail of readings that no span counts. */
export function farPages(make: MakeStore): void {
  test("far down begin where they should, wherever readings that came since lie beside counted ones", async () => {
    await using made = await make();
    let count = 0;
    for (const added of [1_213, 490, 508, 300, 900]) {
      const first = count;
      count += added;
      await made.store.append(
        Array.from({ length: added }, (_, index) =>
          sensorEvent(sensor(1), start_ms + (first + index) * 20, first + index),
        ),
      );
      for (let skip = 1_001; skip < count; skip += 17) {
        const { records } = await made.store.page({ ...newest, skip });
        expect({ count, skip, events: records.map(({ event }) => event) }).toEqual({
          count,
          skip,
          events: [count - skip - 1, count - skip - 2].filter((number) => number >= 0),
        });
      }
    }
  });

  test("within one second say how many of it lie before their end, also of what the walk began behind", async () => {
    await using made = await make();
    const { store } = made;
    const at = (ms: number, event: number) => sensorEvent(sensor(1), start_ms + ms, event);
    await store.append(Array.from({ length: 30 }, (_, event) => at(event * 10, event)));
    const nextOf = async (request: PageRequest) => (await store.page(request)).next;
    const before_s = start_ms / 1000 + 1;
    const within = { ...newest, skip: 2, limit: 3 };
    expect(await nextOf({ ...within, before_ms: start_ms + 155 })).toMatchObject({ before_s, skip: 19 });
    const oldest = { ...within, from_ms: start_ms + 155, oldestFirst: true };
    expect(await nextOf(oldest)).toMatchObject({ before_s, skip: 21 });
    // The five of the next second were passed over; one that came to them later is none of the walk's.
    await store.append([31, 32, 33, 34, 35].map((event) => at(1_000 + event, event)));
    await store.append([at(1_500, 36)]);
    const walk = { ...newest, before_ms: start_ms + 2_000, through: 35, skip: 5, limit: 3 };
    expect(await nextOf(walk)).toMatchObject({ before_s, skip: 3 });
  });

  test("that go on where readings up to a number count begin at a whole second", async () => {
    await using made = await make();
    await made.store.append([sensorEvent(sensor(1), start_ms, 1)]);
    const page = { ...newest, skip: 0, through: 1 };
    expect((await made.store.page(page)).records).toHaveLength(1);
    for (const walk of [
      { ...page, before_ms: start_ms + 1_500 },
      { ...page, from_ms: start_ms - 500, oldestFirst: true },
    ])
      expect(await made.store.page(walk).catch((fault: unknown) => fault)).toBeInstanceOf(RangeError);
  });
}

const newest = {
  series: "wirelesssensor_events",
  item: 1,
  before_ms: start_ms + 1_000_000_000,
  limit: 2,
  precision: "ms",
} as const;
