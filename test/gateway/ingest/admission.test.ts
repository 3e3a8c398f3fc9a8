import { expect, test } from "bun:test";
import type { Device } from "../../../src/domain/reading.ts";
import {
  Admission,
  joined_max,
  Strangers,
  stranger_max_ms,
  strangers_max,
  unnamed_max,
} from "../../../src/gateway/ingest/admission.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { item, keptLog, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { openGateway } from "../../../testbed/sqlite/opening.ts";

test("a device of the inventory is admitted by kind and address, and one that claims its address as another kind is not", async () => {
  await using home = await admission();
  await home.store.importRecords([
    [{ type: "items", record: item(1, { typename: "pillboxes", macaddress: "54:48:E6:00:00:01" }) }],
  ]);
  await home.admission.load();
  expect(home.admits(box(1))).toBe(true);
  expect(home.admits({ ...box(1), kind: "scales" })).toBe(false);
  expect(home.admits(box(2))).toBe(false);
});

test("what another process admits or forgets is known within seconds", async () => {
  await using home = await admission();
  expect(home.admits(box(1))).toBe(false);
  await home.store.admit([{ address: box(1).address, admitted_ms: start_ms, reason: "hand" }]);
  home.clock.advance(10_000);
  await eventually(() => home.admits(box(1)) || undefined, "it is admitted");
  await home.store.forgetDevice(box(1).address);
  home.clock.advance(10_000);
  await eventually(() => !home.admits(box(1)) || undefined, "it is forgotten");
});

test("while joining is open devices that speak are let in for good, and no more than a home can have", async () => {
  await using home = await admission();
  home.door.joining = true;
  const admitted = Array.from({ length: joined_max + 5 }, (_, number) => home.admits(box(number)));
  expect(admitted.filter(Boolean)).toHaveLength(joined_max);
  expect(home.door.joined).toEqual(Array.from({ length: joined_max }, (_, number) => box(number).address));
  home.door.joining = false;
  expect(home.admits(box(0))).toBe(true);
  expect(home.admits(box(joined_max))).toBe(false);
  await home.settled(joined_max);
  home.door.joining = true;
  home.admission.opened();
  expect(home.admits(box(joined_max))).toBe(true);
});

test("where every device is welcome, a bounded number comes in, and one that the owner names finds its place all the same", async () => {
  await using home = await admission();
  const welcome = (number: number) => home.admission.admits({ device: box(number), welcome: true }, "ble");
  const admitted = Array.from({ length: unnamed_max + 50 }, (_, number) => welcome(number));
  expect(admitted.filter(Boolean)).toHaveLength(unnamed_max);
  expect(home.lines.filter((line) => /without being named: no more are/.test(line))).toHaveLength(1);
  await home.settled(unnamed_max);
  const last = box(unnamed_max + 49);
  await home.store.admit([{ address: last.address, admitted_ms: start_ms, reason: "hand" }]);
  await home.admission.load();
  expect(home.admits(last)).toBe(true);
});

test("strangers are counted and listed, those that are heard again beside those that pass by", async () => {
  await using home = await admission();
  for (const signal_dbm of [-70, -60]) {
    home.clock.advance(1_000);
    home.admission.admits({ device: { ...box(1), model: "SBDW-002C" }, signal_dbm }, "ble");
  }
  for (let number = 2; number < 100_000; number += 1) home.admits(box(number));
  const strangers = home.admission.strangers();
  expect(strangers.length).toBeLessThanOrEqual(strangers_max);
  expect(strangers.at(-1)).toEqual({
    device: { ...box(1), model: "SBDW-002C" },
    listener: "ble",
    first_ms: start_ms + 1_000,
    last_ms: start_ms + 2_000,
    count: 2,
    signal_dbm: -60,
  });
  expect(strangers[0]?.device).toEqual(box(99_999));
  expect(home.door.strangers).toBe(100_000);
});

test("a stranger that is not heard any more is forgotten", async () => {
  await using home = await admission();
  home.admits(box(1));
  home.clock.advance(stranger_max_ms);
  expect(home.admission.strangers()).toHaveLength(1);
  home.clock.advance(1);
  expect(home.admission.strangers()).toEqual([]);
});

test("devices that the owner has named do not count as those that came by themselves, and those that did count after a restart", async () => {
  await using home = await admission();
  const many = (reason: "hand" | "joining", from: number) =>
    home.store.admit(
      Array.from({ length: unnamed_max }, (_, index) => ({
        address: box(from + index).address,
        admitted_ms: start_ms,
        reason,
      })),
    );
  const isWelcome = (number: number) => home.admission.admits({ device: box(number), welcome: true }, "ble");
  await many("hand", 0);
  await home.admission.load();
  expect(isWelcome(10_000)).toBe(true);
  await home.settled(unnamed_max + 1);
  await many("joining", 20_000);
  await home.admission.load();
  expect(isWelcome(10_001)).toBe(false);
});

test("who is let in is no stranger any more, and once forgotten only when it is heard again", async () => {
  await using home = await admission();
  expect(home.admits(box(1))).toBe(false);
  for (const _ of [1, 2]) expect(home.admits(box(2))).toBe(false);
  await home.store.admit([{ address: box(2).address, admitted_ms: start_ms, reason: "hand" }]);
  await home.admission.load();
  const strangers = () => home.admission.strangers().map(({ device }) => device.address);
  expect(strangers()).toEqual([box(1).address]);
  home.door.joining = true;
  expect(home.admits(box(1))).toBe(true);
  expect(home.lines).toEqual([`info  pillboxes ${box(1).address} is let in`]);
  home.door.joining = false;
  await home.settled(2);
  await home.store.forgetDevice(box(1).address);
  await home.admission.load();
  expect(strangers()).toEqual([]);
  expect(home.admits(box(1))).toBe(false);
  expect(strangers()).toEqual([box(1).address]);
});

test("who was let in while the disk failed is kept once it does not, and is let in meanwhile", async () => {
  let fails = true;
  await using home = await admission({
    refuse: () => {
      if (fails) throw new Error("the disk is gone");
    },
  });
  home.door.joining = true;
  expect(home.admits(box(1))).toBe(true);
  home.door.joining = false;
  const said = "warn  who was let in is not on disk yet, trying again: the disk is gone";
  await eventually(() => home.lines.includes(said) || undefined, "its failure is said");
  await home.admission.load();
  expect(home.admits(box(1))).toBe(true);
  expect((await home.store.admissions()).admitted).toEqual([]);
  fails = false;
  home.clock.advance(10_000);
  await home.settled(1);
  expect((await home.store.admissions()).admitted).toEqual([
    { address: box(1).address, admitted_ms: start_ms, reason: "joining" },
  ]);
});

test("where it cannot be read who is admitted, that is said and tried again", async () => {
  await using home = await admission();
  await home.store.close();
  const said = () => home.lines.filter((line) => line.startsWith("debug who is admitted could not be read"));
  for (const times of [1, 2]) {
    home.clock.advance(10_000);
    await eventually(() => said().length === times || undefined, "it is said");
    await eventually(() => home.clock.waiting === 1 || undefined, "it is to be tried again");
  }
});

test("after the end nothing is read again, also where that was under way", async () => {
  await using home = await admission();
  home.clock.advance(10_000);
  home.admission.stop();
  await home.admission.load();
  await new Promise((resolve) => setImmediate(resolve));
  expect(home.clock.waiting).toBe(0);
  await using other = await admission();
  expect(other.clock.waiting).toBe(1);
  other.admission.stop();
  expect(other.clock.waiting).toBe(0);
});

test("a stranger that was heard twice is one, and of those heard once the 128 heard last are listed", () => {
  const strangers = new Strangers();
  const hear = (number: number, at_ms: number) => strangers.heard(box(number), { listener: "ble", at_ms });
  for (let number = 0; number < strangers_max / 2; number += 1) hear(number, start_ms + number);
  const later_ms = start_ms + 1_000;
  expect(strangers.list(later_ms)).toHaveLength(strangers_max / 2);
  expect(strangers.list(later_ms)[0]).toStrictEqual({
    device: box(127),
    listener: "ble",
    first_ms: start_ms + 127,
    last_ms: start_ms + 127,
    count: 1,
  });
  hear(0, later_ms);
  expect(strangers.list(later_ms)).toHaveLength(strangers_max / 2);
  expect(strangers.list(later_ms)[0]?.device.address).toBe(box(0).address);
  hear(1_000, later_ms);
  const addresses = strangers.list(later_ms).map(({ device }) => device.address);
  expect(addresses).toHaveLength(strangers_max / 2 + 1);
  expect(addresses.filter((address) => address === box(0).address)).toHaveLength(1);
  hear(1_001, later_ms);
  expect(strangers.list(later_ms).map(({ device }) => device.address)).not.toContain(box(1).address);
  expect(strangers.list(later_ms + stranger_max_ms + 1)).toEqual([]);
});

function box(number: number): Device {
  const hex = number.toString(16).padStart(6, "0").match(/../g)?.join(":");
  return { kind: "pillboxes", address: `54:48:e6:${hex}`, subtype: "broadcasting" };
}

/** The admission of a gateway with an empty store; `refuse` may throw instead of it where somebody is to be kept. */
async function admission({ refuse }: { refuse?: () => void } = {}) {
  const directory = temporaryDirectory();
  const clock = new SettableClock(start_ms);
  const store = await openGateway(directory.path);
  const { log, lines } = keptLog("debug");
  const door = { joining: false, joined: [] as string[], strangers: 0 };
  const admission = new Admission({
    store: {
      admissions: () => store.admissions(),
      changes: () => store.changes(),
      forgetDevice: (address) => store.forgetDevice(address),
      admit: async (devices) => {
        refuse?.();
        return store.admit(devices);
      },
    },
    clock,
    log,
    isJoining: () => door.joining,
    onJoined: ({ address }) => door.joined.push(address),
    onStranger: () => {
      door.strangers += 1;
    },
  });
  await admission.start();
  return {
    clock,
    store,
    lines,
    door,
    admission,
    admits: (device: Device) => admission.admits({ device }, "ble"),
    /** Waits until so many admitted devices are on disk. */
    settled: (count: number) =>
      eventually(
        async () => (await store.admissions()).admitted.length === count || undefined,
        `${count} admitted devices on disk`,
      ),
    [Symbol.asyncDispose]: async () => {
      admission.stop();
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}
