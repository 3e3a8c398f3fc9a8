import { expect, test } from "bun:test";
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { hour_ms } from "../../../src/base/time.ts";
import type { Trial } from "../../../src/domain/acceptance-trials.ts";
import type {
  SetupVisitDevice,
  SetupVisitStep,
} from "../../../src/web/pages/setup-visit/setup-visit-data.ts";
import { SetupVisitPage } from "../../../src/web/pages/setup-visit/setup-visit-page.tsx";
import type { ShownTrial } from "../../../src/web/pages/setup-visit/trial-data.ts";

const now_ms = Date.UTC(2026, 10, 20, 12);

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
  model: null,
  linkquality: 200,
  heard_ms: now_ms,
  spoke_ms: now_ms,
};
const trial = {
  rows: [row("Kitchen motion", "done"), row("Watch", "later")],
  faults: [{ what: "The clock of the box is not known to be right.", remedy: "Run lintel clock." }],
  finish: null,
  tester: "ann",
};

function row(title: string, state: Trial["state"], note: string | null = null): Trial {
  return {
    of: title,
    title,
    room: "Kitchen",
    asks: "Walk past it.",
    state,
    later: false,
    done_ms: now_ms,
    note,
  };
}

/** Text of a step of the walk, without its markup. */
function walk(step: SetupVisitStep, ...devices: readonly SetupVisitDevice[]): string {
  return walkWith({}, step, devices);
}

function walkWith(
  { canJoin = true, trial: shown = trial }: { canJoin?: boolean; trial?: ShownTrial },
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
  const home = { zone: "UTC", timeKnown: true, conflicts: [], lines: [], orders: {}, trial: shown };
  const data = { ...home, step, state, devices, naming: devices[0]?.address ?? null };
  const html = renderToString(h(SetupVisitPage, { ...data, now_ms, locale: "en-GB", trail: [] }));
  return html.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
}

test("the walk test waits for nobody who tells later, and says so of them", () => {
  const text = walk("test");
  for (const words of ["Everything was tried", "done at 12:00", "tells later, when Lintel reads it"])
    expect(text).toContain(words);
});

test("a device that was asked says what to do, and one that did not answer what came instead", () => {
  const rows = [
    row("Hall motion", "missed", "Bedroom motion answered instead"),
    row("Bedroom motion", "now"),
  ];
  const text = walkWith({ trial: { ...trial, rows } }, "test", []);
  for (const words of ["Bedroom motion: Walk past it.", "did not answer · Bedroom motion answered instead"])
    expect(text).toContain(words);
  expect(walkWith({ trial: { ...trial, rows: [row("Hall motion", "missed")] } }, "test", [])).toContain(
    "0 of 1 done.",
  );
});

test("the last step says what is not right yet, then that the record is made, and its number or why there is none", () => {
  const finish = (of: ShownTrial["finish"]) => walkWith({ trial: { ...trial, finish: of } }, "finish", []);
  expect(finish(null)).toContain("1 thing is not right yet. The clock of the box is not known");
  expect(finish("making")).toContain("The box compares its days with central");
  expect(finish({ number: 3, answer: "Not accepted: the clock is wrong." })).toContain(
    "Not accepted: the clock is wrong. Record 3 is signed.",
  );
  expect(finish({ why: "the name of the tester is missing" })).toContain(
    "The name of the tester is missing.",
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
