import { afterAll, beforeAll, expect, test } from "bun:test";
import { eventually, type RunningServer, Site } from "../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../testbed/simulator-process.ts";

const site = new Site();
let stick: SimulatorProcess;
let gateway: RunningServer;
let token = "";
let ieee = "";
let name = "";
const notify = (status: number) => stick.tell({ do: "notify", ieee, status });

beforeAll(async () => {
  stick = await site.simulator("zigbee");
  site.configure({ sections: stick.section });
  gateway = await site.run();
  token = await site.token();
  ({ ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string });
  name = `wirelesssensor-${ieee.replaceAll(":", "")}`;
  await site.listening();
});
afterAll(() => site.remove());

test("a sensor joins while lintel pair runs, which tells each step as a line of JSON", async () => {
  expect(await stick.tell({ do: "join", ieee })).toEqual({ ok: true, joined: false });
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  expect(JSON.parse((await pair.line()) ?? "")).toEqual({
    state: "open",
    seconds: 60,
    drivers: ["zigbee"],
  });
  expect(await stick.tell({ do: "join", ieee })).toEqual({ ok: true, joined: true });
  expect(JSON.parse((await pair.line()) ?? "")).toEqual({
    state: "joined",
    address: ieee,
    kind: "wirelesssensors",
    subtype: "wall",
    model: "3041",
    vendor: "NYCE",
  });
  pair.kill("SIGINT");
  expect(JSON.parse((await pair.line()) ?? "")).toEqual({ state: "closed", joined: 1, failed: 0 });
  expect(await pair.exited).toBe(0);
  await joiningClosed();
});

test("is an item as soon as it has joined, before it says anything", async () => {
  const items = await eventually(async () => {
    const found = await site.answer("items", "--json", "--data", site.data);
    return found.length === 0 ? undefined : found;
  }, "the item");
  expect(items).toMatchObject([{ itemname: name }]);
});

test("sends three notifications within a second that come back as three events, newest first", async () => {
  for (const event of [0x32, 0x30, 0x33]) await notify(event);
  const events = await eventually(async () => {
    const found = await gateway.events(name, token).catch(() => []);
    return found.length >= 3 ? found : undefined;
  }, "three events");
  expect(events.map(({ event }) => event).slice(0, 3)).toEqual([0x33, 0x30, 0x32]);
});

test("is served to nobody without a token", async () => {
  expect((await gateway.get(`/items/wirelesssensors/${name}/events`, "none")).status).toBe(401);
});

test("is seen in lintel status and lintel items", async () => {
  const status = await site.answer("status", "--json", "--data", site.data);
  expect(status).toMatchObject({ running: true, url: gateway.url, joining: false });
  expect(status.drivers).toMatchObject([{ name: "zigbee", state: "listening" }]);
  const shown = await site.lintel("status", "--data", site.data);
  expect(shown.out).toMatch(new RegExp(`^${name}\\*? +wall `, "m"));
  const [item] = await site.answer("items", "--json", "--data", site.data);
  expect(item).toMatchObject({ itemname: name, macaddress: ieee, subtypename: "wall" });
});

test("tells what it is and how its events are made, to readers and at the gateway", async () => {
  const device = await eventually(async () => {
    const told = await gateway.records<Record<string, unknown>>(
      `/items/wirelesssensors/${name}/device`,
      token,
    );
    return told["description"] === null ? undefined : told;
  }, "the facts of the sensor");
  expect(device).toMatchObject({
    vendor: "NYCE",
    description: "wall motion sensor",
    driver: "zigbee",
    events: "received",
    cadence: 7_200,
  });
  const shown = await site.lintel("items", "show", name, "--data", site.data);
  expect(shown.out).toContain("as received: IAS zone status");
});

test("starts with other firmware, and is told from then on with it, and with what it was before", async () => {
  const told = await stick.tell({ do: "update", ieee, firmware: "2.0.0", datecode: "20240501" });
  expect(told).toEqual({ ok: true, heard: true });
  const device = await eventually(async () => {
    const found = await gateway.records<{ firmware: string; history: Past[] }>(
      `/items/wirelesssensors/${name}/device`,
      token,
    );
    return found.firmware === "2.0.0" ? found : undefined;
  }, "the firmware");
  const [now, before] = device.history;
  expect(device.history).toMatchObject([
    { model: "3041", firmware: "2.0.0", datecode: "20240501", stop: null },
    { model: "3041", firmware: "1.2.4", datecode: "20190123", stop: now?.start ?? 0 },
  ]);
  expect(before?.start).toBeLessThanOrEqual(now?.start ?? 0);
  const shown = await site.lintel("items", "show", name, "--data", site.data);
  expect(shown.out).toMatch(/^Firmware +2\.0\.0, date code 20240501$/m);
  expect(shown.out).toMatch(/ to .+ firmware 1\.2\.4; date code 20190123$/m);
});

interface Past {
  readonly start: number;
}

test("loses nothing that was served to kill -9, and is heard again without pairing", async () => {
  let sent = 0x100;
  for (const served of [7, 43]) {
    const first = sent;
    // Events keep coming while the process is killed, at whatever it is doing then.
    let newest = 0;
    while (newest < first + served) {
      await notify(++sent);
      const path = `/items/wirelesssensors/${name}/events?limit=1`;
      newest = (await gateway.records<{ event: number }[]>(path, token))[0]?.event ?? 0;
    }
    await notify(++sent);
    gateway.process.kill("SIGKILL");
    await gateway.process.exited;
    gateway = await site.run();
    const kept = (await gateway.events(name, token))
      .map(({ event }) => event)
      .filter((event) => event > first);
    expect(kept.filter((event) => event <= newest)).toEqual(
      Array.from({ length: newest - first }, (_, back) => newest - back),
    );
    expect(new Set(kept).size).toBe(kept.length);
    await site.listening();
    expect(await stick.tell({ do: "joining" })).toMatchObject({ open: false });
    await notify(++sent);
    await eventually(async () => {
      const [event] = await gateway.events(name, token);
      return event?.event === sent ? true : undefined;
    }, `event ${sent} after the restart`);
  }
});

test("leaves with the gateway on SIGTERM, exit 0", async () => {
  expect(await gateway.stop("SIGTERM")).toBe(0);
  const status = await site.answer("status", "--json", "--data", site.data);
  expect(status.running).toBe(false);
  expect(status.store.items).toHaveLength(1);
});

/** Waits until the stick lets nobody in. */
async function joiningClosed(): Promise<void> {
  await eventually(async () => {
    const { open } = await stick.tell({ do: "joining" });
    return open === false ? true : undefined;
  }, "joining closes");
}
