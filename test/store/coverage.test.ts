import { expect, test } from "bun:test";
import { hour_ms } from "../../src/base/time.ts";
import type { Kind } from "../../src/domain/kinds.ts";
import {
  cadenceOf,
  coverageOf,
  type HeardPlacement,
  isOverdue,
  type KnownGap,
  type StartStop,
  silence_least_ms,
  silence_max_ms,
} from "../../src/store/series/coverage-intervals.ts";

// Times in these tests are hours.

test("a device may be silent for one and a half times as long as its kind is", () => {
  const most = (kind: Kind, subtype?: string) => silence_max_ms(cadenceOf(kind, subtype)) / hour_ms;
  expect(most("pillboxes", "polled")).toBe(1.5);
  expect(most("pillboxes", "broadcasting")).toBe(6);
  expect(most("pillboxes")).toBe(6);
  expect(most("wirelesssensors", "wall")).toBe(3);
  expect(most("watches")).toBe(36);
  for (const kind of ["scales", "gateways"] as const) {
    expect(most(kind)).toBe(Number.POSITIVE_INFINITY);
    expect(cadenceOf(kind, undefined)).toEqual({ kind, buffered: false });
  }
  expect(silence_least_ms).toBe(1.5 * hour_ms);
});

test("a device that keeps its events is covered from the first to the last that was heard of it, whatever was between", () => {
  const between = { silences: [span(1, 2)], driverOutages: [span(3, 4)], gatewayOutages: [span(5, 6)] };
  const buffered = { heard: 30, listened: 31, ...between };
  expect(covered("watches", [buffered])).toEqual([[0, 30, "covered"]]);
  expect(covered("pillboxes", [buffered], { subtype: "polled" })).toEqual([[0, 30, "covered"]]);
  const heardAsItHappens = [
    [6, 30, "covered"],
    [5, 6, "not_listening", "gateway_down"],
    [4, 5, "covered"],
    [3, 4, "not_listening", "driver_down"],
    [2, 3, "covered"],
    [1, 2, "silent", "device_silent"],
    [0, 1, "covered"],
  ];
  for (const kind of ["wirelesssensors", "scales"] as const)
    expect(covered(kind, [{ ...buffered, listened: 30 }])).toEqual(heardAsItHappens);
  expect(covered("pillboxes", [buffered])).toEqual(heardAsItHappens);
});

test("a device that tells nothing until it is used is covered as long as its driver listens, where it is now", () => {
  expect(covered("scales", [{ heard: 3, listened: 50 }])).toEqual([[0, 50, "covered"]]);
  expect(covered("scales", [{ heard: 3, listened: 2 }])).toEqual([[0, 3, "covered"]]);
  expect(covered("scales", [{ heard: 3 }])).toEqual([[0, 3, "covered"]]);
  const earlier = { before: 40, heard: 3, listened: 50 };
  expect(covered("scales", [earlier, { from: 40, first: 60, heard: 61, listened: 70 }])).toEqual([
    [60, 70, "covered"],
    [3, 60, "silent", "device_silent"],
    [0, 3, "covered"],
  ]);
});

test("outages count only between the first and the last that is known of a device", () => {
  const outages = [span(-5, 0), span(-1, 1), span(8, 20), span(10, 30)];
  for (const which of ["driverOutages", "gatewayOutages"] as const)
    expect(covered("wirelesssensors", [{ heard: 10, [which]: outages }])).toEqual([
      [8, 10, "not_listening", which === "driverOutages" ? "driver_down" : "gateway_down"],
      [1, 8, "covered"],
      [0, 1, "not_listening", which === "driverOutages" ? "driver_down" : "gateway_down"],
    ]);
});

test("that the gateway was off hides that a driver was, and both hide a silence", () => {
  const stay = { silences: [span(1, 9)], driverOutages: [span(2, 6)], gatewayOutages: [span(4, 5)] };
  expect(covered("wirelesssensors", [{ heard: 10, ...stay }])).toEqual([
    [9, 10, "covered"],
    [6, 9, "silent", "device_silent"],
    [5, 6, "not_listening", "driver_down"],
    [4, 5, "not_listening", "gateway_down"],
    [2, 4, "not_listening", "driver_down"],
    [1, 2, "silent", "device_silent"],
    [0, 1, "covered"],
  ]);
});

test("what is missing replaces what is known besides, each loss once, and counts where nothing was covered too", () => {
  const gaps = [gap(8, 12, "overwritten", 4), gap(3, 5), gap(2, 4), gap(3, 4), gap(20, 20)];
  expect(covered("wirelesssensors", [{ heard: 10, gaps }])).toEqual([
    [20, 20, "gap", "missed_broadcasts"],
    [8, 12, "gap", "overwritten", 4],
    [5, 8, "covered"],
    [4, 5, "gap", "missed_broadcasts"],
    [4, 4, "gap", "missed_broadcasts"],
    [2, 4, "gap", "missed_broadcasts"],
    [0, 2, "covered"],
  ]);
  // It was heard only once, and what came after that is missing.
  expect(covered("wirelesssensors", [{ heard: 0, gaps: [gap(0, 5)] }])).toEqual([
    [0, 5, "gap", "missed_broadcasts"],
    [0, 0, "covered"],
  ]);
  const all = [gap(-1, 11)];
  expect(covered("wirelesssensors", [{ heard: 10, gaps: all }])).toEqual([
    [-1, 11, "gap", "missed_broadcasts"],
  ]);
});

test("a window that was missed is no gap once a device that keeps its events was read after it", () => {
  const gaps = [gap(1, 2, "missed_window"), gap(9, 10, "missed_window"), gap(9, 11, "missed_window")];
  expect(covered("watches", [{ heard: 10, gaps }])).toEqual([
    [9, 11, "gap", "missed_window"],
    [0, 9, "covered"],
  ]);
  expect(covered("watches", [{ heard: 10, gaps: [gap(1, 2, "overwritten")] }])).toHaveLength(3);
  expect(covered("wirelesssensors", [{ heard: 10, gaps: gaps.slice(0, 1) }])).toHaveLength(3);
});

test("each home tells of its own stay, and nobody hears the device on the way from one to the next", () => {
  const first = {
    before: 10,
    first: -2,
    heard: 30,
    listened: 99,
    gaps: [gap(9, 12), gap(10, 10), gap(11, 12)],
  };
  const second = { from: 10, first: 5, heard: 20, gaps: [gap(5, 5), gap(8, 10), gap(10, 10)] };
  expect(covered("wirelesssensors", [{ from: 0, ...first }, second])).toEqual([
    [10, 20, "covered"],
    [10, 10, "gap", "missed_broadcasts"],
    [9, 10, "gap", "missed_broadcasts"],
    [0, 9, "covered"],
  ]);
  expect(
    covered("wirelesssensors", [
      { before: 10, heard: 6 },
      { from: 10, first: 14, heard: 15 },
    ]),
  ).toEqual([
    [14, 15, "covered"],
    [6, 14, "silent", "device_silent"],
    [0, 6, "covered"],
  ]);
  expect(covered("wirelesssensors", [{ heard: 0 }])).toEqual([[0, 0, "covered"]]);
});

test("intervals of a span are those that reach into it, the latest first, some after others", () => {
  const stay = { heard: 10, silences: [span(2, 4), span(6, 8)], gaps: [gap(4, 4)] };
  const within = (from: number, before: number) =>
    covered("wirelesssensors", [stay], { from, before }).map(([start]) => start);
  expect(within(0, 10)).toEqual([8, 6, 4, 4, 2, 0]);
  expect(within(4, 8)).toEqual([6, 4, 4]);
  expect(within(4.5, 8.5)).toEqual([8, 6, 4]);
  expect(covered("wirelesssensors", [stay], { skip: 1, limit: 2 }).map(([start]) => start)).toEqual([6, 4]);
});

test("a device is overdue when its driver has listened for too long without hearing it, where it lives now", () => {
  const overdue = (stay: Stay, ...later: Stay[]) =>
    isOverdue({ kind: "wirelesssensors", subtype: undefined, stays: [stay, ...later].map(heardStay) });
  expect(overdue({ heard: 0, listened: 3 })).toBe(false);
  expect(overdue({ heard: 0, listened: 3.1 })).toBe(true);
  expect(overdue({ heard: 0 })).toBe(false);
  expect(overdue({ heard: 0, listened: 9 }, { heard: 8, listened: 9 })).toBe(false);
  // Nobody listened for a part of the time.
  expect(overdue({ heard: 2, listened: 9, driverOutages: [span(0, 3), span(5, 6), span(7, 20)] })).toBe(
    false,
  );
  expect(overdue({ heard: 2, listened: 9, driverOutages: [span(0, 1), span(5, 6), span(7, 9)] })).toBe(true);
  expect(isOverdue({ kind: "wirelesssensors", subtype: undefined, stays: [] })).toBe(false);
  const silent = [{ heard: 2, listened: 9 }];
  expect(covered("wirelesssensors", silent)[0]).toEqual([2, 9, "silent", "device_silent"]);
});

/** A stay in hours, from 0 on where nothing else is said. */
interface Stay
  extends Partial<Pick<HeardPlacement, "silences" | "driverOutages" | "gatewayOutages" | "gaps" | "pauses">> {
  readonly from?: number;
  readonly before?: number;
  readonly first?: number;
  readonly heard: number;
  readonly listened?: number;
}

function heardStay({ from, before, first = 0, heard, listened, ...rest }: Stay): HeardPlacement {
  return {
    from_ms: from === undefined ? Number.NEGATIVE_INFINITY : from * hour_ms,
    before_ms: before === undefined ? Number.POSITIVE_INFINITY : before * hour_ms,
    first_ms: first * hour_ms,
    heard_ms: heard * hour_ms,
    ...(listened === undefined ? {} : { listened_ms: listened * hour_ms }),
    ...{ silences: [], driverOutages: [], gatewayOutages: [], gaps: [], pauses: [], ...rest },
  };
}

function span(start: number, stop: number): StartStop {
  return { start_ms: start * hour_ms, stop_ms: stop * hour_ms };
}

function gap(
  start: number,
  stop: number,
  reason: KnownGap["reason"] = "missed_broadcasts",
  lost?: number,
): KnownGap {
  return { ...span(start, stop), reason, ...(lost === undefined ? {} : { lost }) };
}

/** The intervals of an item, in hours. */
function covered(
  kind: Kind,
  stays: readonly Stay[],
  asked: { subtype?: string; from?: number; before?: number; skip?: number; limit?: number } = {},
): unknown[][] {
  const { subtype, from, before = 1_000, skip = 0, limit = 100 } = asked;
  const within = { ...(from === undefined ? {} : { from_ms: from * hour_ms }), before_ms: before * hour_ms };
  const facts = { kind, subtype, stays: stays.map(heardStay) };
  return coverageOf(facts, { ...within, skip, limit }).map(({ start_ms, stop_ms, state, reason, lost }) => [
    start_ms / hour_ms,
    stop_ms / hour_ms,
    ...[state, reason, lost].filter((told) => told !== undefined),
  ]);
}
