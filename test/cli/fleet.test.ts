import { afterAll, beforeAll, expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { Site } from "../../testbed/front-door.ts";
import { keptLog, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";

const site = new Site();
const place = ["--data", site.data];

beforeAll(async () => {
  const store = await openCentralStore({
    directory: site.data,
    clock: new SystemClock(),
    log: keptLog().log,
  });
  for (const [home, firmware] of [
    [1, "1.2.4"],
    [2, "1.2.4"],
    [3, "2.0.0"],
  ] as const) {
    const gateway = new SimulatedGateway(home, `home ${home}`);
    const facts = { model: "3041", firmware, datecode: "20190123" };
    const state = {
      device: 0,
      first_ms: start_ms,
      heard_ms: start_ms,
      history: [{ from_ms: start_ms, facts }],
    };
    await store.noteReport(gateway.report({ devices: [sensor(home)], states: [state] }), gateway.sender);
  }
  await store.close();
});
afterAll(() => site.remove());

test("fleet --firmware lists the firmware of each model, and says how many models differ", async () => {
  const { code, out } = await site.lintel("fleet", "--firmware", ...place);
  const rows = out
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.trim().split(/ {2,}/));
  expect([code, rows]).toEqual([
    0,
    [
      ["model", "firmware", "date code", "devices", "homes"],
      ["3041", "1.2.4", "20190123", "2", "1, 2"],
      ["3041", "2.0.0", "20190123", "1", "3"],
      ["1 of 1 models has different firmware"],
    ],
  ]);
  const [model] = await site.answer("fleet", "--firmware", "--json", ...place);
  expect(model).toMatchObject({ model: "3041", versions: [{ homes: [1, 2] }, { homes: [3] }] });
});
