import { expect, test } from "bun:test";
import type { DoseStatus } from "../../../src/domain/derived/doses.ts";
import type { DeviceRow } from "../../../src/web/pages/home/home-devices.ts";
import { type HomeNeed, needsOf } from "../../../src/web/pages/home/home-needs.ts";

const well: DeviceRow = {
  kind: "wirelesssensors",
  name: "kitchen-wall",
  title: "kitchen-wall",
  room: null,
  subtype: "wall",
  heard_ms: 1_000,
  overdue: false,
  replaced: null,
  battery: { percent: 100, millivolts: null, low: false, left_ms: null },
  linkquality: 200,
  marks: [],
  often: [],
  uncovered: [],
  latest: null,
};
const low = { percent: 9, millivolts: null, low: true, left_ms: null };
const days = new Map([
  ["2026-11-02", 2_000],
  ["2026-11-03", 3_000],
]);
const box = (name: string, ...states: DoseStatus[]): DeviceRow => ({
  ...well,
  kind: "pillboxes",
  name,
  latest: {
    type: "doses",
    at_ms: 1_000,
    doses: states.map((status, day) => ({ date: `2026-11-0${day + 2}`, weekday: day, status })),
  },
});

test("a home in which all is well needs nothing", () => {
  expect(needsOf([], [well, box("pills", "taken", "due")], days)).toEqual([]);
});

test("needs come worst first: the box, then who is silent, was never heard, runs low, or missed a dose", () => {
  const rows = [
    box("pills", "missed", "due"),
    { ...well, name: "bedroom-wall", battery: low },
    { ...well, name: "bathroom-wall", heard_ms: null },
    { ...well, name: "front-door", overdue: true, battery: low },
  ];
  const needs = needsOf([{ what: "The disk is full." }], rows, days);
  const namesOf = (need: HomeNeed) =>
    ("devices" in need ? need.devices : [need]).map((one) => ("name" in one ? one.name : one.what));
  expect(needs.map((need) => [need.type, ...namesOf(need)])).toEqual([
    ["trouble", "The disk is full."],
    ["silent", "front-door"],
    ["unheard", "bathroom-wall"],
    ["battery", "bedroom-wall"],
    ["missed", "pills"],
  ]);
});

test("a device that another one took the place of needs nobody", () => {
  const replaced = { by: "hall-new", at_ms: 2_000 };
  const rows = [
    { ...well, heard_ms: null, replaced },
    { ...well, battery: low, replaced },
    { ...box("pills", "missed"), replaced },
  ];
  expect(needsOf([], rows, days)).toEqual([]);
});

test("devices that were never heard are one need together, and none while nothing has a date", () => {
  const rows = [
    { ...well, name: "bathroom-wall", heard_ms: null },
    { ...well, name: "front-door", heard_ms: null },
  ];
  expect(needsOf([], rows, days)).toMatchObject([
    { type: "unheard", devices: [{ name: "bathroom-wall" }, { name: "front-door" }] },
  ]);
  expect(needsOf([{ what: "No time.", undated: true }], rows, days)).toHaveLength(1);
});

test("a dose that was missed days ago, or is followed by one that was taken, needs nobody any more", () => {
  expect(needsOf([], [box("pills", "missed", "taken")], days)).toEqual([]);
  expect(needsOf([], [box("pills", "missed", "unknown")], days)).toEqual([]);
  expect(needsOf([], [box("pills", "taken", "missed")], days)).toMatchObject([
    { type: "missed", at_ms: 3_000 },
  ]);
});
