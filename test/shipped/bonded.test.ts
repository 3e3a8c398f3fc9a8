import { afterAll, expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { deviceAddresses } from "../../testbed/ble-devices.ts";
import { eventually, LintelProcess, type RunningServer, Site } from "../../testbed/front-door.ts";

const site = new Site();
const children: Bun.Subprocess[] = [];
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL");
  await site.remove();
});

const address = deviceAddresses.bondedScale;

/** `lintel pair`, with somebody who types. */
function pair() {
  const child = Bun.spawn([...site.program, "pair", "--seconds", "60", "--json", "--data", site.data], {
    env: { PATH: "/usr/bin:/bin", HOME: site.home },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  children.push(child);
  const process = new LintelProcess(child as unknown as ConstructorParameters<typeof LintelProcess>[0]);
  return {
    type: (text: string) => {
      child.stdin.write(`${text}\n`);
      child.stdin.flush();
    },
    /** The next step of this state; those before it are passed over. */
    step: async (state: string) => {
      const passed: string[] = [];
      for (let line = await process.line(); line !== undefined; line = await process.line()) {
        const step = JSON.parse(line);
        if (step.state === state) return step;
        passed.push(line);
      }
      throw new Error(`no ${state} came, but ${passed.join(" ")} and ${await process.said()}`);
    },
    stop: async () => {
      process.kill("SIGINT");
      return await process.exited;
    },
  };
}

test("a scale that speaks to a bonded partner alone is paired by its digits, and weighs for the same gateway after a kill", async () => {
  const air = await site.simulator("air");
  site.configure({ sections: `[ble]\nport = "${air.path}"` });
  let gateway: RunningServer = await site.run();
  const token = await site.token();
  await site.listening();
  const weights = (count: number) =>
    eventually(async () => {
      const items = await gateway.records<{ itemname: string; hardware?: string }[]>(
        "/inventory/scales",
        token,
      );
      const [item] = items;
      if (item === undefined) return undefined;
      const records = await gateway.records<{ weight: number }[]>(
        `/items/scales/${item.itemname}/weights`,
        token,
      );
      return records.length >= count ? records.map(({ weight }) => weight) : undefined;
    }, `${count} weights`);

  const pairing = pair();
  await pairing.step("open");
  await air.tell({ do: "weighBonded", weight_g: 70_500 });
  expect(await pairing.step("types")).toEqual({ state: "types", address });
  pairing.type((await air.tell({ do: "look" }))["digits"]);
  expect(await pairing.step("bonded")).toEqual({ state: "bonded", address });
  expect(await weights(1)).toEqual([70_500]);
  expect(await pairing.stop()).toBe(0);
  const keys = statSync(join(site.data, "drivers/ble/bonds.json"));
  expect(keys.mode & 0o777).toBe(0o600);

  await gateway.stop("SIGKILL");
  gateway = await site.run();
  await site.listening();
  await air.tell({ do: "weighBonded", weight_g: 71_000 });
  expect(await weights(2)).toEqual([71_000, 70_500]);
  expect((await air.tell({ do: "look" }))["pairings"]).toBe(1);
  expect(await gateway.stop()).toBe(0);
});
