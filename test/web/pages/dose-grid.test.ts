import { expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import type { DoseStatus } from "../../../src/domain/derived/doses.ts";
import type { Doses } from "../../../src/web/pages/device/box-doses.ts";
import { DoseGrid } from "../../../src/web/pages/device/dose-grid.tsx";

/** A Friday, 07:00. */
const now_ms = Date.UTC(2026, 10, 20, 7);
const at = (day: number, hour = 6) => Date.UTC(2026, 10, day, hour);

function shown(doses: Partial<Doses>): string[] {
  const all: Doses = { doors: "weekdays", weeks: [], reloads: [], leftOpen: [], ...doses };
  const html = renderToString(h(DoseGrid, { doses: all, locale: "en-GB", zone: "UTC", now_ms }));
  const lines = html.replace(/<\/(p|h2|tr|td|th)>/g, "\n").replace(/<[^>]*>/g, "");
  return lines.split("\n").map((line) => line.trim());
}

const filled = (day: number) => ({ from_ms: at(day), to_ms: at(day) + 60_000 });

test.each<[fillings: number[], words: string | undefined]>([
  [[], undefined],
  [[3], "Filled once, last on Tuesday 3 November."],
  [[3, 10], "Filled 2 times, last on Tuesday 10 November."],
  [[3, 10, 17], "Filled 3 times, last on Tuesday 17 November."],
])("of fillings on %j the page counts all and names the last", (days, words) => {
  const lines = shown({ reloads: days.map(filled) as never });
  expect(lines.find((line) => line.startsWith("Filled"))).toBe(words);
});

test("each door that is open still is named with its time, and none that was closed", () => {
  const lines = shown({
    leftOpen: [
      { door: 0, from_ms: at(15), to_ms: at(16) },
      { door: 2, from_ms: at(17, 8) },
      { door: 5, from_ms: at(20, 6) },
    ],
  });
  expect(lines.filter((line) => line.endsWith("close it."))).toEqual([
    "The door of Tuesday has been open since Tuesday 17 November, 08:00: close it.",
    "The door of Friday has been open since Friday 20 November, 06:00: close it.",
  ]);
});

test("each status is counted by its own word, in the row of its week and under its day", () => {
  const statuses: DoseStatus[] = ["taken", "late", "missed", "unknown", "due"];
  const week = (sunday: number) =>
    Array.from({ length: 7 }, (_, weekday) => {
      const status = statuses[weekday - 1];
      if (status === undefined) return null;
      const day = `${sunday + weekday}`.padStart(2, "0");
      return { date: `2026-11-${day}`, weekday, status, ...(weekday < 3 && { at_ms: at(sunday + weekday) }) };
    });
  const lines = shown({ weeks: [week(15), week(8)] as never });
  expect(lines).toContain(
    "● 2 taken, ◐ 2 late, × 2 missed, ▨ 2 not known, ○ 2 due. A door that moves may mean a dose taken.",
  );
  const first = lines.indexOf("16 Nov");
  expect(lines.slice(first, first + 8)).toEqual([
    ...["16 Nov", "", "● 06:00", "◐ 06:00 late", "×  missed", "▨  not known", "○  due", ""],
  ]);
  expect(lines).toContain("9 Nov");
});
