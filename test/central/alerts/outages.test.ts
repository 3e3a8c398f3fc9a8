import { expect, test } from "bun:test";
import { hour_ms } from "../../../src/base/time.ts";
import type { AlertState } from "../../../src/central/alerts/alert-state.ts";
import { isRipe, noteNeeds } from "../../../src/central/alerts/outages.ts";
import { type NeedType, needRules } from "../../../src/domain/fleet-home.ts";

/** Outages of a home as central looks at it; each look is so many hours after the one before. */
function looks(need: NeedType) {
  const state: AlertState = { next_id: 1, outages: [], left_out: 0, recipients: {}, undelivered: [] };
  let now_ms = 0;
  return (hours: number, isNeeded: boolean) => {
    now_ms += hours * hour_ms;
    const needs = isNeeded ? [{ type: need, message: "so" }] : [];
    noteNeeds(state, [{ homeid: 3, needs }], now_ms);
    return state.outages.map((one) => [one.id, isRipe(one), one.over_ms !== undefined]);
  };
}

const needs = Object.keys(needRules) as NeedType[];
const open = [[1, true, false]];
const over = [[1, false, true]];

test.each(needs)("%s is told after its hours, and is one outage until it was gone for its hours", (need) => {
  const { after_h, over_h } = needRules[need];
  const after = looks(need);
  expect(after(0, true)).toEqual([[1, after_h === 0, false]]);
  if (after_h > 0) expect(after(after_h - 0.1, true)).toEqual([[1, false, false]]);
  expect(after(0.1, true)).toEqual(open);
  // However long it has lasted.
  expect(after(50 * (over_h + 1), true)).toEqual(open);
  if (over_h > 0) {
    expect(after(over_h - 0.1, false)).toEqual(open);
    expect(after(0.05, true)).toEqual(open);
    expect(after(over_h - 0.1, false)).toEqual(open);
  }
  expect(after(0.1, false)).toEqual(over);
  expect(after(1, true)).toEqual([...over, [2, after_h === 0, false]]);
});

test.each(needs.filter((need) => needRules[need].after_h > 0))(
  "%s that goes before its hours was none",
  (need) => {
    const after = looks(need);
    after(0, true);
    expect(after(needRules[need].after_h / 2, false)).toEqual([]);
  },
);
