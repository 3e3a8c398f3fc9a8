import { afterAll, beforeAll, expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { quartilesOf } from "../../../src/domain/derived/quartiles.ts";
import { measureOf, pressOf } from "../../../src/domain/quantities.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import { reading, sensor, sensorEvent } from "../../../testbed/sample.ts";
import { now_ms, zone } from "./device-history.ts";
import { type PagesServing, serveHome } from "./device-home.ts";

/** A sensor that measures each ten minutes, one that sees and measures, and one that only sees. */
const [climate, both, motion] = [sensor(1), sensor(2, { subtype: "wall" }), sensor(3, { subtype: "wall" })];
const nameOf = (number: number) => `wirelesssensor-000d6f0005a1000${number}`;
const weeks_ms = 56 * day_ms;

let serving: PagesServing;
beforeAll(async () => {
  serving = await serveHome({ now_ms, home: 12, zone });
  const readings: Reading[] = [];
  for (let at_ms = now_ms - weeks_ms, step = 0; at_ms <= now_ms; at_ms += 600_000, step += 1) {
    const warm = Math.round((20 + 4 * Math.sin(step / 23)) * 100) / 100;
    readings.push(reading(climate, "wirelesssensor_measures", at_ms, measureOf("temperature", warm)));
    readings.push(
      reading(climate, "wirelesssensor_measures", at_ms, measureOf("humidity", 40 + (step % 17))),
    );
  }
  await serving.store.append([
    ...readings,
    sensorEvent(both, now_ms - 3_000, 2),
    reading(both, "wirelesssensor_measures", now_ms - 2_000, measureOf("illuminance", 12)),
    reading(both, "wirelesssensor_measures", now_ms - 1_000, pressOf("double")),
    sensorEvent(motion, now_ms - 3_000, 2),
  ]);
  const events = { form: "received", from: "IAS zone status" } as const;
  const facts = {
    description: "ceiling motion sensor",
    events,
    never: ["the end of a movement"],
    blind_s: 120,
  };
  await serving.store.append([], {
    states: [{ device: both, heard_ms: now_ms, listener: "zigbee", battery_percent: 84, facts }],
  });
});
afterAll(() => serving[Symbol.asyncDispose]());

async function pageOf(number: number, query = ""): Promise<string> {
  const page = await (await serving.ask(`/devices/wirelesssensors/${nameOf(number)}${query}`)).text();
  return page.replace(/<(script|table)[\s\S]*?<\/\1>/g, "").replace(/<[^>]*>/g, "");
}

test("a day of a sensor that only measures is a curve for each quantity, of the numbers that the interface has", async () => {
  const records = await serving.records(
    `/v0.9/items/wirelesssensors/${nameOf(1)}/measures?since=@${Math.floor((now_ms - 2 * day_ms) / 1000)}&precision=ms`,
  );
  const page = await pageOf(1, "?from=2026-11-19&until=2026-11-20");
  const day = [Date.UTC(2026, 10, 18, 23), Date.UTC(2026, 10, 19, 23)] as const;
  for (const [quantity, title, unit] of [
    ["temperature", "Temperature", "°C"],
    ["humidity", "Humidity", "%"],
  ] as const) {
    const values = records
      .filter(
        ({ stamp = 0, ...rest }) => stamp >= day[0] && stamp < day[1] && `${rest["quantity"]}` === quantity,
      )
      .map(({ value = 0 }) => value);
    const spread = quartilesOf(values);
    const [lowest, highest] = [spread?.minimum.toFixed(1), spread?.maximum.toFixed(1)];
    expect(values).toHaveLength(144);
    expect(page).toContain(`${title}. Half of 144 values lie between`);
    expect(page).toContain(`all lie between ${lowest} ${unit} and ${highest} ${unit}`);
  }
  expect(page).toContain("MeasuresEvents");
});

test("eight weeks are the least and the greatest of each stretch, of one quantity alone", async () => {
  const page = await pageOf(1);
  expect(page).toContain("Temperature. All lie between 16.0 °C and 24.0 °C.");
  expect(page).toContain("Humidity. All lie between 40.0 % and 56.0 %.");
});

test("a sensor that sees and measures has both, and what it told in words; one that only sees has no measures", async () => {
  expect(await pageOf(2)).toContain("EventsMeasures");
  const measures = await pageOf(2, "?series=measures");
  expect(measures).toContain("Light 12 lx");
  expect(measures).toContain("Button double");
  expect(await pageOf(3)).not.toContain("measures");
});

test("what is recorded says of some devices that they measure, where one does", async () => {
  const text = await (await serving.ask("/recorded")).text();
  expect(text).toContain("Some of them also measure something");
});

test("the page of a device says how its readings are made, as the interface does", async () => {
  const text = await pageOf(2);
  for (const words of [
    "ceiling motion sensor",
    "as received: IAS zone status",
    "the end of a movement",
    "for 2 min after an event",
    "84 %",
  ])
    expect(text).toContain(words);
});
