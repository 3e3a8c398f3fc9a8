import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Clock, SystemClock } from "../../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { controlPath } from "../../../src/gateway/control-server.ts";
import { Judge } from "../../../src/gateway/update/trial-judge.ts";
import { lintelHere } from "../../../testbed/command-here.ts";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";

let site: Site;
let stick: SimulatorProcess;
let gateway: RunningServer;
let judge: Judge;
let token: string;
let later_ms: number;
const system = new SystemClock();
const clock: Clock = {
  boot: system.boot,
  now: () => ({ ...system.now(), unix_ms: system.now().unix_ms + later_ms }),
  after: (delay_ms, action) => system.after(delay_ms, action),
};

beforeEach(async () => {
  later_ms = 0;
  site = new Site({ commands: lintelHere });
  stick = await site.simulator("zigbee");
  site.configure({ sections: `[zigbee]\nport = "${stick.path}"\nadapter = "zstack"` });
  gateway = await site.run();
  await site.listening();
  token = await site.token();
  const serving = async () => ({ serving: true, failed: false, restarts: 0 });
  const service = { state: serving, start: async () => {}, stop: async () => {} };
  judge = new Judge({ service, data: site.data, clock, api: { hostname: "127.0.0.1", port: 0 } });
});
afterEach(() => site.remove());

const baseline = async (listened_ms: number) => {
  const found = await judge.baseline({ token, uploads: false, listened_ms });
  if (found === undefined) throw new Error("no gateway runs");
  return found;
};

/** A sensor that tells its state each two hours joins. Answers its address, once the gateway's store has it. */
async function join(model = "3041"): Promise<string> {
  const known = async () => (await baseline(4 * hour_ms)).heard.flatMap(({ items }) => items).length;
  const before = await known();
  const { ieee } = (await stick.tell({ do: "add", model })) as { ieee: string };
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  await stick.tell({ do: "join", ieee });
  await pair.line();
  pair.kill("SIGINT");
  await pair.exited;
  await eventually(async () => (await known()) > before || undefined, `${ieee} is known`);
  return ieee;
}

test("a device has to be heard again where its cadence fits into the trial, and its sign of life counts", async () => {
  const ieee = await join();
  const before = await baseline(4 * hour_ms);
  expect(before.heard).toHaveLength(1);
  const since_ms = clock.now().unix_ms + 1;
  const at = { switched_ms: since_ms, listened_ms: 0, trial_ms: day_ms, token, thoroughly: false };
  const missing = async () => (await judge.look(before, at)).missing;
  expect(await missing()).toEqual(["nothing was heard of wirelesssensors 3041 by zigbee"]);
  await stick.tell({ do: "notify", ieee, status: 0x21 });
  await eventually(async () => ((await missing()).length === 0 ? true : undefined), "it is heard");
  // In two hours it may say nothing; and one that was silent for longer than it should be will not speak now.
  expect((await baseline(2 * hour_ms)).heard).toEqual([]);
  later_ms = 4 * hour_ms;
  expect((await baseline(4 * hour_ms)).heard).toEqual([]);
});

test("deafness to one model is a fault once its busiest device should have spoken, whatever else is heard", async () => {
  await join();
  const quiet = await join();
  const loud = await join("3045");
  const before = await baseline(4 * hour_ms);
  expect(before.heard.map(({ items }) => items.length).toSorted()).toEqual([1, 2]);
  const since_ms = clock.now().unix_ms + 1;
  const look = (listened_ms: number) => {
    later_ms = listened_ms;
    return judge.look(before, {
      switched_ms: since_ms,
      listened_ms,
      trial_ms: day_ms,
      token,
      thoroughly: false,
    });
  };
  const silent = "nothing was heard of wirelesssensors 3041 by zigbee";
  // A sensor that has just joined may not be listened to yet.
  const speaks = (address: string, isHeard: () => Promise<boolean>) =>
    eventually(async () => {
      await stick.tell({ do: "notify", ieee: address, status: 0x21 });
      return (await isHeard()) || undefined;
    }, `${address} is heard`);
  await speaks(loud, async () => (await look(0)).missing.length === 1);
  expect(await look(2 * hour_ms)).toEqual({ missing: [silent] });
  expect(await look(3 * hour_ms + 1)).toEqual({ fault: silent, missing: [] });
  const marks = async () => (await judge.seen(before, 3 * day_ms)).gateway?.heard ?? {};
  const unheard = await marks();
  expect(Object.keys(unheard)).toEqual(["wirelesssensors 3041 by zigbee"]);
  // One of them speaks for both: the battery of the other may be empty.
  await speaks(quiet, async () => {
    const { fault, missing } = await look(4 * hour_ms);
    return fault === undefined && missing.length === 0;
  });
  expect(await marks()).not.toEqual(unheard);
});

test("the token goes to the gateway that is configured, and to nobody whom the control socket names instead", async () => {
  const before = await baseline(hour_ms);
  expect(await gateway.stop()).toBe(0);
  const asked: string[] = [];
  using thief = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ headers }) => {
      asked.push(headers.get("authorization") ?? "");
      return new Response("[]");
    },
  });
  const status = { joining: false, started_ms: 0, busy: [], drivers: [], store: { items: [] } };
  for (const url of [
    `http://127.0.0.1:${thief.port}/v0.9`,
    "http://central.example:8080/v0.9",
    "http://127.0.0.1:8080@central.example/v0.9",
    "https://127.0.0.1:8080/v0.9",
    "file:///etc/passwd",
    "",
  ]) {
    using control = Bun.serve({
      unix: controlPath(site.data),
      fetch: () => Response.json({ ...status, url }),
    });
    const service = { state: async () => ({ serving: true, failed: false, restarts: 0 }) };
    const careful = new Judge({
      service: { ...service, start: async () => {}, stop: async () => {} },
      data: site.data,
      clock,
      api: { hostname: "0.0.0.0", port: 8080 },
    });
    const page = { path: "/items?limit=1", records: ["x"] };
    const looked = await careful.look(
      { ...before, pages: [page] },
      { switched_ms: 0, listened_ms: 0, trial_ms: day_ms, token, thoroughly: true },
    );
    expect(looked).toEqual({ missing: ["it does not answer on its control socket"] });
    const asking = careful.baseline({ token, uploads: false, listened_ms: hour_ms });
    expect(await asking.catch(String)).toContain("its configuration says otherwise");
    control.stop(true);
  }
  expect(asked).toEqual([]);
});

test("no release is tried while recording is paused, and none misses a device then", async () => {
  await join();
  const before = await baseline(4 * hour_ms);
  await site.answer("pause", "--json", "--data", site.data);
  const why = "recording is paused, so that no device can be heard";
  await eventually(async () => (await judge.busy()) === why || undefined, "the pause");
  const at = { switched_ms: clock.now().unix_ms, listened_ms: 0, trial_ms: day_ms, token, thoroughly: false };
  expect(await judge.look(before, at)).toEqual({ missing: [] });
  expect((await judge.seen(before, 3 * day_ms)).gateway?.paused).toBe(true);
});

test("no release is tried while a driver may still come to hear its device: the new one would not be asked for it", async () => {
  expect(await judge.busy()).toBeUndefined();
  const before = await baseline(hour_ms);
  // As after a power cut, with a stick that is slow to come up.
  expect(await gateway.stop()).toBe(0);
  site.configure({ sections: `[zigbee]\nport = "${site.directory}/no-stick-yet"\nadapter = "zstack"` });
  await site.run();
  expect(await judge.busy()).toBe("the driver zigbee does not hear its device yet");
  // A release that it is the fault of has to go.
  const at = { switched_ms: 0, listened_ms: 0, trial_ms: day_ms, token, thoroughly: false };
  expect((await judge.look(before, at)).missing).toEqual(["the driver zigbee does not hear its device"]);
  // A box whose stick was taken away has its updates all the same.
  later_ms = hour_ms;
  await eventually(async () => ((await judge.busy()) === undefined ? true : undefined), "it tries in vain");
});
