import { expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { hour_ms, localDays } from "../../../src/base/time.ts";
import { ActivityRaster } from "../../../src/web/pages/report/minute-plots.tsx";

/** A Saturday to a Monday; the clocks go back on the Sunday, which has 25 hours. */
const days = localDays("Europe/Berlin", {
  from_ms: Date.parse("2026-10-24T00:00:00+02:00"),
  to_ms: Date.parse("2026-10-27T00:00:00+01:00"),
}).map((day) => ({ ...day, events: 3, minutes: [0, 719] }));
const report = { itemname: "wall", timezone: "Europe/Berlin", days };
const sunday_ms = days[1]?.from_ms ?? 0;

/** Of each day, the newest first: its length, where its evening begins, and where it lies ahead, in percent. */
function rows(until_ms: number) {
  const html = renderToString(h(ActivityRaster, { report, uncovered: [], until_ms }));
  const all = html.matchAll(
    /y="\S+%" width="(\S+)%" height="6">.*?class="bedtime" x="(\S+)%".*?(?:absent" x="(\S+)%" width="(\S+)%".*?)?<path/g,
  );
  return [...all].map((found) => found.slice(1).map((part) => part && Number(part)));
}

test("a day is as wide as it is long, and what is ahead begins at now, within its day", () => {
  const [saturday, sunday, monday] = [
    [96, 91.667],
    [100, 92],
    [96, 91.667],
  ];
  expect(rows(sunday_ms + 5 * hour_ms)).toEqual([
    [...(monday ?? []), 0, 100],
    [...(sunday ?? []), 20, 80],
    [...(saturday ?? []), undefined, undefined],
  ] as never);
  const none = [undefined, undefined];
  expect(rows(days[2]?.to_ms ?? 0)).toEqual(
    [monday, sunday, saturday].map((of) => [...(of ?? []), ...none]) as never,
  );
});
