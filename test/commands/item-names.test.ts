import { afterAll, expect, test } from "bun:test";
import { eventually, Site } from "../shipped/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("a sensor that joined is called by the name that it is given beside the running gateway, and after the gateway stopped", async () => {
  const stick = await site.simulator("zigbee");
  site.configure({ sections: `[zigbee]\nport = "${stick.path}"` });
  const gateway = await site.run();
  const token = await site.token();
  await site.listening("zigbee");
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  const { ieee } = (await stick.tell({ do: "add", model: "3011" })) as { ieee: string };
  await stick.tell({ do: "join", ieee });
  let joined = { state: "", address: "" };
  while (joined.state !== "joined") joined = JSON.parse((await pair.line()) ?? "{}");
  pair.kill("SIGINT");
  await pair.exited;
  const name = (...words: string[]) => site.lintel("items", "name", ...words, "--data", site.data);

  const [before] = await items();
  expect(await name(joined.address.toUpperCase(), "Kitchen\tdoor", "--room", "Kitchen")).toMatchObject({
    code: 0,
    out: `${joined.address} is called Kitchen door from now on.`,
  });
  expect(await items()).toEqual([{ ...before, itemname: "Kitchen door" }]);
  const events = (called: string) =>
    gateway.records<unknown[]>(`/items/wirelesssensors/${encodeURIComponent(called)}/events`, token);
  await stick.tell({ do: "notify", ieee, status: 1 });
  await eventually(async () => (await events("Kitchen door"))[0], "the event on disk");
  const earlier = await gateway.get(`/inventory/wirelesssensors/${before?.itemname}`, token);
  expect(earlier.status).toBe(404);

  expect(await name(joined.address, " ")).toMatchObject({
    code: 2,
    said: expect.stringContaining("the name is empty"),
  });
  expect(await name("00:11:22:33:44:55:66:77", "Attic")).toMatchObject({
    code: 2,
    said: expect.stringContaining(
      "no device of this home has the address or the name 00:11:22:33:44:55:66:77",
    ),
  });
  expect(await gateway.stop()).toBe(0);
  expect(
    await site.answer("items", "name", joined.address, "Front door", "--json", "--data", site.data),
  ).toEqual({
    kind: "wirelesssensors",
    address: joined.address,
    name: "Front door",
    room: "Kitchen",
    given_ms: expect.any(Number),
    itemname: "Front door",
  });

  function items() {
    return gateway.records<{ itemname: string }[]>("/inventory/wirelesssensors", token);
  }
}, 60_000);
