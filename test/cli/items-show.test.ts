import { afterAll, beforeAll, expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";
import { keptLog, sensor, start_ms } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

const site = new Site({ commands: lintelHere });
const name = "wirelesssensor-000d6f0005a10001";

beforeAll(async () => {
  const store = await openGatewayStore({
    directory: site.data,
    clock: new SystemClock(),
    log: keptLog().log,
    ...writerOfTests(),
  });
  const device = { ...sensor(1), model: "RTCGQ11LM", vendor: "Aqara" };
  const facts = {
    description: "Motion sensor",
    events: { form: "translated", from: "occupancy, by its definition" },
    measures: [
      { quantity: "illuminance", unit: "lx" },
      { quantity: "action_…", unit: "" },
    ],
    never: ["the end of a movement"],
    blind_s: 60,
    battery: "mV",
  } as const;
  const state = { device, heard_ms: start_ms, listener: "zigbee", battery_mv: 3_005 };
  await store.append([], {
    states: [{ ...state, facts: { ...facts, measures: [...facts.measures], never: [...facts.never] } }],
  });
  await store.close();
});
afterAll(() => site.remove());

test("a device is shown with all that its driver knows of it, a line each", async () => {
  const { code, out } = await site.lintel("items", "show", name, "--data", site.data);
  expect([code, out.trimEnd().split("\n")]).toEqual([
    0,
    [
      `Item          ${name}`,
      "Made by       Aqara",
      "Model         RTCGQ11LM",
      "Device        Motion sensor",
      "Heard by      Zigbee",
      "Recorded      translated: occupancy, by its definition",
      "Measures      illuminance (lx), action_…",
      "Never tells   the end of a movement",
      "Sees nothing  for 60 s after an event",
      "Is heard      at least every 2 h",
      "Battery       3005 mV, told in mV",
    ],
  ]);
});

test("it is shown by its number too, as JSON in the form of the API, and in the table of items", async () => {
  const shown = await site.lintel("items", "show", "1000000001", "--json", "--data", site.data);
  expect(JSON.parse(shown.out)).toMatchObject({
    itemname: name,
    events: "translated",
    nevertells: ["the end of a movement"],
    blind: 60,
  });
  const { out } = await site.lintel("items", "--data", site.data);
  expect(out).toContain("Motion sensor");
});

test("a name that no item has is refused in one line", async () => {
  const { code, out, said } = await site.lintel("items", "show", "nobody", "--data", site.data);
  expect([code, out, said]).toEqual([
    2,
    "",
    "lintel: the inventory has no item nobody: lintel items lists them\n",
  ]);
});
