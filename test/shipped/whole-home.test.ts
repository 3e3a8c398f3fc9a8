import { afterAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { deviceAddresses } from "../../testbed/ble-devices.ts";
import { eventually, type RunningServer, Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());
let gateway: RunningServer;
let token = "";

const block_ms = 600_000;
const now_ms = Math.floor(Date.now() / block_ms) * block_ms;

test("a stick, a bridge of pill boxes, a watch on a wire and a Bluetooth controller serve one gateway at once", async () => {
  const [stick, bridge, watch, air] = await Promise.all([
    site.simulator("zigbee"),
    site.simulator("pillbox"),
    site.simulator("watch", "--days", "0"),
    site.simulator("air"),
  ]);
  await bridge.tell({ do: "add", mac: "c0:ff:ee:00:00:01" });
  for (const open of [true, false])
    await bridge.tell({ do: "door", mac: "c0:ff:ee:00:00:01", door: 2, open });
  await watch.tell({ do: "block", ts: now_ms, stp: 77, act: "WALKING" });
  await air.tell({ do: "block", ts: now_ms - block_ms, steps: 88 });
  const ports = { pillbox: bridge, watch, ble: air };
  const sections = Object.entries(ports).map(([name, { path }]) => `[${name}]\nport = "${path}"`);
  site.configure({ sections: [stick.section, ...sections].join("\n") });
  gateway = await site.run();
  token = await site.token();
  await site.listening();

  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  expect(JSON.parse((await pair.line()) ?? "")).toMatchObject({ state: "open", drivers: ["zigbee", "ble"] });
  const { ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string };
  expect(await stick.tell({ do: "join", ieee })).toMatchObject({ joined: true });
  await air.tell({ do: "turn", door: 6 });
  await air.tell({ do: "weigh", weight_g: 64_200 });
  // What speaks by radio while joining is open is let in, like a sensor that joins.
  const { bondedScale: _, ...spoken } = deviceAddresses;
  const joined = [ieee, ...Object.values(spoken)].map(async () => {
    const { state, address } = JSON.parse((await pair.line()) ?? "{}");
    return `${state} ${address}`;
  });
  expect((await Promise.all(joined)).toSorted()).toEqual(
    [ieee, ...Object.values(spoken)].map((address) => `joined ${address}`).toSorted(),
  );
  pair.kill("SIGINT");
  expect(await pair.exited).toBe(0);

  for (const status of [0x31, 0x30]) await stick.tell({ do: "notify", ieee, status });

  expect(await served("wirelesssensors", "events", "event", 2)).toEqual([0x30, 0x31]);
  expect(await served("pillboxes", "events", "event", 3)).toEqual([0, 4, 64]);
  expect(await served("scales", "weights", "weight", 1)).toEqual([64_200]);
  expect(await served("watches", "epochs", "steps", 2)).toEqual([77, 88]);
});

test("which is then well by what lintel doctor finds, and has written nothing into the home directory", async () => {
  const findings = await site.answer("doctor", "--json", "--config", site.config);
  expect(findings.filter(({ state }: { state: string }) => state === "fault")).toEqual([]);
  expect(await gateway.stop()).toBe(0);
  expect(readdirSync(site.home)).toEqual([]);
});

/** A field of so many records of all items of a kind, in order of value. */
function served(kind: string, series: string, field: string, count: number): Promise<number[]> {
  return eventually(async () => {
    const items = await gateway.records<{ itemname: string }[]>(`/inventory/${kind}`, token);
    const pages = items.map(({ itemname }) =>
      gateway.records<Record<string, number>[]>(`/items/${kind}/${itemname}/${series}`, token),
    );
    const values = (await Promise.all(pages)).flat().map((record) => record[field] ?? Number.NaN);
    return values.length >= count ? values.toSorted((one, other) => one - other) : undefined;
  }, `${count} of ${series} of ${kind}`);
}
