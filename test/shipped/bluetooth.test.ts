import { afterAll, expect, test } from "bun:test";
import { deviceAddresses } from "../../testbed/ble-devices.ts";
import { eventually, Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a scale, a broadcasting pill box and a watch are heard through one Bluetooth controller", async () => {
  const air = await site.simulator("air");
  // A watch that was read to its end is left alone for a while.
  const until_ms = Math.floor(Date.now() / 600_000) * 600_000;
  await air.tell({ do: "block", ts: until_ms, steps: 321 });
  site.configure({ sections: `[ble]\nport = "${air.path}"` });
  const gateway = await site.run();
  const token = await site.token();
  await site.listening();
  const admit = (address: string) => site.answer("items", "admit", address, "--json", "--data", site.data);
  await admit(deviceAddresses.box);
  for (const door of [3, 3, 5]) await air.tell({ do: "turn", door });

  const told = (kind: string, series: string, count: number) =>
    eventually(async () => {
      const [item] = await gateway.records<{ itemname: string }[]>(`/inventory/${kind}`, token);
      if (item === undefined) return undefined;
      const records = await gateway.records<object[]>(`/items/${kind}/${item.itemname}/${series}`, token);
      return records.length >= count ? records : undefined;
    }, `${count} of ${series} of ${kind}`);
  expect(await told("pillboxes", "events", 3)).toMatchObject([
    { event: 1 << 5 },
    { event: 0 },
    { event: 1 << 3 },
  ]);
  // Nothing is heard for a moment while one of these is connected to.
  await admit(deviceAddresses.scale);
  await admit(deviceAddresses.watch);
  await air.tell({ do: "weigh", weight_g: 71_300 });
  expect(await told("scales", "weights", 1)).toMatchObject([{ weight: 71_300 }]);
  expect(await told("watches", "epochs", 1)).toMatchObject([{ steps: 321 }]);
  expect(await gateway.stop()).toBe(0);
});
