import { expect, test } from "bun:test";
import { bthomeDevices } from "../../../drivers/bthome/driver.ts";
import { type SimulatedBoxOptions, SimulatedPillBox } from "../../../drivers/bthome/simulator/box.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { listening, type Rig, startRig } from "../ble/rig.ts";

const address = "54:48:e6:8f:80:a5";
const key = Uint8Array.fromHex("231d39c1d7cc1ab1aee224cd096db932");

/** A simulated box on the air around the rig's controller. */
function boxOn(rig: Rig, options: Partial<SimulatedBoxOptions> = {}): SimulatedPillBox {
  const device = rig.controller.addPeripheral({ address, addressType: "public" });
  return new SimulatedPillBox({
    address,
    clock_s: () => Math.floor(Date.now() / 1000),
    send: (serviceData) => {
      device.say({ serviceData: { fcd2: serviceData } });
      device.advertise();
    },
    ...options,
  });
}

const events = ({ host }: Rig) => host.readings.map(({ values }) => values["event"]);

test("a door that is opened is one event of a broadcasting pill box, heard through noble", async () => {
  await using rig = await startRig({ products: [bthomeDevices] });
  await listening(rig);
  const box = boxOn(rig);
  const before = rig.host.clock.now();
  box.turn(3);
  const reading = await rig.host.until("the event", () => rig.host.readings[0]);
  expect(reading).toMatchObject({
    device: { kind: "pillboxes", address, subtype: "broadcasting" },
    series: "pillbox_events",
    clock: clockQuality.synchronised,
    values: { event: 0b1000 },
  });
  expect(reading.stamp_ms).toBeGreaterThanOrEqual(before.unix_ms);
  const { stamp_ms = 0, offset_ms = 0 } = reading.deviceClock ?? {};
  expect(stamp_ms + offset_ms).toBe(reading.stamp_ms);
  box.turn(3);
  box.turn(0);
  box.heartbeat();
  box.turn(6);
  await rig.host.until("the last event", () => rig.host.readings.length === 4);
  expect(events(rig)).toEqual([8, 0, 1, 65]);
  expect(rig.host.states.at(-1)).toMatchObject({ battery_percent: 100 });
  expect(rig.host.gaps).toEqual([]);
});

test("changes that nobody heard are a gap beside the event that was", async () => {
  await using rig = await startRig({ products: [bthomeDevices] });
  await listening(rig);
  const box = boxOn(rig);
  box.turn(0);
  await rig.host.until("the first event", () => rig.host.readings.length === 1);
  box.outOfReach = true;
  for (const door of [1, 2, 3]) box.turn(door);
  box.outOfReach = false;
  box.turn(4);
  await rig.host.until("the event after the gap", () => rig.host.readings.length === 2);
  expect(events(rig)).toEqual([1, 0b11111]);
  expect(rig.host.gaps).toMatchObject([{ reason: "missed_broadcasts", lost: 3, device: { address } }]);
  const [gap] = rig.host.gaps;
  expect(gap?.to_ms).toBe(rig.host.readings[1]?.stamp_ms);
});

test("a gateway that starts again stores nothing twice, and knows what it missed meanwhile", async () => {
  const cursors = new Map<string, string>();
  let last: Uint8Array = new Uint8Array();
  const send = (serviceData: Uint8Array) => {
    last = serviceData;
  };
  const options = { address, clock_s: () => Math.floor(Date.now() / 1000), send };
  const box = new SimulatedPillBox(options);
  const hear = async (rig: Rig) => {
    const device = rig.controller.addPeripheral({ address, advertisement: { serviceData: { fcd2: last } } });
    device.advertise();
    await rig.host.until("the box to be heard", () => rig.host.states.length > 0);
  };
  {
    await using rig = await startRig({ products: [bthomeDevices] });
    await listening(rig);
    box.turn(0);
    await hear(rig);
    await rig.host.until("the event on disk", () => rig.host.cursors.size === 1);
    for (const [name, value] of rig.host.cursors) cursors.set(name, value);
  }
  {
    await using rig = await startRig({ products: [bthomeDevices] });
    for (const [name, value] of cursors) rig.host.cursors.set(name, value);
    await listening(rig);
    await hear(rig);
    expect(rig.host.readings).toEqual([]);
    box.turn(1);
    box.turn(2);
    await hear(rig);
    await rig.host.until("the event", () => rig.host.readings.length === 1);
    expect(events(rig)).toEqual([0b111]);
    expect(rig.host.gaps).toMatchObject([{ lost: 1 }]);
  }
});

test("an event that the disk refused is told again by the next repeat", async () => {
  await using rig = await startRig({ products: [bthomeDevices] });
  await listening(rig);
  const box = boxOn(rig, { repeats: 1 });
  rig.host.refusal = new Error("the disk is full");
  box.turn(2);
  await rig.host.until("the refused event", () => rig.host.readings.length === 1);
  expect(rig.host.cursors.size).toBe(0);
  rig.host.refusal = undefined;
  box.repeat();
  await rig.host.until("the event on disk", () => rig.host.cursors.size === 1);
  box.repeat();
  box.heartbeat();
  await rig.host.until("the heartbeat", () => rig.host.states.length >= 3);
  expect(events(rig)).toEqual([4, 4]);
});

test("a gap that the disk refused holds its event back, until a repeat tells both", async () => {
  await using rig = await startRig({ products: [bthomeDevices] });
  await listening(rig);
  const box = boxOn(rig, { repeats: 1 });
  box.turn(0);
  await rig.host.until("the first event", () => rig.host.cursors.size === 1);
  box.outOfReach = true;
  box.turn(1);
  box.outOfReach = false;
  rig.host.refusal = new Error("the disk is full");
  box.turn(2);
  await rig.host.until("the refused gap", () => rig.host.drops.size > 0);
  rig.host.refusal = undefined;
  box.repeat();
  await rig.host.until("the event", () => rig.host.readings.length === 2);
  expect(events(rig)).toEqual([1, 0b111]);
  expect(rig.host.gaps.map(({ lost }) => lost)).toEqual([1, 1]);
});

test("an event that was refused after its gap was kept is told by a repeat, and the gap is not told again", async () => {
  await using rig = await startRig({
    products: [bthomeDevices],
    config: { keys: { [address]: key.toHex() } },
  });
  await listening(rig);
  const box = boxOn(rig, { key, repeats: 1 });
  box.turn(0);
  await rig.host.until("the first event", () => rig.host.cursors.size === 1);
  box.outOfReach = true;
  box.turn(1);
  box.outOfReach = false;
  const accept = rig.host.accept.bind(rig.host);
  rig.host.accept = async () => {
    rig.host.accept = accept;
    rig.host.dropped("the refused event");
    throw new Error("the disk is full");
  };
  box.turn(2);
  await rig.host.until("the refused event", () => rig.host.drops.get("the refused event"));
  box.repeat();
  await rig.host.until("the event", () => rig.host.readings.length === 2);
  expect(events(rig)).toEqual([1, 0b111]);
  expect(rig.host.gaps.map(({ lost }) => lost)).toEqual([1]);
});

test("a box with a key is heard encrypted only: plain text, other keys and replays are refused and counted", async () => {
  const config = { keys: { [address]: key.toHex() } };
  await using rig = await startRig({ products: [bthomeDevices], config });
  await listening(rig);
  const sent: Uint8Array[] = [];
  const device = rig.controller.addPeripheral({ address });
  const send = (serviceData: Uint8Array) => {
    sent.push(serviceData);
    device.say({ serviceData: { fcd2: serviceData } });
    device.advertise();
  };
  const box = boxOn(rig, { key, send });
  for (let heartbeats = 0; heartbeats < 3; heartbeats += 1) box.heartbeat();
  const replayed = sent.length;
  box.turn(0);
  box.turn(0);
  await rig.host.until("two events", () => rig.host.readings.length === 2);
  device.say({ serviceData: { fcd2: sent[replayed] as Uint8Array } });
  device.advertise();
  await rig.host.until("the replay", () => rig.host.drops.get("claims to be a device that they are not"));
  const plain = boxOn(rig, { memory: { count: 50 }, repeats: 2 });
  plain.turn(1);
  await rig.host.until(
    "the plain text",
    () => rig.host.drops.get("bthome broadcasts in plain text although a key is set") === 2,
  );
  boxOn(rig, { memory: { count: 60 }, repeats: 1, key: key.toReversed() }).turn(1);
  await rig.host.until("the other key", () =>
    rig.host.drops.get("bthome broadcasts encrypted with another key"),
  );
  expect(events(rig)).toEqual([1, 0]);
  expect(rig.host.said(/encrypted with another key: correct/)).toBeDefined();
  // A new battery: the counter begins again. Whoever recorded the box can show the same, so that a person decides.
  const { count = 0 } = rig.host.identities.conflictAt(address) ?? {};
  box.changeBattery();
  box.turn(5);
  const { why } = await rig.host.until("the conflict", () => {
    const conflict = rig.host.identities.conflictAt(address);
    return conflict !== undefined && conflict.count > count && conflict;
  });
  expect(why).toContain("its battery was changed, or somebody repeats what it said before");
  expect(events(rig)).toEqual([1, 0]);
  await rig.host.identities.settle(address, "accepted", "a technician");
  box.turn(4);
  await rig.host.until("the event after the battery", () => rig.host.readings.length === 3);
  expect(events(rig).slice(0, 2)).toEqual([1, 0]);
});

test("an encrypted device without a key is said once, with the remedy", async () => {
  await using rig = await startRig({ products: [bthomeDevices] });
  await listening(rig);
  boxOn(rig, { key, repeats: 5 }).turn(0);
  await rig.host.until(
    "the count",
    () => rig.host.drops.get("bthome broadcasts encrypted, without a key") === 5,
  );
  expect(rig.host.lines.filter((line) => /bind key/.test(line))).toHaveLength(1);
  expect(rig.host.readings).toEqual([]);
});

test("a door or window sensor is a box of one lid", async () => {
  await using rig = await startRig({ products: [bthomeDevices] });
  await listening(rig);
  const device = rig.controller.addPeripheral({ address, advertisement: { name: "SBDW-002C" } });
  device.advertise();
  // Packet, battery, illuminance, window, rotation: as a Shelly BLU Door/Window sends them.
  for (const [packet, open] of [
    [1, 1],
    [1, 1],
    [2, 0],
    [3, 0],
    [4, 1],
  ] as const) {
    const bytes = [0x44, 0, packet, 1, 0x5f, 5, 0x10, 0x27, 0, 0x2d, open, 0x3f, 0, 0];
    device.say({ serviceData: { fcd2: Uint8Array.from(bytes) } });
    device.advertise();
  }
  await rig.host.until("three events", () => rig.host.readings.length === 3);
  expect(events(rig)).toEqual([1, 0, 1]);
  expect(rig.host.readings[2]?.device).toEqual({
    kind: "pillboxes",
    address,
    subtype: "broadcasting",
    model: "SBDW-002C",
    vendor: "Shelly",
  });
});

test("other BTHome devices, and what makes no sense, leave no reading behind", async () => {
  await using rig = await startRig({ products: [bthomeDevices], config: { allow: [address] } });
  await listening(rig);
  const device = rig.controller.addPeripheral({ address });
  for (const hex of ["40065e1f", "4009ff3d0100", "401a02", "40ee", "40", "", "00112233", "413d"]) {
    device.say({ serviceData: { fcd2: Uint8Array.fromHex(hex) } });
    device.advertise();
  }
  const impossible = "bthome broadcasts of doors that cannot be";
  await rig.host.until("the counts", () => rig.host.drops.get("bthome broadcasts encrypted, without a key"));
  expect(rig.host.drops.get(impossible)).toBe(2);
  expect(rig.host.readings).toEqual([]);
});
