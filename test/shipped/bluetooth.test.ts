import { afterAll, expect, test } from "bun:test";
import { eventually, Site } from "./front-door.ts";

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
  for (const door of [3, 3, 5]) await air.tell({ do: "turn", door });
  await air.tell({ do: "weigh", weight_g: 71_300 });

  const newest = (kind: string, series: string) =>
    eventually(async () => {
      const [item] = await gateway.records<{ itemname: string }[]>(`/inventory/${kind}`, token);
      const path = `/items/${kind}/${item?.itemname}/${series}`;
      return item === undefined ? undefined : (await gateway.records<object[]>(path, token))[0];
    }, `${series} of ${kind}`);
  expect(await newest("pillboxes", "events")).toMatchObject({ event: 1 << 5 });
  expect(await newest("scales", "weights")).toMatchObject({ weight: 71_300 });
  expect(await newest("watches", "epochs")).toMatchObject({ steps: 321 });
  expect(await gateway.stop()).toBe(0);
}, 30_000);
