import { expect, test } from "bun:test";
import { day_ms } from "../../../src/base/time.ts";
import { reading } from "../../../testbed/sample.ts";
import { now_ms, scale, scalePath, zone } from "./device-history.ts";
import { serveHome } from "./device-home.ts";

test("weights that are far from all others are told, and do not make a flat line of these", async () => {
  await using serving = await serveHome({ now_ms, home: 12, zone });
  const none = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
  const weigh = (days: number, weight: number) =>
    reading(scale, "scale_weights", now_ms - days * day_ms, { weight, ...none });
  await serving.store.append(Array.from({ length: 20 }, (_, at) => weigh(21 - at, 68_000 + (at % 5) * 100)));
  const said = async () => await (await serving.ask(`/devices/${scalePath}`)).text();
  expect(await said()).not.toContain("far from all others");
  await serving.store.append([weigh(1, 23_100)]);
  expect(await said()).toContain(
    "all lie between 23.1 kg and 68.4 kg. 1 far from all others is drawn at the edge, as a triangle.",
  );
  await serving.store.append([weigh(0.5, 120_000)]);
  const page = await said();
  expect(page).toContain("2 far from all others are drawn at the edge, as triangles.");
  expect(page).toContain('"far":{"count":2,"least":68,"greatest":68.4}');
});
