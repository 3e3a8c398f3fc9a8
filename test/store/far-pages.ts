import { expect, test } from "bun:test";
import type { MakeStore } from "./make-store.ts";
import { sensor, sensorEvent, start_ms } from "./sample.ts";

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
}

const newest = {
  series: "wirelesssensor_events",
  item: 1,
  before_ms: start_ms + 1_000_000_000,
  limit: 2,
  precision: "ms",
} as const;
