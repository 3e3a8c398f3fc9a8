import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningServer, Site } from "../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../testbed/simulator-process.ts";

const site = new Site();
let stick: SimulatorProcess;
let gateway: RunningServer;
/** Addresses of a plug, and of two sensors. */
let plug = "";
let wall = "";
let door = "";

beforeAll(async () => {
  stick = await site.simulator("zigbee");
  site.configure({ sections: stick.section });
  gateway = await site.run();
  await site.listening();
  const add = async (model: string) => ((await stick.tell({ do: "add", model })) as { ieee: string }).ieee;
  [plug, wall, door] = [await add("lamp"), await add("3041"), await add("3011")];
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  for (const ieee of [plug, wall, door]) {
    await stick.tell({ do: "join", ieee });
    await pair.line();
  }
  pair.kill("SIGINT");
  await pair.exited;
  await stick.tell({ do: "hang", ieee: wall, on: plug, quality: 35 });
});
afterAll(() => site.remove());

const itemOf = (ieee: string) => `wirelesssensor-${ieee.replaceAll(":", "")}`;

test("lintel mesh asks the devices, and tells first what is to be done", async () => {
  const { code, out } = await site.lintel("mesh", "--data", site.data);
  expect(code).toBe(0);
  const lines = out.split("\n").map((line) => line.trim().split(/ {2,}/).join(" | "));
  const plugName = `lamp (${plug.slice(-5)})`;
  expect(lines.slice(0, 3)).toEqual([
    `${itemOf(wall)} hangs on ${plugName} by a weak link (35 of 255).`,
    "! Move one of them, or plug in a router between them.",
    `${itemOf(wall)} hangs on ${plugName}: leave it switched on.`,
  ]);
  expect(lines).toContain(`${plugName} | the stick | 150 | 140 | –`);
  expect(lines).toContain(`${itemOf(wall)} | ${plugName} | 35 | – | –`);
  expect(lines).toContain(`${itemOf(door)} | the stick | 150 | – | –`);
  expect(out).toMatch(/The network is on channel \d+ \(.+; the quietest when the network was formed\)\./);
});

test("lintel doctor tells it too", async () => {
  const { out } = await site.lintel("doctor", "--json", "--config", site.config);
  expect(JSON.parse(out)).toContainEqual({
    state: "note",
    text: expect.stringMatching(/ by a weak link \(35 of 255\)\. Move one of them/),
  });
});

test("a second scan tells what changed, and both are kept for whoever asks later", async () => {
  await stick.tell({ do: "hang", ieee: wall, quality: 120 });
  const second = await site.answer("mesh", "--json", "--data", site.data);
  expect(second).toMatchObject({
    answer: "All 3 devices have a good way to the stick.",
    needs: [],
    changes: [expect.stringContaining(`${itemOf(wall)} moved from lamp (${plug.slice(-5)}) to the stick.`)],
  });
  expect(second.scans).toHaveLength(2);
  expect(await site.answer("mesh", "--kept", "--json", "--data", site.data)).toEqual(second);
});

test("the page of the gateway says the same, to who may see the home", async () => {
  const { origin, port } = new URL(gateway.url);
  const token = await site.token();
  const page = await fetch(`${origin}/mesh`, { headers: { Cookie: `lintel-${port}=${token}` } });
  expect(page.status).toBe(200);
  const text = await page.text();
  expect(text).toContain("All 3 devices have a good way to the stick.");
  expect(text).toContain(itemOf(door));
  expect((await fetch(`${origin}/mesh`, { redirect: "manual" })).status).toBe(303);
});
