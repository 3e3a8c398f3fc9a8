import { afterEach, beforeEach, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listenAs } from "../../drivers/zigbee/simulator/makes.ts";
import type { StickSimulator } from "../../drivers/zigbee/simulator/stick.ts";
import { eventually, type RunningServer, stickMake } from "../../testbed/front-door.ts";
import { LostBox } from "../cli/lost-box.ts";

let box: LostBox;
beforeEach(async () => {
  box = new LostBox();
  await box.start();
});
afterEach(() => box[Symbol.asyncDispose]());

async function listening(stick: StickSimulator): Promise<RunningServer> {
  box.configure(`[zigbee]\nport = "${stick.path}"\nadapter = "${stickMake}"`);
  const gateway = await box.site.run();
  await eventually(async () => {
    const { out } = await box.run("status", "--json", "--data", box.site.data);
    return JSON.parse(out).drivers[0].state === "listening" || undefined;
  }, "the stick is heard");
  return gateway;
}

/** Waits until the driver has copied its network with a device in it: it does so some seconds after the change. */
async function copied(address: string): Promise<void> {
  const copies = join(box.site.data, "drivers/zigbee/backups");
  const device = `0x${address.replaceAll(":", "")}`;
  const isIn = (name: string) => readFileSync(join(copies, name), "utf8").includes(device);
  await eventually(
    () => (existsSync(copies) && readdirSync(copies).some(isIn)) || undefined,
    "the network is copied",
  );
}

/** The events that `lintel fetch` downloads from central, oldest first. */
async function fetched(): Promise<number[]> {
  const token = join(box.site.directory, "read-token");
  writeFileSync(token, await box.central.token());
  const from = ["--url", box.central.origin, "--token-file", token, "--output", "files"];
  await box.run("fetch", ...from, "--format", "ndjson", "--series", "wirelesssensor_events");
  const lines = readFileSync(join(box.site.directory, "files/wirelesssensor_events.ndjson"), "utf8");
  return lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).event);
}

test("a spare box with another stick, restored from central, hears the sensors of the lost one without pairing, and central hands all out", async () => {
  const old = await listenAs(stickMake, { transport: "pty", random: randomBytes });
  const before = await listening(old);
  const pair = box.site.spawn(["pair", "--seconds", "60", "--json", "--data", box.site.data]);
  await pair.line();
  const sensor = old.addDevice({ model: "3041" });
  expect(sensor.join()).toBe(true);
  expect(JSON.parse((await pair.line()) ?? "{}")).toMatchObject({ state: "joined", address: sensor.ieee });
  pair.kill("SIGINT");
  await pair.exited;
  sensor.notify(0x31);
  await eventually(() => box.eventsHere().length === 1 || undefined, "the first event is on disk");
  await copied(sensor.ieee);
  expect(await box.upload()).toMatchObject({ sent: 1 });
  before.process.kill("SIGKILL");
  await before.process.exited;
  box.lose();
  const spare = await listenAs(stickMake, {
    transport: "pty",
    random: randomBytes,
    devices: old.export().devices,
  });
  await old.close();
  box.configure(`[zigbee]\nport = "${spare.path}"\nadapter = "${stickMake}"`);
  const { out } = await box.run("restore", "--from-central", "--config", box.site.config, "--json");
  expect(JSON.parse(out)).toMatchObject({ readings: 1, network: true });
  const after = await listening(spare);
  expect(spare.network?.pan_id).toBe(old.network?.pan_id ?? -1);
  // A sensor that gets no acknowledgement tries again: on a busy machine the stick may be opened anew just then.
  await eventually(() => spare.devices[0]?.notify(0x32) || undefined, "the stick takes the event");
  await eventually(() => box.eventsHere().length === 2 || undefined, "the sensor is heard");
  expect(await box.upload()).toMatchObject({ sent: 1, differing_days: 0 });
  expect(await box.central.events()).toEqual([0x31, 0x32]);
  expect(await fetched()).toEqual([0x31, 0x32]);
  expect(await after.stop()).toBe(0);
  await spare.close();
});
