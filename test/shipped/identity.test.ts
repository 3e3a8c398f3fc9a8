import { afterAll, expect, test } from "bun:test";
import { eventually, Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a door sensor under the address of a known wall sensor is refused by pair, shown by items, and heard once it is accepted", async () => {
  const stick = await site.simulator("zigbee");
  site.configure({ sections: stick.section });
  const gateway = await site.run();
  const token = await site.token();
  await site.listening();
  const { ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string };
  const name = `wirelesssensor-${ieee.replaceAll(":", "")}`;
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  const step = async () => JSON.parse((await pair.line()) ?? "null");
  expect(await step()).toMatchObject({ state: "open" });
  await stick.tell({ do: "join", ieee });
  expect(await step()).toMatchObject({ state: "joined", subtype: "wall" });
  await stick.tell({ do: "notify", ieee, status: 0x32 });
  const events = (count: number) =>
    eventually(async () => {
      const found = await gateway.events(name, token).catch(() => []);
      return found.length >= count ? found.map(({ event }) => event) : undefined;
    }, `${count} events`);
  expect(await events(1)).toEqual([0x32]);

  // From now on the simulator's commands to this address go to the pretender.
  await stick.tell({ do: "add", model: "3010", ieee });
  await stick.tell({ do: "join", ieee });
  const remedy = expect.stringContaining(`lintel items accept ${ieee}`);
  expect(await step()).toMatchObject({ state: "failed", address: ieee, remedy });
  pair.kill("SIGINT");
  await pair.exited;
  const conflicts = () => site.answer("items", "conflicts", "--json", "--data", site.data);
  const [{ count }] = await conflicts();
  await stick.tell({ do: "notify", ieee, status: 0x31 });
  await eventually(async () => ((await conflicts())[0].count > count ? true : undefined), "the refusal");
  const why = "its model is 3041, and now it says 3010";
  expect((await site.lintel("items", "--data", site.data)).out.replaceAll(/\s+/g, " ")).toContain(why);
  expect(await events(1)).toEqual([0x32]);
  expect((await site.answer("items", "--json", "--data", site.data))[0]).toMatchObject({
    subtypename: "wall",
  });

  await gateway.stop("SIGKILL");
  const again = await site.run();
  await site.listening();
  expect(await conflicts()).toMatchObject([{ why }]);
  expect(await site.answer("items", "accept", ieee, "--json", "--data", site.data)).toMatchObject({
    answer: "accepted",
  });
  expect(await conflicts()).toEqual([]);
  await stick.tell({ do: "notify", ieee, status: 0x30 });
  await eventually(async () => {
    const found = await again.events(name, token).catch(() => []);
    return found.length > 1 ? true : undefined;
  }, "its event");
});
