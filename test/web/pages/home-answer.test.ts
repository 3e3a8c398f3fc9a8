import { expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { hour_ms } from "../../../src/base/time.ts";
import type { DoseStatus } from "../../../src/domain/derived/doses.ts";
import { Answer } from "../../../src/web/pages/home/home-answer.tsx";
import type { DeviceRow } from "../../../src/web/pages/home/home-devices.ts";
import { needsOf } from "../../../src/web/pages/home/home-needs.ts";
import type { PausedNow } from "../../../src/web/pages/parts/paused-text.ts";
import type { Trouble } from "../../../src/web/pages/site.ts";

/** A Friday, 07:00. */
const now_ms = Date.UTC(2026, 10, 20, 7);
const times = { locale: "en-GB", zone: "UTC", now_ms };
const days = new Map([18, 19, 20].map((day) => [`2026-11-${day}`, Date.UTC(2026, 10, day)] as const));

const sensor: DeviceRow = {
  kind: "wirelesssensors",
  name: "kitchen-wall",
  title: "Kitchen",
  room: null,
  subtype: "wall",
  heard_ms: now_ms - hour_ms,
  overdue: false,
  replaced: null,
  battery: { percent: 100, millivolts: null, low: false, left_ms: null },
  linkquality: 200,
  marks: [],
  often: [],
  uncovered: [],
  latest: null,
};

/** Its days from Saturday on, today the last. */
function box(...states: DoseStatus[]): DeviceRow {
  const doses = states.map((status, place) => ({
    date: new Date(now_ms - (states.length - 1 - place) * 24 * hour_ms).toISOString().slice(0, 10),
    weekday: 0,
    status,
  }));
  return { ...sensor, kind: "pillboxes", title: "Pill box", latest: { type: "doses", at_ms: now_ms, doses } };
}

function answer(
  devices: readonly DeviceRow[],
  troubles: readonly Trouble[] = [],
  { paused = null, here_ms = null }: { paused?: PausedNow | null; here_ms?: number | null } = {},
): string {
  const needs = needsOf(troubles, devices, days);
  return renderToString(
    h(Answer, { paused, erased: null, needs, devices, isWhole: true, here_ms, times }),
  ).replace(/<[^>]*>/g, "");
}

const taken = box("taken", "taken", "taken", "taken", "taken", "taken", "due");

test("where all is well the first sentence says so", () => {
  expect(answer([sensor, taken])).toBe("Both devices were heard in time.");
  expect(answer([sensor, sensor, taken])).toBe("All 3 devices were heard in time.");
});

test("of what has not been sent the first sentence of central says nothing", () => {
  const upload = (ago_h: number) => answer([sensor, taken], [], { here_ms: now_ms - ago_h * hour_ms });
  expect(upload(0.5)).toBe("Both devices were heard in time.");
  expect(upload(4.5)).toBe("Both devices were heard in time until 02:30, the last upload.");
  expect(upload(28.5)).toBe("Both devices were heard in time until yesterday 02:30, the last upload.");
});

test("a pause stands before everything else, with its end where it has one", () => {
  const paused = { from_ms: now_ms - hour_ms, until_ms: now_ms + hour_ms };
  const heard = "The one device here was heard in time.";
  expect(answer([sensor], [], { paused })).toMatch(
    new RegExp(`^Recording has been paused since [0-9:]+, until [0-9:]+\\. ${heard}$`),
  );
  expect(answer([sensor], [], { paused: { ...paused, until_ms: null } })).toMatch(
    /^Recording has been paused since [0-9:]+\. The/,
  );
});

test("the one thing to do stands in the first sentence, behind whether everything was heard", () => {
  const missed = box("taken", "taken", "taken", "taken", "taken", "missed", "due");
  expect(answer([sensor, missed])).toBe(
    "All devices were heard. One thing to do: Pill box was not opened yesterday.",
  );
  const silent = { ...sensor, overdue: true, heard_ms: now_ms - 50 * hour_ms };
  expect(answer([silent, taken])).toBe("One thing to do: Kitchen has not been heard for 2 days.");
  const never = { ...sensor, heard_ms: null };
  expect(answer([never, taken])).toBe("One thing to do: Kitchen has never been heard.");
  expect(answer([never, never])).toBe("One thing to do: 2 devices have never been heard.");
  expect(answer([sensor], [{ what: "Nothing is heard by [ble]: the stick is gone: plug it in." }])).toBe(
    "One thing to do: nothing is heard by [ble].",
  );
});

test("a headline counts what it lists: a dose that was missed days ago is in the row of its box alone", () => {
  const earlier = box("missed", "taken", "taken", "missed", "taken", "taken", "due");
  expect(answer([sensor, earlier])).toBe("Both devices were heard in time.");
  const both = box("taken", "taken", "taken", "missed", "taken", "missed", "due");
  expect(answer([sensor, both])).toBe(
    "All devices were heard. One thing to do: Pill box was not opened yesterday.",
  );
});

test("several things to do are counted, and stand below", () => {
  const low = { ...sensor, battery: { percent: 9, millivolts: null, low: true, left_ms: null } };
  expect(answer([low, low])).toBe("All devices were heard. 2 things to do, the most urgent first:");
});
