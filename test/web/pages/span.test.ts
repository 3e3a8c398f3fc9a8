import { expect, test } from "bun:test";
import { fittingSpan, neighbour, readSpan } from "../../../src/web/pages/device/device-request.ts";

const now_ms = Date.UTC(2026, 10, 22, 20);
const days_ms = (days: number) => days * 24 * 3_600_000;

test.each([
  [0.1, "1w"],
  [6, "1w"],
  [7, "4w"],
  [27, "4w"],
  [31, "8w"],
  [56, "1y"],
  [900, "1y"],
] as const)(
  "the weights of a scale that began %p days ago are shown in the shortest span that has them: %s",
  (days, span) => {
    expect(fittingSpan("1y", { first_ms: now_ms - days_ms(days), now_ms })).toBe(span);
  },
);

test("no span is longer than the usual one, which stands where there is no reading yet", () => {
  expect(fittingSpan("4w", { first_ms: now_ms - days_ms(900), now_ms })).toBe("4w");
  expect(fittingSpan("8w", { first_ms: undefined, now_ms })).toBe("8w");
});

test.each([
  ["span=8w", 30, "2026-10-23"],
  ["span=8w", 2, "2026-11-16"],
  ["span=8w", 900, "2026-09-28"],
  ["from=2026-09-01", 30, "2026-09-01"],
])("with %s, of a device that began %p days ago, days are shown from %s on", (query, days, from) => {
  const of = { zone: "Europe/Berlin", now_ms, usual: "8w", first_ms: now_ms - days_ms(days) } as const;
  expect(readSpan(new URLSearchParams(query), of).from).toBe(from);
});

test("a span may begin and end within a day, and so does the one beside it", () => {
  const query = new URLSearchParams("from=2026-10-25T00:30&until=2026-10-25T12:00");
  const span = readSpan(query, { zone: "Europe/Berlin", now_ms, usual: "8w" });
  // The clocks are put back in between.
  expect(span.to_ms - span.from_ms).toBe(12.5 * 3_600_000);
  expect([span.whole.to_ms - span.whole.from_ms, span.days.length]).toEqual([25 * 3_600_000, 1]);
  expect(neighbour(span, -1)).toEqual({ from: "2026-10-24T12:00", until: "2026-10-24T23:30" });
});
