import { expect } from "bun:test";
import { sensor } from "../../../testbed/sample.ts";
import { testAtNight } from "../../at-night.ts";
import { daysOfEvents, Programme } from "./programme.ts";

const homes = 30;
const readings = 300;

testAtNight(
  "thirty gateways that upload in the same moment all get through at the first try, each reading once",
  async () => {
    await using programme = new Programme();
    const store = await programme.start();
    for (let home = 1; home <= homes; home += 1) {
      const box = await programme.box(home);
      const events = daysOfEvents({ from_ms: Date.UTC(2026, 8, 1), days: 2, count: readings });
      // Each home has sensors of its own.
      await box.append(events.map((event, index) => ({ ...event, device: sensor(home * 8 + (index % 5)) })));
    }
    const done = await Promise.all(programme.homes.map((box) => box.upload()));
    expect(done.map(({ sent, differing_days }) => [sent, differing_days])).toEqual(
      Array.from({ length: homes }, () => [readings, 0]),
    );
    for (const box of programme.homes) {
      const { here, there } = await box.bothSides();
      expect(there).toEqual(here);
      expect(here.length).toBeGreaterThan(0);
    }
    const { items } = await store.overview();
    const rows = items.flatMap(({ series }) => series.map(({ count }) => count));
    expect(rows.reduce((sum, count) => sum + count, 0)).toBe(homes * readings);
    expect((await store.gateways()).map(({ home, held_seq }) => [home, held_seq])).toEqual(
      Array.from({ length: homes }, (_, index) => [index + 1, readings]),
    );
    expect(programme.lines).toEqual([]);
  },
);
