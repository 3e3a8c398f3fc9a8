import { afterAll, expect, test } from "bun:test";
import { Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a stick with another network is left as it is, until lintel pair is told to form a new one, for which it waits", async () => {
  const stick = await site.simulator("zigbee");
  await stick.tell({ do: "network" });
  const held = await stick.tell({ do: "export" });
  site.configure({ sections: stick.section });
  const gateway = await site.run();
  const words = ["pair", "--seconds", "60", "--json", "--data", site.data];

  const refused = await site.lintel(...words);
  expect({ code: refused.code, out: refused.out }).toEqual({ code: 2, out: "" });
  expect(refused.said).toContain(
    `the Zigbee adapter ${stick.path} holds another network (channel 15, PAN 0x`,
  );
  expect(refused.said).toContain("`lintel restore`");
  expect(refused.said).toContain("`lintel pair --new-network`");
  expect(await stick.tell({ do: "export" })).toEqual(held);

  const pair = site.spawn([...words, "--new-network"]);
  expect(JSON.parse((await pair.line()) ?? "")).toEqual({
    state: "open",
    seconds: 60,
    drivers: ["zigbee"],
  });
  pair.kill("SIGINT");
  expect(await pair.exited).toBe(0);
  expect(await pair.said()).toContain("Waiting for the zigbee adapter, which is starting.\n");
  expect(await stick.tell({ do: "export" })).not.toEqual(held);

  const again = await site.lintel(...words, "--new-network");
  expect({ code: again.code, out: again.out }).toEqual({ code: 2, out: "" });
  expect(again.said).toContain("holds no other network that could be given up: leave --new-network away");
  expect(await gateway.stop()).toBe(0);
});
