import { afterAll, beforeAll, expect, test } from "bun:test";
import type { DeviceFacts } from "../../../src/domain/device-facts.ts";
import { sensor, start_ms } from "../../../testbed/sample.ts";
import { type Serving, serve } from "../../../testbed/serving.ts";

const facts: DeviceFacts = {
  description: "presence sensor",
  events: { form: "translated", from: "attribute occupancy of cluster 0x0406" },
  measures: [{ quantity: "illuminance", unit: "lx" }],
  never: ["the end of a movement"],
  blind_s: 60,
  cadence_s: 3_000,
  battery: "half per cent",
  model: "lumi.sensor_motion.aq2",
  firmware: "1.2.4",
  datecode: "20190123",
};

let serving: Serving;
beforeAll(async () => {
  serving = await serve();
  const told = { ...sensor(1), model: "RTCGQ11LM", vendor: "Aqara" };
  const heard = { heard_ms: start_ms, listener: "zigbee" };
  await serving.store.append([], {
    states: [
      { ...heard, device: told, facts, battery_percent: 84, battery_mv: 3_005 },
      { ...heard, device: sensor(2) },
      { ...heard, device: { kind: "scales", address: "d4:36:39:aa:17:5c" }, listener: "ble" },
    ],
  });
  // Later signs of life say nothing of it, and change nothing.
  await serving.store.append([], { states: [{ ...heard, device: sensor(1), heard_ms: start_ms + 5 }] });
  // A driver that has just started knows less of it, which is no change.
  const { firmware: _, ...less } = facts;
  const later = (hours: number) => ({ ...heard, device: told, heard_ms: start_ms + hours * 3_600_000 });
  await serving.store.append([], { states: [{ ...later(1), facts: less }] });
  const updated = { ...facts, firmware: "2.0.0", datecode: "20240501" };
  await serving.store.append([], { states: [{ ...later(2), facts: updated }] });
});
afterAll(() => serving[Symbol.asyncDispose]());

const name = (number: number) => `wirelesssensor-000d6f0005a1000${number}`;

async function device(path: string): Promise<unknown> {
  const response = await serving.ask(path);
  expect(response.status).toBe(200);
  return response.json();
}

const unknown = {
  model: null,
  vendor: null,
  description: null,
  events: null,
  eventsfrom: null,
  measures: [],
  nevertells: [],
  blind: null,
  battery: null,
  batteryvoltage: null,
  batteryunit: null,
  firmware: null,
  datecode: null,
  history: [],
};

const made = {
  description: "presence sensor",
  events: "translated",
  eventsfrom: "attribute occupancy of cluster 0x0406",
  measures: [{ quantity: "illuminance", unit: "lx" }],
  nevertells: ["the end of a movement"],
  blind: 60,
  cadence: 3_000,
  batteryunit: "half per cent",
};

test("a device is told with all that its driver knows of it, and what it was from when to when", async () => {
  const start = start_ms / 1000;
  const before = { ...made, firmware: "1.2.4", datecode: "20190123" };
  const now = { ...made, firmware: "2.0.0", datecode: "20240501" };
  const model = "lumi.sensor_motion.aq2";
  expect(await device(`/items/wirelesssensors/${name(1)}/device`)).toEqual({
    ...now,
    model: "RTCGQ11LM",
    vendor: "Aqara",
    driver: "zigbee",
    battery: 84,
    batteryvoltage: 3_005,
    history: [
      { start: start + 7_200, stop: null, model, ...now },
      { start, stop: start + 7_200, model, ...before },
    ],
  });
});

test("what nobody knows of a device is null, and its cadence is that of its kind", async () => {
  const path = `/items/wirelesssensors/${name(2)}/device`;
  expect(await device(path)).toEqual({ ...unknown, driver: "zigbee", cadence: 7_200 });
  expect(await device("/items/scales/scale-d43639aa175c/device")).toEqual({
    ...unknown,
    driver: "ble",
    cadence: null,
  });
});

test("the device of an unknown item is 404, and so is any before 0.9", async () => {
  expect((await serving.ask("/items/wirelesssensors/nobody/device")).status).toBe(404);
  const older = new URL(`/v0.8/items/wirelesssensors/${name(1)}/device`, serving.api.url);
  const headers = { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" };
  expect((await fetch(older, { headers })).status).toBe(404);
});
