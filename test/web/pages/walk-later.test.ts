import { expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { hour_ms } from "../../../src/base/time.ts";
import type {
  SetupVisitDevice,
  SetupVisitStep,
} from "../../../src/web/pages/setup-visit/setup-visit-data.ts";
import { SetupVisitPage } from "../../../src/web/pages/setup-visit/setup-visit-page.tsx";

const now_ms = Date.UTC(2026, 10, 20, 12);
const since_ms = now_ms - 600_000;

const door: SetupVisitDevice = {
  kind: "wirelesssensors",
  subtype: "door",
  address: "00:0d:6f:00:05:a1:b2:c3",
  name: "Front door",
  named: true,
  room: null,
  metres: null,
  line: null,
  replaces: null,
  overdue: false,
  later: false,
  model: null,
  linkquality: 200,
  battery_percent: 90,
  heard_ms: now_ms,
  spoke_ms: now_ms,
};
const watch: SetupVisitDevice = {
  ...door,
  ...{ kind: "watches", address: "e1:5c:07:2d:9a:31", name: "Watch", later: true },
  ...{ heard_ms: now_ms - hour_ms, spoke_ms: now_ms - hour_ms },
};

/** Text of a step of the walk, without its markup. */
function walk(step: SetupVisitStep, ...devices: readonly SetupVisitDevice[]): string {
  return walkWith({ canJoin: true }, step, devices);
}

function walkWith(
  { canJoin }: { canJoin: boolean },
  step: SetupVisitStep,
  devices: readonly SetupVisitDevice[],
): string {
  const state = {
    joining: "closed",
    opened: null,
    started: [],
    failed: [],
    canJoin,
    problem: null,
    unnamed: null,
  } as const;
  const home = {
    home: 12,
    zone: "UTC",
    version: "1",
    timeKnown: true,
    conflicts: [],
    lines: [],
    troubles: [],
    upload: null,
  };
  const data = { ...home, step, state, devices, naming: devices[0]?.address ?? null, since_ms };
  const html = renderToString(h(SetupVisitPage, { ...data, now_ms, locale: "en-GB", trail: [] }));
  return html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

test("the walk test waits for nobody who tells later, and says so of them", () => {
  expect(walk("test", door, watch)).toContain("Every device was heard.");
  expect(walk("test", door, watch)).toContain("reports later, when Lintel reads it · last heard 11:00");
  expect(walk("record", door, watch)).toContain("Home 12 is set up: 2 devices, all heard.");
  expect(walk("record", door, watch)).toContain("reports later, heard 11:00");
});

test("who tells later and was not heard within its time is waited for, as is one that has not spoken", () => {
  expect(walk("test", door, { ...watch, overdue: true })).toContain("1 of 2 devices heard.");
  expect(walk("test", { ...door, spoke_ms: since_ms - 1 }, watch)).toContain("0 of 1 device heard.");
  expect(walk("record", { ...door, spoke_ms: null }, watch)).toContain(
    "0 of 1 device heard in the walk test.",
  );
});

test("of several alike that have no name yet each says when it last spoke, and a silent one has no signal", () => {
  const fresh = { ...door, named: false, name: "wirelesssensor-1" };
  expect(walk("name", fresh)).toContain("Heard at 12:00:00");
  const silent = walk("find", { ...door, overdue: true, heard_ms: now_ms - 50 * hour_ms });
  expect(silent).toContain("Not heard for 2 days");
  expect(silent).not.toContain("Signal");
  expect(walk("find", fresh, door)).toContain("2 devices found, 1 without a name.");
});

test("where no radio can let devices in there is no button for it, but what to do", () => {
  const button = "Let devices in";
  expect(walk("find")).toContain(button);
  expect(walkWith({ canJoin: false }, "find", [])).not.toContain(button);
  expect(walkWith({ canJoin: false }, "find", [])).toContain("Add a [zigbee] or [ble] section");
});
