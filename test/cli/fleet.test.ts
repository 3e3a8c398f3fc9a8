import { afterAll, beforeAll, expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";
import { keptLog, sensor, start_ms } from "../../testbed/sample.ts";
import { SimulatedGateway } from "../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";

const site = new Site({ commands: lintelHere });
const place = ["--data", site.data];

/** Burn-ins of the boxes of homes. */
const burnIns = {
  1: undefined,
  2: { ended_ms: start_ms, failed: [], skipped: ["clock"], changed: [] },
  3: { ended_ms: start_ms, failed: [], skipped: [], changed: ["card", "stick"] },
};

/** Acceptances of homes. */
const acceptances = {
  1: undefined,
  2: { number: 1, finished_ms: start_ms, faults: [], night: [] },
  3: { number: 2, finished_ms: start_ms, faults: ["The battery of Hall 2 is nearly empty."] },
};

beforeAll(async () => {
  const store = await openCentralStore({
    directory: site.data,
    clock: new SystemClock(),
    log: keptLog().log,
    ...writerOfTests(),
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
    const health = { devices: [sensor(home)], states: [state] };
    const told = { burn_in: burnIns[home], acceptance: acceptances[home] };
    await store.noteReport(gateway.report(health, told), gateway.sender);
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

test("fleet shows the burn-in of each box, and which home needs another one", async () => {
  const { out } = await site.lintel("fleet", "--all", ...place);
  const [head = "", ...rows] = out.split("\n");
  const burnInOf = (home: string) =>
    rows
      .find((row) => row.trim().startsWith(`${home} `))
      ?.slice(head.indexOf("burn-in"))
      .trim();
  expect(["1", "2", "3"].map(burnInOf)).toEqual([
    "–",
    new Date(start_ms).toISOString().slice(0, 10),
    "other card, stick",
  ]);
  const day = new Date(start_ms).toISOString().slice(0, 10);
  expect(out).toContain(`${day}, first night good`);
  expect(out).toContain(
    "! home 3: Home 3: Not accepted: The battery of Hall 2 is nearly empty. Try it again",
  );
  expect(out).toContain(
    "! home 3: The gateway of home 3 has another card and another stick since its burn-in: lintel burn-in --again all at the bench",
  );
});
