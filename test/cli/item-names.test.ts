import { afterAll, expect, test } from "bun:test";
import { lintelHere } from "../../testbed/command-here.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { LostBox } from "./lost-box.ts";

const site = new Site({ commands: lintelHere });
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
});

test("what devices are called goes up as a proposal, is shown to who may see that home, and leads nowhere at central", async () => {
  await using box = new LostBox({ commands: lintelHere });
  await box.start();
  await box.live(1, 20);
  const items = (): Promise<{ itemname: string; macaddress: string }[]> =>
    box.site.answer("items", "--json", "--data", box.site.data);
  const [first, second] = await items();
  await box.run("items", "name", first?.macaddress ?? "", "Pantry <b>", "--data", box.site.data);
  const room = ["--room", "Cellar", "--data", box.site.data];
  await box.run("items", "name", second?.macaddress ?? "", "Cellar stairs", ...room);
  await box.upload();
  const page = async (token: string) => {
    const headers = { Cookie: `lintel-${new URL(box.central.origin).port}=${token}` };
    const answer = await fetch(`${box.central.origin}/homes/12`, { headers });
    return answer.ok ? await answer.text() : answer.status;
  };
  const shown = await page(await box.central.token("--home", "12"));
  expect(shown).toContain("Names given in the home");
  expect(shown).toContain("Pantry &lt;b>");
  expect(shown).toContain("Cellar");
  expect(await page(await box.central.token("--home", "13"))).toBe(404);
  const here = await box.central.get<{ itemname: string }[]>("/inventory/wirelesssensors");
  expect(here.map(({ itemname }) => itemname)).not.toContain("Cellar stairs");
  // The inventory has the last word: what it names is no proposal any more.
  const named = {
    itemid: 5,
    itemname: "Cellar stairs",
    macaddress: second?.macaddress,
    typename: "wirelesssensors",
  };
  await box.central.import({ items: [{ ...named, currenthomeid: 12, currenthomestart: 1 }] });
  const then = String(await page(await box.central.token("--home", "12")));
  expect(then).toContain("Pantry");
  expect(then).not.toContain("is called <bdi>Cellar stairs</bdi>");
});

test("a sensor that [walking] names keeps its name, and a broken one gives up its own to the next", async () => {
  await using box = new LostBox({ commands: lintelHere });
  await box.start();
  await box.live(1, 20);
  const of = ["--config", box.site.config];
  const [first, second] = (await box.site.answer("items", "--json", ...of)) as {
    itemname: string;
    macaddress: string;
  }[];
  const line = ["a", "b", first?.itemname].map((item, place) => `{ item = "${item}", metres = ${place} }`);
  box.configure(`[walking]\nhall = [${line.join(", ")}]`);
  const refused = await box.site.lintel("items", "name", first?.macaddress ?? "", "Hall 1", ...of);
  expect(refused).toMatchObject({ code: 2, out: "" });
  const said = `the line hall in [walking] of the configuration names ${first?.itemname}`;
  expect(refused.said).toContain(said);
  // The configuration that a command finds by itself has its data there.
  const byData = ["--data", box.site.data];
  const refusedToo = await box.site.lintel("items", "name", first?.macaddress ?? "", "Hall 1", ...byData);
  expect(refusedToo).toMatchObject({ code: 2, said: expect.stringContaining(said) });
  box.configure();
  await box.run(
    "items",
    "name",
    first?.macaddress ?? "",
    "Hall 1",
    "--room",
    "Hall",
    "--metres",
    "0.5",
    ...of,
  );
  expect((await box.run("items", "replace", "Hall 1", second?.macaddress ?? "", ...of)).out).toContain(
    `${second?.macaddress} is called Hall 1 from now on, in place of ${first?.macaddress}.`,
  );
  const again = await box.site.lintel("items", "replace", first?.macaddress ?? "", "Hall 1", ...of);
  expect(again).toMatchObject({ code: 2, said: expect.stringContaining("nobody has given") });
  const wrong = ["items", "name", second?.macaddress ?? "", "Hall 1", "--metres", "far"];
  expect(await box.site.lintel(...wrong, ...of)).toMatchObject({
    code: 2,
    said: expect.stringContaining("no distance in metres"),
  });
});

test("a pill box is given the hour for which its dose is prescribed, and nothing else is", async () => {
  await using box = new LostBox({ commands: lintelHere });
  await box.start();
  await box.live(1, 2);
  const [sensor] = await box.site.answer("items", "--json", "--data", box.site.data);
  const hour = (...words: string[]) =>
    box.site.lintel("items", "name", sensor.macaddress, "Pills", "--data", box.site.data, ...words);
  expect(await hour("--due", "8 o'clock")).toMatchObject({
    code: 2,
    said: expect.stringContaining("is no hour of the day"),
  });
  expect(await hour("--due", "8:00")).toMatchObject({
    code: 2,
    said: expect.stringContaining("Pills is no pill box, and has no hour"),
  });
});
