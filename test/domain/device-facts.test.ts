import { expect, test } from "bun:test";
import { boxFacts as broadcasting, lidFacts } from "../../drivers/bthome/models.ts";
import { boxFacts as polled } from "../../drivers/pillbox/readings.ts";
import { s400Facts, standardFacts, xiaomiFacts } from "../../drivers/scale/facts.ts";
import { watchFacts } from "../../drivers/watch/readings.ts";
import { type DeviceFacts, historyAfter, joinedHistory, keptFacts } from "../../src/domain/device-facts.ts";

const known = [broadcasting, lidFacts, polled, s400Facts, standardFacts, xiaomiFacts, watchFacts(0.7)];

test("the facts of every device that a driver knows are kept whole", () => {
  for (const facts of known) {
    expect(keptFacts(facts)).toEqual(facts);
    expect(facts.description).toBeString();
  }
});

test("texts and lists that are too long are cut, and what no facts are is not kept", () => {
  const long = "x".repeat(500);
  const measures = Array.from({ length: 40 }, (_, place) => ({ quantity: `q${place}`, unit: "" }));
  const kept = keptFacts({
    description: long,
    events: { form: "translated", from: long },
    measures: [{ quantity: long, unit: "lx" }, ...measures],
    never: Array.from({ length: 9 }, () => long),
    battery: long,
    cadence_s: 600,
  });
  expect(kept?.description).toBe(`${"x".repeat(119)}…`);
  expect(kept?.events?.from).toHaveLength(160);
  expect(kept?.measures).toEqual(measures.slice(0, 24));
  expect(kept?.never?.map((text) => text.length)).toEqual([100, 100, 100, 100, 100, 100]);
  expect([kept?.battery?.length, kept?.cadence_s]).toEqual([80, 600]);
  expect(keptFacts({ blind_s: -1 })).toBeUndefined();
  expect(keptFacts({ blind_s: "long" } as unknown as DeviceFacts)).toBeUndefined();
});

const old = {
  description: "motion sensor",
  firmware: "1.2.4",
  measures: [{ quantity: "temperature", unit: "°C" }],
};
const updated = { ...old, firmware: "2.0.0" };

test("what a device was begins anew when it says something else, and not when it says more or less", () => {
  const first = historyAfter([], { description: "motion sensor" }, 1_000);
  const more = historyAfter(first, old, 2_000);
  expect(more).toEqual([{ from_ms: 1_000, facts: old }]);
  expect(historyAfter(more, { description: "motion sensor", measures: [] }, 3_000)).toBe(more);
  const after = historyAfter(more, updated, 4_000);
  expect(after).toEqual([{ from_ms: 4_000, facts: updated }, ...more]);
  // A clock that went back puts nothing before what was known earlier.
  expect(historyAfter(after, old, 500)[0]).toEqual({ from_ms: 4_000, facts: old });
  const unit = { ...updated, measures: [{ quantity: "temperature", unit: "°F" }] };
  // Within the first hour a driver still learns how the readings are made.
  expect(historyAfter(after, unit, 5_000)).toEqual([{ from_ms: 4_000, facts: unit }, ...more]);
  expect(historyAfter(after, unit, 4_000 + 3_600_000)).toHaveLength(3);
});

test("of a device that changes for ever only the latest is kept", () => {
  let history = historyAfter([], old, 0);
  for (let version = 1; version < 200; version += 1)
    history = historyAfter(history, { ...old, firmware: `${version}`, battery: "x".repeat(80) }, version);
  expect(history).toHaveLength(20);
  expect(history.map(({ from_ms }) => from_ms)).toEqual(history.map((_, place) => 199 - place));
  for (let version = 200; version < 240; version += 1)
    history = historyAfter(
      history,
      { firmware: `${version}`, never: Array(6).fill("é".repeat(100)) },
      version,
    );
  expect(history[0]?.from_ms).toBe(239);
  expect(JSON.stringify(history).length).toBeLessThanOrEqual(8_000);
});

test("a box that begins its history anew takes none away that central has", () => {
  const held = historyAfter(historyAfter([], old, 1_000), updated, 2_000);
  const told = historyAfter([], updated, 3_000);
  expect(joinedHistory(told, held)).toEqual(held);
  const newer = historyAfter([], { ...old, firmware: "3.0.0" }, 3_000);
  expect(joinedHistory(newer, held)).toEqual([...newer, ...held]);
  expect(joinedHistory(held, held)).toEqual(held);
  expect(joinedHistory(held, [])).toEqual(held);
});
