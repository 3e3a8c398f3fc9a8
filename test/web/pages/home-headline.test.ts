import { expect, test } from "bun:test";
import { day_ms, hour_ms, startOfDate_ms } from "../../../src/base/time.ts";
import { reading } from "../../../testbed/sample.ts";
import { box, zone } from "./device-history.ts";
import { serveHome } from "./device-home.ts";

/** A moment of the week of Wednesday, 18 November 2026, in the home. */
const on = (day: number, hour: number) => (startOfDate_ms(zone, `2026-11-${day}`) ?? 0) + hour * hour_ms;

/** The headline of a home with one pill box, which is used at eight on these days and heard each hour, and the list below it. */
async function shown({
  now_ms,
  taken,
  heard_ms = now_ms,
}: {
  now_ms: number;
  taken: readonly number[];
  heard_ms?: number;
}) {
  await using serving = await serveHome({ now_ms, home: 12, zone });
  const hours = Math.floor((heard_ms - on(10, 0)) / hour_ms);
  const beats = Array.from({ length: hours + 1 }, (_, hour) => on(10, 0) + hour * hour_ms);
  const doors = taken.flatMap((day) => {
    const door = 1 << new Date(on(day, 12)).getUTCDay();
    return [
      reading(box, "pillbox_events", on(day, 8), { event: door }),
      reading(box, "pillbox_events", on(day, 8) + 10_000, { event: 0 }),
    ];
  });
  await serving.store.append(
    doors.filter(({ stamp_ms }) => stamp_ms < now_ms),
    {
      listening: [{ listener: "radio", from_ms: on(10, 0), to_ms: now_ms }],
      states: beats.map((beat_ms) => ({
        device: box,
        heard_ms: beat_ms,
        listener: "radio",
        battery_percent: 80,
      })),
    },
  );
  const page = (await (await serving.ask("/")).text()).replace(/<script.*?<\/script>/gs, "");
  const plain = (html: string) => html.replace(/<[^>]*>/g, "").trim();
  const [, list = ""] = /<ul class="home-needs">(.*?)<\/ul>/s.exec(page) ?? [];
  return {
    headline: plain(/<h1>(.*?)<\/h1>/s.exec(page)?.[1] ?? ""),
    needs: [...list.matchAll(/<li>(.*?)<\/li>/gs)].map(([, one = ""]) => plain(one)),
  };
}

const week = [10, 11, 12, 13, 14, 15, 16, 17];

test("a dose that was missed on Wednesday is in the headline on Thursday, until the next one is due", async () => {
  const thursday = await shown({ now_ms: on(19, 7), taken: week });
  expect(thursday.headline).toMatch(
    /^All devices were heard\. One thing to do: .* was not opened yesterday\.$/,
  );
  expect(thursday.needs).toHaveLength(1);
  const taken = await shown({ now_ms: on(19, 12), taken: [...week, 19] });
  expect(taken.headline).toBe("The one device here was heard in time.");
  expect(taken.needs).toEqual([]);
});

test("a missed dose leaves the headline after two days, whatever became of the box", async () => {
  // It was taken away on Thursday evening: nothing is known of Thursday and Friday.
  const silent = await shown({ now_ms: on(21, 12), taken: week, heard_ms: on(19, 18) });
  expect(silent.headline).toMatch(/^One thing to do: .* has not been heard for 42 hours\.$/);
  expect(silent.needs).toHaveLength(1);
  // Nobody took a dose any more: it is the last one that is told.
  const missed = await shown({ now_ms: on(21, 12), taken: week });
  expect(missed.headline).toMatch(/was not opened yesterday\.$/);
});

test("a headline counts what stands below it, each with since when", async () => {
  const both = await shown({ now_ms: on(20, 7), taken: week, heard_ms: on(20, 0) - day_ms });
  const [, count] = /^(\d+) things to do/.exec(both.headline) ?? [];
  expect(both.needs).toHaveLength(Number(count ?? 1));
  for (const need of both.needs)
    expect(need).toMatch(/for \d+ (hours|days)|yesterday|since|change its battery/);
});
