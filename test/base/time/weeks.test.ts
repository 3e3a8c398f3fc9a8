import { expect, test } from "bun:test";
import { localDays, weeksOfDays } from "../../../src/base/time.ts";

const at = (text: string) => Date.parse(text);

test("weeks go from Monday to Monday of their place, and the first and the last end with the days", () => {
  // A Friday to a Tuesday in Berlin, with the Sunday on which the clocks go back.
  const days = localDays("Europe/Berlin", {
    from_ms: at("2026-10-23T00:00:00+02:00"),
    to_ms: at("2026-11-04T00:00:00+01:00"),
  });
  expect(weeksOfDays(days)).toEqual([
    { from: "2026-10-23", from_ms: at("2026-10-23T00:00:00+02:00"), to_ms: at("2026-10-26T00:00:00+01:00") },
    { from: "2026-10-26", from_ms: at("2026-10-26T00:00:00+01:00"), to_ms: at("2026-11-02T00:00:00+01:00") },
    { from: "2026-11-02", from_ms: at("2026-11-02T00:00:00+01:00"), to_ms: at("2026-11-04T00:00:00+01:00") },
  ]);
});

test("no days make no week, and a Sunday and a Monday make two", () => {
  expect(weeksOfDays([])).toEqual([]);
  const days = localDays("UTC", { from_ms: at("2026-11-01T00:00Z"), to_ms: at("2026-11-03T00:00Z") });
  expect(weeksOfDays(days).map(({ from }) => from)).toEqual(["2026-11-01", "2026-11-02"]);
});
