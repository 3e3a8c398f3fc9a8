import { expect, test } from "bun:test";
import { requestType } from "../../../drivers/pillbox/protocol.ts";
import { wait_ms } from "../../../drivers/pillbox/schedule.ts";
import { SimulatedBox } from "../../../drivers/pillbox/simulator/box.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../../src/base/time.ts";
import { household, mac } from "./household.ts";

test("a box on mains is polled hourly, and its status is kept as it says it", async () => {
  await using home = await household();
  const { box, clock, host } = home;
  home.start();
  await home.polled(1);
  await home.pass(5 * hour_ms, hour_ms / 4);
  expect(home.statuses().length).toBeWithin(5, 8);
  const status = home.statuses().at(-1);
  expect(status?.values).toEqual({
    devicestamp: status?.values["devicestamp"] ?? 0,
    voltage: 3_000,
    powersource: "external_power",
    eventcount: 0,
    batteryseconds: "0",
    firmwarerevsion: "1.4.2",
    macaddress: mac,
    nextpanicstart: box.nextWindow.nextpanicstart,
    nextpanicstop: box.nextWindow.nextpanicstop,
  });
  expect(status?.device).toEqual({ kind: "pillboxes", address: mac, subtype: "polled" });
  expect(host.states.at(-1)?.heard_ms).toBeWithin(clock.true_ms() - hour_ms, clock.true_ms() + 1);
});

test("a box whose radio goes off before its events are read was heard with its status alone", async () => {
  await using home = await household({ box: { window: { every_s: 24 * 3600, length_s: 0 } } });
  const { bridge, box, host } = home;
  // On battery its radio is on in its windows only, and these are empty.
  bridge.onReply = ({ type }) => {
    if (type === "status") box.power = "battery";
    return true;
  };
  home.start();
  await home.polled(1);
  expect(bridge.requests.some(({ type }) => type === requestType.events)).toBe(true);
  expect(host.states).toHaveLength(1);
  expect(host.states[0]?.battery_mv).toBe(3_000);
});

test("a box on battery is read in each of its windows and hardly asked between them", async () => {
  await using home = await household({ box: { power: "battery", ahead_ms: -50_000 } });
  const { bridge, box, host } = home;
  home.start();
  await host.until("the first question", () =>
    bridge.requests.some(({ type }) => type === requestType.status),
  );
  await home.quiet();
  expect(home.statuses()).toEqual([]);
  for (let day = 0; day < 3; day += 1) {
    box.doors(day);
    await home.pass(day_ms, 9 * 60_000);
  }
  expect(home.statuses()).toHaveLength(3);
  expect(home.events()).toHaveLength(3);
  expect(host.gaps).toEqual([]);
  expect(bridge.requests.filter(({ type }) => type === requestType.status).length).toBeLessThan(24);
});

test("from two minutes before its window a box on battery keeps its gateway busy", async () => {
  await using home = await household({
    box: { power: "battery", window: { every_s: 86_400, length_s: 600 } },
  });
  const { box, clock } = home;
  const before = (ms: number) => clock.travel(box.nextWindow.nextpanicstart * 1_000 - clock.true_ms() - ms);
  // Into a window first: the next one is a day away then.
  for (const ms of [-1_000, hour_ms]) before(ms);
  const driver = home.start();
  await home.host.until("the first question", () => home.bridge.requests.length > 1);
  await home.quiet();
  before(3 * 60_000);
  expect(driver.busy()).toBeUndefined();
  before(60_000);
  expect(driver.busy()).toBe(`the radio window of pill box ${mac} is open, or about to`);
});

test("a window that passes without an answer is noted once, and the next one is used", async () => {
  await using home = await household({ box: { power: "battery" }, timeout_ms: 20 });
  const { bridge, box, host } = home;
  home.start();
  await home.pass(day_ms, 9 * 60_000);
  expect(home.statuses()).toHaveLength(1);
  const missed = box.nextWindow;
  box.doors(9);
  bridge.unreachable.add(mac);
  await home.pass(day_ms, 9 * 60_000);
  bridge.unreachable.clear();
  await home.pass(day_ms, 9 * 60_000);
  expect(home.statuses()).toHaveLength(2);
  expect(home.events().map(({ values }) => values["event"])).toEqual([9]);
  expect(host.gaps).toHaveLength(1);
  expect(host.gaps[0]?.reason).toBe("missed_window");
  expect(Math.abs((host.gaps[0]?.from_ms ?? 0) - missed.nextpanicstart * 1000)).toBeLessThanOrEqual(2_000);
});

test("a box that is plugged in again is polled hourly again", async () => {
  await using home = await household({ box: { power: "battery" } });
  const { box } = home;
  home.start();
  await home.pass(hour_ms, hour_ms);
  box.power = "external_power";
  await home.pass(7 * hour_ms, hour_ms / 2);
  const before = home.statuses().length;
  expect(before).toBeGreaterThan(0);
  await home.pass(3 * hour_ms, hour_ms / 4);
  expect(home.statuses().length - before).toBeWithin(2, 5);
});

test("a box that is put beside the bridge later is found", async () => {
  await using home = await household();
  const { bridge, clock, host } = home;
  home.start();
  await home.polled(1);
  const late = new SimulatedBox({ mac: "c0:ff:ee:00:00:02", now_ms: clock.true_ms });
  late.doors(3);
  bridge.boxes.push(late);
  clock.travel(hour_ms / 2);
  await host.until("its event", () => home.events().some(({ device }) => device.address === late.mac));
});

test("a box that is silent keeps no other from being polled", async () => {
  await using home = await household({ timeout_ms: 20 });
  const { bridge, clock, host } = home;
  const silent = new SimulatedBox({ mac: "c0:ff:ee:00:00:02", now_ms: clock.true_ms });
  bridge.boxes.unshift(silent);
  bridge.unreachable.add(silent.mac);
  const driver = home.start();
  await home.polled(1);
  await home.pass(3 * hour_ms, hour_ms / 4);
  expect(home.statuses().length).toBeWithin(3, 6);
  expect(driver.status().state).toBe("listening");
  expect(
    host.lines.filter((line) => line.includes(silent.mac) && line.includes("did not answer")),
  ).toHaveLength(1);
});

test("a bridge that is silent, unplugged or wrong is one line with the remedy, and is tried again", async () => {
  await using home = await household({ timeout_ms: 20 });
  const { bridge, host } = home;
  bridge.silent = true;
  const driver = home.start();
  await host.until("the driver to say so", () => driver.status().state === "retrying");
  expect(driver.status().problem).toMatch(/does not answer: check that the port is the bridge's/);
  bridge.silent = false;
  await host.until("the driver to listen", () => driver.status().state === "listening");
  await bridge.unplug();
  await host.until("the driver to notice", () => driver.status().state === "retrying");
  await bridge.replug();
  await host.until("the driver to listen again", () => driver.status().state === "listening");
  await driver.stop();
  expect(driver.status().state).toBe("stopped");
});

test("a driver stops at once in the middle of a question", async () => {
  await using home = await household({ timeout_ms: 60_000 });
  const { bridge, host } = home;
  bridge.onReply = (reply) => reply.type === "list";
  const driver = home.start();
  await host.until("the question", () => bridge.requests.some(({ type }) => type === requestType.status));
  await driver.stop();
  expect(driver.status().state).toBe("stopped");
});

test("a bridge on a path that does not exist names the section to correct", async () => {
  await using home = await household();
  await home.bridge.close();
  const driver = home.start();
  await home.host.until("the driver to say so", () => driver.status().state === "retrying");
  expect(driver.status().problem).toMatch(/\[pillbox\]/);
});

test("a box is asked when its window is surely open, and again when it is surely over", () => {
  // A box tells whole seconds, and its clock is known to about one: an edge is passed 2 s behind it.
  const window = { from_ms: 100_000, to_ms: 200_000 };
  const at = (unix_ms: number) => ({ unix_ms, monotonic_ms: 0, quality: clockQuality.synchronised });
  const next = (result: "read" | "radio off", unix_ms: number) =>
    unix_ms + wait_ms({ result, window }, undefined, at(unix_ms));
  const silent = (failures: number, unix_ms: number) =>
    unix_ms + wait_ms({ result: "silent", failures }, window, at(unix_ms));
  expect([next("radio off", 0), next("read", 99_999), silent(1, 0)]).toEqual([102_000, 102_000, 102_000]);
  expect([next("read", 100_000), next("read", 199_999)]).toEqual([202_000, 202_000]);
  expect([next("radio off", 100_000), silent(1, 150_000), silent(1, 199_000)]).toEqual([
    130_000, 180_000, 202_000,
  ]);
  expect([next("read", 200_000), silent(5, 200_000), silent(6, 200_000)]).toEqual([
    3_800_000, 260_000, 3_800_000,
  ]);
});
