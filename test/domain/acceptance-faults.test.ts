import { expect, test } from "bun:test";
import { type AcceptanceFindings, type AcceptedDevice, taskDone_ms } from "../../src/domain/acceptance.ts";
import { acceptanceFaults, walkFaults } from "../../src/domain/acceptance-faults.ts";
import { quality_enough } from "../../src/domain/link-quality.ts";

const asked = 1_000_000;
const device: AcceptedDevice = {
  ...{ itemname: "hall", typename: "wirelesssensors", subtypename: "wall", room: null, macaddress: "aa" },
  ...{ replaces: null, model: null, firmware: null, task: "motion", asked, done: asked + 5, later: false },
  ...{ instead: [], heard: asked + 5, overdue: false, signal: quality_enough, battery: 90 },
  ...{ batteryvoltage: null, batterylow: false, through: null, poor: false, metres: null, elsewhere: false },
};
const findings: AcceptanceFindings = {
  ...{ homeid: 12, timezone: "UTC", started: asked, finished: asked + 100, release: "1", lines: [] },
  ...{ devices: [device], clockknown: true, clockdoubt: null, paused: false },
  upload: { url: null, sent: 0, differingdays: 0, failure: null },
};
const whats = (change: Partial<AcceptanceFindings>) =>
  acceptanceFaults({ ...findings, ...change }).map(({ what }) => what);
const of = (...changes: Partial<AcceptedDevice>[]) =>
  whats({ devices: changes.map((change) => ({ ...device, ...change })) });

test("an installation without a fault has none", () => {
  expect(whats({})).toEqual([]);
});

test.each<[Partial<AcceptanceFindings>, string]>([
  [{ clockknown: false }, "The clock of the box is not known to be right."],
  [{ clockdoubt: "It leapt." }, "The clock of the box is not known to be right: It leapt."],
  [{ paused: true }, "Nothing is recorded: the home has asked for a pause."],
  [{ upload: { ...findings.upload, failure: "no route" } }, "Central did not take the upload: no route."],
  [{ devices: [] }, "The box has no device."],
])("a box with %j has that fault alone", (change, what) => {
  expect(whats(change)).toEqual([what]);
});

const undone = { done: null } as const;
test.each<[Partial<AcceptedDevice>, string[]]>([
  [{ subtypename: "curtain" }, ["hall is in no line."]],
  [{ ...undone, asked: null }, ["hall was not tried: is it in this home?"]],
  [{ ...undone, asked: null, task: "walk" }, []],
  [{ ...undone, later: true }, []],
  [
    { ...undone, later: true, heard: null },
    ["hall did not answer: it was never heard. It may be asleep or out of reach."],
  ],
  [
    { ...undone, later: true, overdue: true, heard: asked - 1 },
    ["hall did not answer: it was last heard 2 minutes before. It may be asleep or out of reach."],
  ],
  [{ ...undone, heard: asked }, ["hall was heard, but told of no task: only signs of life, not motion."]],
  [
    { ...undone, heard: asked - 1, instead: ["bath", "door"] },
    [
      "hall did not answer: it was last heard 2 minutes before. It may be asleep or out of reach. bath and door answered meanwhile: see that no two are swapped.",
    ],
  ],
  [{ batterylow: true, battery: 9 }, ["The battery of hall is nearly empty (9 %)."]],
  [
    { batterylow: true, battery: null, batteryvoltage: 2_300 },
    ["The battery of hall is nearly empty (2300 mV)."],
  ],
  [{ batterylow: true, battery: null }, ["The battery of hall is nearly empty."]],
  [{ signal: null }, []],
  [{ poor: true, through: "a plug" }, ["The way of hall through a plug is weak."]],
  [{ poor: true }, ["The way of hall through its neighbour is weak."]],
  [{ elsewhere: true }, ["By the inventory hall is in another home."]],
])("a device with %j has these faults alone", (change, expected) => {
  expect(of(change)).toEqual(expected);
});

test("a signal is weak below its limit, and not at it; and is told once, whatever the mesh says", () => {
  expect(of({ signal: quality_enough - 1 })).toHaveLength(1);
  expect(of({ signal: quality_enough - 1, poor: true })).toHaveLength(1);
});

test.each([
  [29, "1 minute"],
  [89, "1 minute"],
  [90, "2 minutes"],
  [7_199, "120 minutes"],
  [7_200, "2 hours"],
  [172_799, "48 hours"],
  [172_800, "2 days"],
])("%d seconds ago are %s", (seconds, text) => {
  expect(of({ ...undone, heard: findings.finished - seconds, asked: findings.finished })[0]).toContain(
    `it was last heard ${text} before.`,
  );
});

test("two that answered in each other's place are swapped, and of one alone that is not said", () => {
  const one = { ...undone, itemname: "one", instead: ["other"] };
  const other = { ...undone, itemname: "other", instead: ["one"] };
  expect(of(one, other)).toEqual(["one and other are swapped: each answered in the place of the other."]);
  expect(of(one, { itemname: "other" })).toEqual([
    "one was heard, but told of no task: only signs of life, not motion. other answered meanwhile: see that no two are swapped.",
  ]);
});

test.each<[string[], string[], string[]]>([
  [["a", "b"], ["a", "b"], []],
  // Of two nobody knows whether the walk or the distances are wrong.
  [["a", "b"], ["b", "a"], ["a and b are swapped: it passed b, a."]],
  [["a", "b", "c"], ["c", "b", "a"], ["It went the other way: c, b, a."]],
  [["a", "b", "c"], ["a", "c", "b"], ["b and c are swapped: it passed a, c, b."]],
  [["a", "b", "c"], ["b", "c", "a"], ["a and b and c are swapped: it passed b, c, a."]],
  [["a", "b", "c"], ["b"], ["a and c saw nobody in it."]],
])("a walk past %j that fired %j has the faults %j", (expected, fired, faults) => {
  expect(walkFaults({ fired }, expected, "it").map(({ what }) => what)).toEqual(faults);
});

test("a line is walked there and back, each in its order", () => {
  const walk = (direction: "there" | "back", ...fired: string[]) => ({ direction, asked, fired, took: 3 });
  const line = { line: "hall", order: ["a", "b", "c"], fault: null };
  const faultsWith = (...walks: ReturnType<typeof walk>[]) => whats({ lines: [{ ...line, walks }] });
  const [there, back] = [walk("there", "a", "b", "c"), walk("back", "c", "b", "a")];
  expect(faultsWith(there, back)).toEqual([]);
  expect(faultsWith(there)).toEqual(["The walk along hall from c was not tried."]);
  expect(faultsWith(back)).toEqual(["The walk along hall from a was not tried."]);
  expect(whats({ lines: [{ ...line, fault: "has one sensor", walks: [] }] })).toEqual([
    "The line hall has one sensor.",
  ]);
});

test.each<[Parameters<typeof taskDone_ms>[0], unknown[], number | undefined]>([
  ["motion", [48, 49, 50], 1],
  ["motion", [48, 50], 1],
  ["walk", [48, 49], 1],
  ["use", [0, 1], 1],
  ["use", [0, 4], undefined],
  ["door", [1, 1, 0, 1], 2],
  ["door", [0, 0, 1], undefined],
  ["door", [1, 3, 2], 2],
  // Another door of the box that closes was not opened here.
  ["box", [1, 3, 2], 2],
  ["box", [0x40, 0], 1],
  ["box", [0x80, 0], undefined],
  ["weight", [0, null, 70_000], 2],
  ["measure", [null], 0],
  ["wear", [0], 0],
  ["wear", [], undefined],
])("a %s with the values %j is done at place %j", (task, values, place) => {
  expect(
    taskDone_ms(
      task,
      values.map((value, at) => [at, value]),
    ),
  ).toBe(place);
});
