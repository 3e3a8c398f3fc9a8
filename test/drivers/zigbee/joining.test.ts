import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { JoinEvent } from "../../../drivers/driver.ts";
import { ZigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import type { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { InterviewFault, SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { formedCoordinator } from "./formed.ts";

const directory = temporaryDirectory();
const host = new RecordingHost({ directory: directory.path });
let coordinator: ZnpSimulator;
let driver: ZigbeeDriver;

beforeAll(async () => {
  coordinator = await formedCoordinator({ directory: directory.path, transport: "pty" });
  driver = new ZigbeeDriver({ config: { port: coordinator.path }, host, bounds: { least_ms: 20 } });
  driver.start();
  await host.until("the driver to listen", () => driver.status().state === "listening");
});

afterEach(() => driver.closeJoining());

afterAll(async () => {
  await driver.stop();
  await coordinator.close();
  directory.remove();
});

/** Lets a device join, and returns how that ended. */
async function join(device: SimulatedDevice): Promise<JoinEvent | undefined> {
  return (await joinAll([device]))[0];
}

async function joinAll(devices: readonly SimulatedDevice[]): Promise<JoinEvent[]> {
  const before = host.joins.length;
  await driver.openJoining(60);
  for (const device of devices) device.join();
  return Promise.all(devices.map((device) => outcome(device, before)));
}

function outcome(device: SimulatedDevice, after: number): Promise<JoinEvent> {
  return host.until(`the outcome for ${device.ieee}`, () =>
    host.joins.slice(after).find((event) => event.state !== "started" && addressOf(event) === device.ieee),
  );
}

function addressOf(event: JoinEvent): string {
  return event.state === "joined" ? event.device.address : event.address;
}

const failures: readonly [InterviewFault, RegExp][] = [
  ["nodeDescriptor", /node descriptor/],
  ["activeEndpoints", /active endpoints/],
  ["simpleDescriptor", /simple descriptor/],
  ["enrol", /IAS enrolment/],
];

test("a join that fails says at which step, with a remedy, and succeeds once that is mended", async () => {
  const devices = failures.map(([step]) => {
    const device = coordinator.addDevice({ model: "3041" });
    device.failInterview(step);
    return device;
  });
  const failed = await joinAll(devices);
  for (const [index, [, reason]] of failures.entries()) {
    const event = failed[index];
    if (event?.state !== "failed") throw new Error("it joined");
    expect(event.reason).toMatch(reason);
    expect(event.remedy).not.toBe("");
  }
  for (const device of devices) device.failInterview(undefined);
  for (const event of await joinAll(devices)) expect(event).toMatchObject({ state: "joined" });
});

test("walls, doors and curtains are told apart, by their model or else by their zone type", async () => {
  const subtypes = {
    "3041": "wall",
    "3043": "wall",
    "3045": "curtain",
    "3010": "door",
    "3011": "door",
    "3014": "door",
    motion: "wall",
    contact: "door",
  };
  const devices = Object.keys(subtypes).map((model) => coordinator.addDevice({ model }));
  const events = await joinAll(devices);
  const joined = events.flatMap((event) => (event.state === "joined" ? [event.device] : []));
  expect(Object.fromEntries(joined.map(({ model, subtype }) => [model, subtype]))).toEqual(subtypes);
});

test("a lamp is let in but not taken for a sensor: it is reported, and never heard of again", async () => {
  const lamp = coordinator.addDevice({ model: "lamp" });
  const event = await join(lamp);
  expect(event).toMatchObject({
    state: "failed",
    reason: expect.stringContaining("not a sensor (Acme lamp)"),
  });
  lamp.reportBattery(50);
  const door = coordinator.addDevice({ model: "contact" });
  await join(door);
  expect(host.states.some(({ device }) => device.address === lamp.ieee)).toBe(false);
});

test("a sensor that leaves while it joins is a join that failed", async () => {
  const device = coordinator.addDevice({ model: "3041" });
  device.failInterview("silent");
  await driver.openJoining(60);
  const before = host.joins.length;
  device.join();
  await host.until("the interview to start", () => host.joins.length > before);
  device.leave();
  expect(await outcome(device, before)).toMatchObject({
    reason: expect.stringContaining("left the network"),
  });
});

test("joining that is closed in the middle of an interview says so", async () => {
  const device = coordinator.addDevice({ model: "3041" });
  device.failInterview("silent");
  await driver.openJoining(60);
  const before = host.joins.length;
  device.join();
  await host.until("the interview to start", () => host.joins.length > before);
  await driver.closeJoining();
  expect(await outcome(device, before)).toMatchObject({
    reason: expect.stringContaining("joining was closed"),
  });
});

test("joining closes by itself when its time is over", async () => {
  await driver.openJoining(1);
  expect(coordinator.joiningOpen).toBe(true);
  await host.until("joining to close", () => !coordinator.joiningOpen);
});

test("a sensor that was reset and joins again keeps its identity and is enrolled anew", async () => {
  const device = coordinator.addDevice({ model: "3045" });
  await join(device);
  device.forget();
  expect(device.notify(0x32)).toBe(false);
  expect(await join(device)).toMatchObject({
    state: "joined",
    device: { address: device.ieee, subtype: "curtain" },
  });
  expect(device.enrolled).toBe(true);
  device.notify(0x32);
  await host.until("its event", () => host.readings.find((one) => one.device.address === device.ieee));
});

test("joining cannot be opened while the adapter is away, and says so", async () => {
  await coordinator.unplug();
  await host.until("the driver to notice", () => driver.status().state === "retrying");
  await expect(driver.openJoining(60)).rejects.toThrow(/the Zigbee adapter is not ready: /);
  await coordinator.replug();
  await host.until("the driver to listen", () => driver.status().state === "listening");
});

test("a door sensor that joins under the address of a known wall sensor takes nothing from it, until a person accepts it", async () => {
  const wall = coordinator.addDevice({ model: "3041" });
  expect(await join(wall)).toMatchObject({ state: "joined", device: { subtype: "wall" } });
  const eventsOf = () =>
    host.readings.filter(
      ({ device, series }) => device.address === wall.ieee && series === "wirelesssensor_events",
    );
  wall.notify(0x32);
  await host.until("its event", () => eventsOf().length === 1);
  const facts = host.facts.get(wall.ieee);

  const pretender = coordinator.addDevice({ model: "3010", ieee: wall.ieee });
  expect(await join(pretender)).toMatchObject({
    state: "failed",
    reason: "another sensor is known under its address",
    remedy: expect.stringContaining(`lintel items accept ${wall.ieee}`),
  });
  await driver.closeJoining();
  const why = "its model is 3041, and now it says 3010";
  expect(host.identities.conflictAt(wall.ieee)).toMatchObject({ why, known: { subtype: "wall" } });
  const { count = 0 } = host.identities.conflictAt(wall.ieee) ?? {};
  pretender.notify(0x31);
  await host.until("its refusal", () => (host.identities.conflictAt(wall.ieee)?.count ?? 0) > count);
  expect(eventsOf()).toHaveLength(1);
  expect(host.facts.get(wall.ieee)).toEqual(facts as never);

  // The known one speaks from the network address that it has had.
  await host.until(
    "the known one",
    () => eventsOf().length > 1,
    () => wall.notify(wall.zonestatus ^ 0x02),
  );
  expect(eventsOf().every(({ device }) => device.model === "3041")).toBe(true);

  await host.identities.settle(wall.ieee, "accepted", "a technician");
  await host.until(
    "its event",
    () => eventsOf().some(({ device }) => device.model === "3010"),
    () => pretender.notify(pretender.zonestatus ^ 0x01),
  );
});

test("a sensor that joins under the address of a known one is found out also where the known one speaks in the middle of it", async () => {
  const wall = coordinator.addDevice({ model: "3041" });
  expect(await join(wall)).toMatchObject({ state: "joined", device: { subtype: "wall" } });
  const pretender = coordinator.addDevice({ model: "3010", ieee: wall.ieee });
  let spoken = false;
  coordinator.onRequest = () => {
    if (pretender.interviews > 0 && !spoken) spoken = wall.notify(0x31);
  };
  expect(await join(pretender)).toMatchObject({
    state: "failed",
    reason: "another sensor is known under its address",
  });
  coordinator.onRequest = () => {};
  expect(spoken).toBe(true);
  expect(host.identities.conflictAt(wall.ieee)).toMatchObject({
    why: "its model is 3041, and now it says 3010",
  });
});

test("a device under a known address is not heard before it has said what it is", async () => {
  const wall = coordinator.addDevice({ model: "3041" });
  await join(wall);
  wall.notify(0x32);
  const eventsOf = () => host.readings.filter(({ device }) => device.address === wall.ieee);
  await host.until("its event", () => eventsOf().length === 1);
  wall.leave();
  const pretender = coordinator.addDevice({ model: "3010", ieee: wall.ieee });
  pretender.failInterview("silent");
  await driver.openJoining(60);
  pretender.join();
  const dropped = "zigbee messages of devices that are not known to be those of their address";
  const before = host.drops.get(dropped) ?? 0;
  await host.until(
    "its refusal",
    () => (host.drops.get(dropped) ?? 0) > before,
    () => pretender.notify(0x31),
  );
  expect(eventsOf()).toHaveLength(1);
});
