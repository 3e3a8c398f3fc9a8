import { expect, test } from "bun:test";
import { measureOf, pressOf, quantities, quantityOf, titleOf } from "../../src/domain/quantities.ts";

const documentation = await Bun.file(new URL("../../docs/quantities.md", import.meta.url)).text();

test("docs/quantities.md has every quantity as the table has it, in its order, then presses, and no other", () => {
  const documented = [...documentation.matchAll(/^\| `(.+)` \| (.*?) ?\| (.+) \|$/gm)].map(
    ([, name, unit, meaning]) => [name, unit, meaning],
  );
  const rows = Object.entries(quantities).map(([name, { unit, meaning }]) => [name, unit, meaning]);
  const press = quantityOf("action_single");
  expect(documented).toEqual([...rows, ["action_…", press?.unit, press?.meaning]]);
});

test("a known quantity is recorded in its unit, whichever its device tells it in", () => {
  expect(measureOf("temperature", 21.4)).toEqual({ quantity: "temperature", value: 21.4, unit: "°C" });
  expect(measureOf("temperature", 70.52, "°F")).toEqual({ quantity: "temperature", value: 21.4, unit: "°C" });
  expect(measureOf("pressure", 30.01, "kPa")).toEqual({ quantity: "pressure", value: 300.1, unit: "hPa" });
  expect(measureOf("energy", 1_500, "Wh")).toEqual({ quantity: "energy", value: 1.5, unit: "kWh" });
});

test("what nobody knows is recorded as it was told", () => {
  expect(measureOf("radon", 40, "Bq/m³")).toEqual({ quantity: "radon", value: 40, unit: "Bq/m³" });
  expect(measureOf("charm", 3)).toEqual({ quantity: "charm", value: 3, unit: "" });
  expect(measureOf("pressure", 29.9, "inHg")).toEqual({ quantity: "pressure", value: 29.9, unit: "inHg" });
  expect(measureOf("toString", 1)).toEqual({ quantity: "toString", value: 1, unit: "" });
  expect([quantityOf("charm"), titleOf("soil_stuff")]).toEqual([undefined, "Soil stuff"]);
});

test("a press is a measure of 1, named as its maker names it", () => {
  expect(pressOf("single")).toEqual({ quantity: "action_single", value: 1, unit: "" });
  expect(titleOf("action_double")).toBe("Button double");
});
