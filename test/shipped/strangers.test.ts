import { afterAll, expect, test } from "bun:test";
import { besiege } from "../../scripts/trial-programs/hostile/siege.ts";
import { deviceAddresses } from "../../testbed/ble-devices.ts";
import { eventually, type RunningServer, Site } from "../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../testbed/simulator-process.ts";

const { box } = deviceAddresses;
const site = new Site();
afterAll(() => site.remove());
let gateway: RunningServer;
let air: SimulatorProcess;
let token = "";

test("a pill box that nobody let in is counted and shown, and is no item", async () => {
  air = await site.simulator("air");
  site.configure({ sections: `[ble]\nport = "${air.path}"` });
  gateway = await site.run();
  token = await site.token();
  await site.listening();
  await air.tell({ do: "turn", door: 1 });
  const stranger = await eventually(
    async () => (await strangers()).find(({ address }) => address === box),
    "it",
  );
  expect(stranger).toMatchObject({
    kind: "pillboxes",
    subtype: "broadcasting",
    listener: "ble",
    count: expect.any(Number),
    first_ms: expect.any(Number),
    last_ms: expect.any(Number),
    signal_dbm: -60,
  });
  expect(await gateway.records("/inventory/pillboxes", token)).toEqual([]);
  expect((await site.lintel("status", "--data", site.data)).out).toMatch(/Strangers +\d heard.*items admit/);
});

test("one that is admitted beside the running gateway is an item from its next event on", async () => {
  expect(await site.answer("items", "admit", "5448E68F80A5", "--json", "--data", site.data)).toEqual({
    address: box,
    admitted: true,
  });
  await air.tell({ do: "turn", door: 2 });
  // The state of the door that was opened before it was admitted stands in the first broadcast that is listened to.
  await eventually(async () => ((await events())?.at(0) === 0b110 ? true : undefined), "its event");
  expect((await strangers()).map(({ address }) => address)).not.toContain(box);
});

test("which stays so after a restart", async () => {
  expect(await gateway.stop()).toBe(0);
  gateway = await site.run();
  await site.listening();
  await air.tell({ do: "turn", door: 3 });
  await eventually(async () => ((await events())?.at(0) === 0b1110 ? true : undefined), "its event");
});

test("one that is forgotten is a stranger again, and what it had said stays", async () => {
  const before = await events();
  expect(await site.answer("items", "forget", box, "--json", "--data", site.data)).toEqual({
    address: box,
    admitted: false,
  });
  await air.tell({ do: "turn", door: 4 });
  await eventually(
    async () => (await strangers()).find(({ address }) => address === box),
    "it as a stranger",
  );
  expect(await events()).toEqual(before as number[]);
});

test("what cannot be admitted or forgotten is refused in a line, and nothing is changed", async () => {
  for (const [words, said] of [
    [["admit", "neighbour"], /"neighbour" is not the address of a device: write six pairs/],
    [["forget", box], /54:48:e6:8f:80:a5 was not admitted, and is not known/],
  ] as const)
    expect(await site.lintel("items", ...words, "--data", site.data)).toMatchObject({
      code: 2,
      said: expect.stringMatching(said),
    });
});

test("without a gateway a device is admitted in the store, and there are no strangers to list", async () => {
  expect(await gateway.stop()).toBe(0);
  await site.answer("items", "admit", box, "--json", "--data", site.data);
  const { code, said } = await site.lintel("items", "strangers", "--data", site.data);
  expect({ code, said }).toMatchObject({ code: 2, said: expect.stringMatching(/no gateway is running/) });
  gateway = await site.run();
  await site.listening();
  await air.tell({ do: "turn", door: 5 });
  await eventually(async () => ((await events())?.at(0) === 0b111110 ? true : undefined), "its event");
  expect(await gateway.stop()).toBe(0);
});

test("thousands of devices that nobody knows leave the home's events, items and uploads as they are", async () => {
  const { turns, events, items, upload, strangers } = await besiege({ devices: 4_000, seconds: 4 });
  expect({ events, items, upload }).toEqual({ events: turns, items: 1, upload: "" });
  expect(strangers).toBeGreaterThan(100);
});

function strangers(): Promise<Record<string, unknown>[]> {
  return site.answer("items", "strangers", "--json", "--data", site.data);
}

/** Events of the pill box, newest first; undefined while it is no item. */
async function events(): Promise<number[] | undefined> {
  const [item] = await gateway.records<{ itemname: string }[]>("/inventory/pillboxes", token);
  if (item === undefined) return undefined;
  const path = `/items/pillboxes/${item.itemname}/events`;
  return (await gateway.records<{ event: number }[]>(path, token)).map(({ event }) => event);
}
