import { expect, test } from "bun:test";
import { fittingSpan } from "../../../src/web/pages/device/device-request.ts";

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
