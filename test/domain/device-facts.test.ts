import { expect, test } from "bun:test";
import { boxFacts as broadcasting, lidFacts } from "../../drivers/bthome/models.ts";
import { boxFacts as polled } from "../../drivers/pillbox/readings.ts";
import { s400Facts, standardFacts, xiaomiFacts } from "../../drivers/scale/facts.ts";
import { watchFacts } from "../../drivers/watch/readings.ts";
import { type DeviceFacts, keptFacts } from "../../src/domain/device-facts.ts";

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
