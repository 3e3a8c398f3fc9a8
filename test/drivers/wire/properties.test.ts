import { expect, test } from "bun:test";
import { eventOf, type Properties, toldBy } from "../../../drivers/wire/properties.ts";

const properties = (...names: string[]): Properties => new Map(names.map((name) => [name, {}]));

test("occupancy and presence are bit 1, a door, water and vibration bit 0, tamper bit 2, a low battery bit 3", () => {
  const bitsOf = (name: string, value: boolean) => eventOf(toldBy({ [name]: value }, properties(name)).signs);
  expect(bitsOf("occupancy", true)).toEqual({ mask: 0b10, bits: 0b10, begins: 0b10, ends: 0 });
  expect(bitsOf("occupancy", false)).toEqual({ mask: 0b10, bits: 0, begins: 0, ends: 0b10 });
  expect(bitsOf("presence", true)).toEqual({ mask: 0b10, bits: 0b10, begins: 0, ends: 0 });
  expect(bitsOf("contact", false)).toEqual({ mask: 0b1, bits: 0b1, begins: 0, ends: 0 });
  expect(bitsOf("contact", true)).toEqual({ mask: 0b1, bits: 0, begins: 0, ends: 0 });
  expect(bitsOf("water_leak", true)).toEqual({ mask: 0b1, bits: 0b1, begins: 0, ends: 0 });
  expect(bitsOf("vibration", true)).toEqual({ mask: 0b1, bits: 0b1, begins: 0b1, ends: 0 });
  expect(bitsOf("tamper", true)).toEqual({ mask: 0b100, bits: 0b100, begins: 0, ends: 0 });
  expect(bitsOf("battery_low", true)).toEqual({ mask: 0b1000, bits: 0b1000, begins: 0, ends: 0 });
});

test("two properties for one bit are told apart: the first in the table has the bit, the other is a measure", () => {
  const told = toldBy({ contact: false, vibration: true }, properties("vibration", "contact"));
  expect(told.signs).toEqual([{ name: "contact", bit: 0, on: true, happens: false }]);
  expect(told.measures).toEqual([{ quantity: "vibration", value: 1, unit: "" }]);
});

test("what a definition tells by two words of its own is as true or false as what is told so", () => {
  const spoken: Properties = new Map([["carbon_monoxide", { on: "ON", off: "OFF" }]]);
  expect(eventOf(toldBy({ carbon_monoxide: "ON" }, spoken).signs)).toMatchObject({ mask: 1, bits: 1 });
  expect(eventOf(toldBy({ carbon_monoxide: "OFF" }, spoken).signs)).toMatchObject({ mask: 1, bits: 0 });
  expect(toldBy({ carbon_monoxide: "perhaps" }, spoken)).toMatchObject({ signs: [], unrecorded: 1 });
});

test("numbers are measures in their unit, words and presses are measures of 1, on and off are 1 and 0", () => {
  const known: Properties = new Map([
    ["temperature", { unit: "°F" }],
    ["state", { on: "ON", off: "OFF" }],
    ["motion_state", { words: true }],
  ]);
  const payload = { temperature: 70.52, action: "double", motion_state: "large", state: "OFF", moving: true };
  expect(toldBy(payload, known).measures).toEqual([
    { quantity: "temperature", value: 21.4, unit: "°C" },
    { quantity: "action_double", value: 1, unit: "" },
    { quantity: "motion_state_large", value: 1, unit: "" },
    { quantity: "state", value: 0, unit: "" },
    { quantity: "moving", value: 1, unit: "" },
  ]);
});

test("the state of a battery is no measure, and mains voltage is one", () => {
  const battery = toldBy({ battery: 87.5, voltage: 2950 }, new Map([["voltage", { unit: "mV" }]]));
  expect(battery).toMatchObject({ measures: [], battery: { battery_percent: 88, battery_mv: 2950 } });
  const mains = toldBy({ voltage: 229.5 }, new Map([["voltage", { unit: "V" }]]));
  expect(mains.measures).toEqual([{ quantity: "voltage", value: 229.5, unit: "V" }]);
});

test("what is neither a number nor one of a few words is counted and not kept", () => {
  const payload = { color: { x: 1 }, text: "one", not: Number.NaN, nothing: null, empty: "" };
  expect(toldBy(payload, properties())).toMatchObject({ measures: [], unrecorded: 3 });
});

test("an event word is a bit also where no definition names it, and words with other bits are told beside it", () => {
  expect(toldBy({ contact: false }, properties()).signs).toHaveLength(1);
  const told = toldBy({ contact: false, tamper: true }, properties("contact", "tamper"));
  expect(told.signs.map(({ bit }) => bit)).toEqual([0, 2]);
  expect(eventOf([])).toBeUndefined();
});

test("a state that is a word is known by its property, and is one whole word", () => {
  const known: Properties = new Map([["motion_state", { words: true }]]);
  const { words } = toldBy({ motion_state: "large", action: "double" }, known);
  expect([...words]).toEqual([
    ["motion_state_large", "motion_state"],
    ["action_double", "action"],
  ]);
  const odd = toldBy({ motion_state: " large", action: "double click" }, known);
  expect(odd).toMatchObject({ measures: [], unrecorded: 2 });
  expect(toldBy({ action: ["double"] }, known)).toMatchObject({ measures: [], unrecorded: 1 });
});

test("what is not there, and the quality of the link, is neither kept nor counted", () => {
  expect(toldBy({ linkquality: 120, gone: undefined }, properties())).toMatchObject({
    measures: [],
    unrecorded: 0,
  });
});

test("a battery is told by numbers that are numbers, and by a voltage that no definition describes", () => {
  expect(toldBy({ voltage: 2950 }, properties()).battery).toEqual({ battery_mv: 2950 });
  expect(toldBy({ battery: true }, properties()).battery).toEqual({});
  const percent = (battery: number) => toldBy({ battery }, properties()).battery.battery_percent;
  expect([-1, 0, 100, 250].map(percent)).toEqual([0, 0, 100, 100]);
  const none = toldBy({ battery: Number.NaN, voltage: Number.NaN }, properties());
  expect(none).toMatchObject({ battery: {}, unrecorded: 2 });
  expect(none.battery).toEqual({});
});
