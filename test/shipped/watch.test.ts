import { afterAll, expect, test } from "bun:test";
import { byCommand, eventually, Site } from "../../testbed/front-door.ts";
import { inHome } from "../../testbed/uploading.ts";

const site = new Site();
afterAll(() => site.remove());

test("a watch on a wire is read to the end of its log, and after it was pulled out, on from there", async () => {
  const watch = await site.simulator("watch", "--days", "0");
  const now_ms = Math.floor(Date.now() / block_ms) * block_ms;
  const blocks = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const wear = async (first: number, last: number) => {
    for (const number of blocks(first, last))
      await watch.tell({ do: "block", ts: now_ms - (100 - number) * block_ms, stp: number, act: "WALKING" });
  };
  await wear(1, 20);
  site.configure({ sections: `[watch]\nport = "${watch.path}"` });
  const gateway = await site.run();
  const token = await site.token();
  const steps = async () => {
    const [item] = await gateway.records<{ itemname: string }[]>("/inventory/watches", token);
    if (item === undefined) return [];
    const epochs = await gateway.records<{ steps: number }[]>(
      `/items/watches/${item.itemname}/epochs`,
      token,
    );
    return epochs.map((epoch) => epoch.steps).toReversed();
  };
  const read = (last: number) =>
    eventually(async () => ((await steps()).length >= last ? true : undefined), `${last} epochs`);
  await read(20);
  await watch.tell({ do: "unplug" });
  await wear(21, 30);
  await watch.tell({ do: "replug" });
  await read(30);
  expect(await steps()).toEqual(blocks(1, 30));
  expect(await gateway.stop()).toBe(0);
});

test("watches on the wires of two homes, neither with a configured address, are two watches at central", async () => {
  const centralSite = new Site();
  const homes = [12, 13].map((home) => ({ home, site: new Site() }));
  try {
    const central = await centralSite.central("--data", centralSite.data);
    const now_ms = Math.floor(Date.now() / block_ms) * block_ms;
    for (const { home, site } of homes) {
      const watch = await site.simulator("watch", "--days", "0");
      await watch.tell({ do: "block", ts: now_ms, stp: home, act: "WALKING" });
      const placed = await inHome(home, site, { site: centralSite, central });
      site.configure({ sections: `${placed}\n[watch]\nport = "${watch.path}"` });
      const gateway = await site.run();
      await eventually(
        async () => (await site.answer("status", "--json", "--data", site.data)).store.last_seq || undefined,
        "its epoch",
        byCommand,
      );
      expect(await site.answer("upload", "--config", site.config, "--json")).toMatchObject({ sent: 1 });
      expect(await gateway.stop()).toBe(0);
    }
    const token = await centralSite.token();
    const watches = await central.records<{ itemname: string; macaddress: string }[]>(
      "/inventory/watches",
      token,
    );
    const steps = await Promise.all(
      watches.map(({ itemname }) => central.records(`/items/watches/${itemname}/epochs`, token)),
    );
    expect(steps).toMatchObject([[{ steps: 12 }], [{ steps: 13 }]]);
    expect(watches.map(({ macaddress }) => macaddress)).toEqual(["02:00:00:00:00:0c", "02:00:00:00:00:0d"]);
  } finally {
    await Promise.all([centralSite, ...homes.map(({ site }) => site)].map((site) => site.remove()));
  }
});

const block_ms = 600_000;
