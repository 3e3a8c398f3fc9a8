import { afterAll, beforeAll, expect, test } from "bun:test";
import { type SimulatedModel, simulatedModels } from "../../drivers/zigbee/simulator/models.ts";
import { eventually, type LintelProcess, type RunningServer, Site } from "../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../testbed/simulator-process.ts";

const models = Object.entries(simulatedModels as Readonly<Record<string, SimulatedModel>>).filter(
  ([, { says }]) => says !== undefined,
);

const site = new Site();
let stick: SimulatorProcess;
let gateway: RunningServer;
let pairing: LintelProcess;
let token = "";
const addresses = new Map<string, string>();

beforeAll(async () => {
  stick = await site.simulator("zigbee");
  site.configure({ sections: stick.section });
  gateway = await site.run();
  token = await site.token();
  await site.listening();
  pairing = site.spawn(["pair", "--seconds", "254", "--json", "--data", site.data]);
  expect(JSON.parse((await pairing.line()) ?? "")).toMatchObject({ state: "open" });
});
afterAll(() => site.remove());

test("a sensor of every model of the table joins", async () => {
  for (const [model] of models) {
    const { ieee } = (await stick.tell({ do: "add", model })) as { ieee: string };
    addresses.set(model, ieee);
    await stick.tell({ do: "join", ieee });
    expect(JSON.parse((await pairing.line()) ?? "")).toMatchObject({ state: "joined", address: ieee });
  }
});

test.each(models)(
  "what a %s says comes back from the interface as the events and measures of its row",
  async (model, { says = {} }) => {
    const ieee = addresses.get(model) ?? "";
    const before = await recorded(ieee);
    for (const what of Object.keys(says)) await stick.tell({ do: "say", ieee, what });
    const rows = Object.values(says).map(({ gives }) => gives);
    const events = rows.flatMap(({ event }) => event ?? []).map(Number);
    const measures = rows.flatMap((row) =>
      Object.entries(row.measures ?? {}).map(([quantity, [value, unit]]) => ({ quantity, value, unit })),
    );
    const told = await eventually(async () => {
      const { events: all, measures: numbers } = await recorded(ieee);
      const late = {
        events: all.slice(before.events.length),
        measures: numbers.slice(before.measures.length),
      };
      return late.events.length < events.length || late.measures.length < measures.length ? undefined : late;
    }, `all that a ${model} says`);
    expect(told).toEqual({ events, measures });
  },
);

test("an Aqara motion sensor that says nothing more has told of no end of motion", async () => {
  const { events } = await recorded(addresses.get("lumi.sensor_motion.aq2") ?? "");
  expect(events.length).toBeGreaterThan(0);
  expect(events.filter((event) => (event & 0b10) === 0)).toEqual([]);
});

test("what each is stands in its item: who is there is a wall sensor, what opens is a door", async () => {
  const items = await site.answer("items", "--json", "--data", site.data);
  const of = (model: string) =>
    items.find(({ macaddress }: { macaddress: string }) => macaddress === addresses.get(model));
  expect(of("SML001")).toMatchObject({ subtypename: "wall" });
  expect(of("lumi.sensor_magnet.aq2")).toMatchObject({ subtypename: "door" });
  expect(of("TS0601/_TZE204_sxm7l9xa")).toMatchObject({ subtypename: "wall" });
});

test("all go on being heard after kill -9, by definitions that are loaded before their next message", async () => {
  gateway.process.kill("SIGKILL");
  await gateway.process.exited;
  gateway = await site.run();
  await site.listening();
  for (const [model, what, bit] of [
    ["SML001", "somebody", 0b10],
    ["TS0601/_TZE204_sxm7l9xa", "somebody", 0b10],
    ["lumi.sensor_magnet.aq2", "open", 0b01],
  ] as const) {
    const ieee = addresses.get(model) ?? "";
    const { events } = await recorded(ieee);
    await stick.tell({ do: "say", ieee, what });
    const later = await eventually(async () => {
      const { events: all } = await recorded(ieee);
      return all.length > events.length ? all.slice(events.length) : undefined;
    }, `an event of ${model}`);
    expect(later).toEqual([bit]);
  }
});

test("the gateway leaves on SIGTERM though a converter's timer has more than a minute to run", async () => {
  const ieee = addresses.get("lumi.sensor_motion.aq2") ?? "";
  const { events } = await recorded(ieee);
  await stick.tell({ do: "say", ieee, what: "somebody" });
  await eventually(
    async () => ((await recorded(ieee)).events.length > events.length ? true : undefined),
    "an event of the motion sensor",
  );
  expect(await gateway.stop("SIGTERM")).toBe(0);
});

/** Events and measures of a sensor, oldest first. */
async function recorded(ieee: string) {
  const path = `/items/wirelesssensors/wirelesssensor-${ieee.replaceAll(":", "")}`;
  const page = async <Record>(series: string) =>
    (await gateway.records<Record[]>(`${path}/${series}?limit=1000`, token)).toReversed();
  const events = await page<{ event: number }>("events");
  const measures = await page<{ stamp?: number; quantity: string; value: number; unit: string }>("measures");
  return {
    events: events.map(({ event }) => event),
    measures: measures.map(({ quantity, value, unit }) => ({ quantity, value, unit })),
  };
}
