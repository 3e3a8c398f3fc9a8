import { afterEach, beforeEach, expect, test } from "bun:test";
import { SystemClock } from "../../src/base/clock.ts";
import { hour_ms } from "../../src/base/time.ts";
import { AlertKeeper } from "../../src/central/fleet/alert-keeper.ts";
import { FleetReader, fleetOf } from "../../src/central/fleet/fleet.ts";
import { upload_grace_ms, upload_overdue_ms } from "../../src/central/fleet/needs-of-home.ts";
import type { FleetHome } from "../../src/domain/fleet-home.ts";
import { itemStatus } from "../../src/domain/records/item.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { givenNamesBytes, givenNamesFile } from "../../src/store/inventory/given-names.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import type { GatewayReport } from "../../src/transfer/protocol.ts";
import { needsVisit, toBring, whyOf } from "../../src/web/pages/home/home-needs.ts";
import { item, keptLog, sensor, start_ms, temporaryDirectory } from "../../testbed/sample.ts";
import { SimulatedGateway, wellReport } from "../../testbed/simulated-gateway.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { events, take } from "../store/central-sample.ts";

let directory: ReturnType<typeof temporaryDirectory>;
let store: CentralStore;
const { log } = keptLog();
const clock = new SystemClock();

beforeEach(async () => {
  directory = temporaryDirectory();
  store = await openCentralStore({ directory: directory.path, clock, log, ...writerOfTests() });
});

afterEach(async () => {
  await store.close();
  directory[Symbol.dispose]();
});

const well = wellReport({ version: "0.1.0", now_ms: start_ms, timezone: "Europe/Berlin", last_seq: 5 });

const wentBack: Partial<GatewayReport> = {
  update: {
    ring: 5,
    refusals: [{ version: "2", reason: "went_back", message: "it was deaf", at_ms: start_ms, times: 1 }],
  },
};

const doubted: Partial<GatewayReport> = {
  doubts: [{ from_ms: start_ms - 2 * hour_ms, to_ms: start_ms - hour_ms }],
};

const poorLinks = [{ name: "bathroom", item: true, fallen: false }];

const conflict = {
  address: sensor(1).address,
  known: "wirelesssensors, wall, 3041, without a key, heard by zigbee",
  claimed: "wirelesssensors, door, 3010, without a key, heard by zigbee",
  why: "its model is 3041, and now it says 3010",
  first_ms: start_ms,
  last_ms: start_ms,
  count: 3,
};

test("whoever looks just after a home was restricted sees nothing of it, whoever has looked just before", async () => {
  await told(12, {}, { heard_ms: start_ms, last_ms: start_ms });
  const reader = new FleetReader({ store, clock: new SystemClock() });
  const [before] = await reader.read();
  expect(before).toMatchObject({ homeid: 12, restricted: false, items: 1 });
  await store.restrict({ target: { home: 12 }, at_ms: start_ms, who: "lea", reason: "a letter" });
  const [after] = await reader.read();
  expect(after).toMatchObject({ homeid: 12, restricted: true, items: 0 });
});

test("a home that uploaded last night and whose items are heard needs nothing", async () => {
  await told(12, {}, { heard_ms: start_ms, last_ms: start_ms });
  expect(await home(start_ms + hour_ms)).toMatchObject({
    homeid: 12,
    version: "0.1.0",
    last_upload_ms: start_ms,
    last_report_ms: start_ms,
    backlog: 0,
    clock_offset_ms: 0,
    disk_free_bytes: 20e9,
    disk_written_a_day_bytes: null,
    disk_life_used_percent: null,
    disk_worn: null,
    temperature_c: null,
    power_low: null,
    items: 1,
    silent: [],
    low_batteries: [],
    poor_links: [],
    needs: [],
  });
});

const burnIn = (failed: string[], changed: string[]) => ({
  ended_ms: start_ms - hour_ms,
  skipped: ["clock"],
  failed,
  changed,
});

const accepted = (faults: string[], night?: string[]) => ({
  ...{ number: 3, finished_ms: start_ms - hour_ms, faults },
  ...(night && { night }),
});

test.each([
  ["a gateway that has not uploaded for two nights", {}, {}, upload_overdue_ms + 1, "upload_overdue"],
  [
    "a gateway that missed the time of its upload",
    { upload_due_in_ms: 20 * hour_ms },
    {},
    20 * hour_ms + upload_grace_ms + 1,
    "upload_overdue",
  ],
  ["a clock a year ahead", { now_ms: start_ms + 365 * 24 * hour_ms }, {}, 0, "clock_wrong"],
  ["a clock two minutes behind", { now_ms: start_ms - 120_000 }, {}, 0, "clock_wrong"],
  ["a disk that is nearly full", { disk_free_bytes: 100e6 }, {}, 0, "disk_nearly_full"],
  ["a gateway that crashes every six minutes", { restarts: 240 }, {}, 0, "crash_loop"],
  ["a release that it went back from", wentBack, {}, 0, "went_back"],
  ["joining that is left open", { joining_since_ms: start_ms - hour_ms - 1 }, {}, 0, "joining_open"],
  ["memory that is nearly used up", { memory_bytes: 290, machine_memory_bytes: 1_000 }, {}, 0, "memory_high"],
  ["a gateway that does not know the time", { clock_synchronised: false }, {}, 0, "clock_doubted"],
  ["one that did not know it an hour ago", doubted, {}, 0, "clock_doubted"],
  ["a driver that did not listen for half an hour", { deaf_minutes: 30 }, {}, 0, "minutes_missing"],
  ["a weak power supply", { machine: { power_low: true } }, {}, 0, "power_low"],
  [
    "one that was weak yesterday",
    { machine: { power_low: false, power_low_ms: start_ms - 24 * hour_ms } },
    {},
    0,
    "power_low",
  ],
  ["an eMMC at its end", { machine: { life_used_percent: 100 } }, {}, 0, "disk_worn"],
  ["a box in the sun", { machine: { temperature_c: 84.5 } }, {}, 0, "gateway_hot"],
  ["a weak Zigbee link", { poor_links: poorLinks }, {}, 0, "link_poor"],
  ["a card that was changed since the burn-in", { burn_in: burnIn([], ["card"]) }, {}, 0, "burn_in_due"],
  ["a burn-in that failed", { burn_in: burnIn(["disk"], []) }, {}, 0, "burn_in_due"],
  [
    "an installation that was not accepted",
    { acceptance: accepted(["Hall 2 sleeps."]) },
    {},
    0,
    "not_accepted",
  ],
  ["a first night that was not good", { acceptance: accepted([], ["Hall 2 slept."]) }, {}, 0, "not_accepted"],
  ["days that differ", { differing_days: 2 }, {}, 0, "data_differ"],
  ["a day that was not mended", { differing_days: 2, unmended_days: 1 }, {}, 0, "data_differ"],
  ["an item silent while its driver listened", {}, { last_ms: start_ms + 5 * hour_ms }, 0, "item_silent"],
  ["a battery at 10 %", {}, { battery_percent: 10 }, 0, "battery_low"],
  ["a coin cell at 2.4 V", {}, { battery_mv: 2400 }, 0, "battery_low"],
] as const)("%s is told", async (_, report, state, later_ms, type) => {
  await told(12, report, { heard_ms: start_ms, last_ms: start_ms, ...state });
  const { needs } = await home(start_ms + later_ms);
  expect(needs.map((need) => need.type)).toEqual([type]);
});

test("days that differed and were mended by sending them again need nobody", async () => {
  const mended = { differing_days: 2, unmended_days: 0 };
  await told(12, mended, { heard_ms: start_ms, last_ms: start_ms });
  expect(await home(start_ms)).toMatchObject({ ...mended, needs: [] });
});

test("a machine that is not well is a reason to go there, in words, with what to bring", async () => {
  const machine = { power_low: true, spare_low: true, temperature_c: 84.5 };
  await told(12, { machine }, { heard_ms: start_ms, last_ms: start_ms });
  const found = await home(start_ms);
  expect(needsVisit(found)).toBe(true);
  expect(whyOf(found).map(({ text }) => text)).toEqual([
    "the power supply of the gateway is too weak",
    "the memory card of the gateway is nearly worn out",
    "the gateway is too hot: 85 °C",
  ]);
  expect(toBring(found)).toEqual(["a power supply and a short cable for the gateway", "a new memory card"]);
});

test("a device under a known address is a reason to go there, with the commands that settle it", async () => {
  const { address, why } = conflict;
  const second = { ...conflict, address: sensor(2).address };
  const heard = { heard_ms: start_ms, last_ms: start_ms };
  await told(12, { conflicts: [conflict, second] }, heard);
  const found = await home(start_ms);
  expect(found.conflicts).toEqual([conflict, second]);
  expect(found.needs).toEqual([
    {
      type: "identity_conflict",
      message: `Another device says that it is ${address}: ${why}. Nothing is recorded of it. At the gateway of home 12: lintel items accept ${address} if it was reset or replaced, else lintel items refuse ${address}; lintel items conflicts shows 1 more there`,
    },
  ]);
  expect(needsVisit(found)).toBe(true);
  expect(whyOf(found)).toEqual([
    {
      text: `another device says that it is ${address} (${why}): accept or refuse it at the gateway with lintel items, and 1 more`,
    },
  ]);
  // What goes on all the time does not change the alert.
  await told(12, { conflicts: [{ ...conflict, last_ms: start_ms + 1, count: 90 }, second] }, heard);
  expect((await home(start_ms)).needs).toEqual([...found.needs]);
});

test("an item that is decommissioned needs nobody, silent and with an empty battery as it is", async () => {
  await told(12, {}, { heard_ms: start_ms, last_ms: start_ms + 5 * hour_ms, battery_percent: 3 });
  await take(store, item(1, { currenthomeid: 12, currenthomestart: 1, ...itemStatus.decommissioned }));
  expect(await home(start_ms)).toMatchObject({ needs: [], silent: [], low_batteries: [] });
});

test("an item that was replaced in its home needs nobody, and is listed as long as the inventory has it there", async () => {
  await told(12, {}, { heard_ms: start_ms, last_ms: start_ms + 5 * hour_ms, battery_percent: 3 });
  expect((await home(start_ms)).needs).toHaveLength(2);
  const { address } = sensor(9);
  const name = { kind: "wirelesssensors", name: "Hall", address, replaces: sensor(1).address } as const;
  await store.putBackup(12, givenNamesFile, givenNamesBytes([{ ...name, given_ms: start_ms }]));
  const nothing = { needs: [], silent: [], low_batteries: [] };
  const { typename, itemname } = item(1);
  const replaced = [{ typename, itemname, by: address, at_ms: start_ms }];
  expect(await home(start_ms)).toMatchObject({ ...nothing, replaced });
  await take(store, item(1, { currenthomeid: 12, currenthomestart: 1, ...itemStatus.decommissioned }));
  expect(await home(start_ms)).toMatchObject({ ...nothing, replaced: [] });
});

test("a gateway whose next upload is not due yet is awaited, however long that is", async () => {
  const due_in_ms = 47 * hour_ms;
  await told(12, { upload_due_in_ms: due_in_ms }, { heard_ms: start_ms, last_ms: start_ms });
  expect(await home(start_ms + due_in_ms + upload_grace_ms)).toMatchObject({
    next_upload_ms: start_ms + due_in_ms,
    needs: [],
  });
});

test("a home that has a token and is never heard is listed at once, and needs somebody after a day", async () => {
  const add = (home: number, rest = {}) =>
    store.addToken({
      ...{ id: `token-${home}`, name: `home ${home}`, scope: "sync", hash: new Uint8Array(32) },
      ...{ created_ms: start_ms, home, ...rest },
    });
  await add(12);
  await add(13);
  await add(14, { expires_ms: start_ms + hour_ms });
  await told(12, {}, { heard_ms: start_ms, last_ms: start_ms });
  const needs = async (now_ms: number, of?: number[]) =>
    (await fleetOf(store, now_ms, of)).map(({ homeid, needs }) => [homeid, needs.map(({ type }) => type)]);
  expect(await needs(start_ms)).toEqual([
    [12, []],
    [13, []],
    [14, []],
  ]);
  expect(await needs(start_ms + 26 * hour_ms)).toEqual([
    [12, []],
    [13, ["never_heard"]],
  ]);
  expect(await needs(start_ms + 26 * hour_ms, [12])).toEqual([[12, []]]);
  const [, missing] = await fleetOf(store, start_ms + 26 * hour_ms);
  expect(whyOf(missing as FleetHome)).toEqual([
    {
      text: "its gateway was never heard",
      since_ms: start_ms,
      remedy: "If no gateway is to come, revoke its token: lintel token list, and lintel token revoke ID.",
    },
  ]);
  await store.revokeToken("token-13");
  expect(await needs(start_ms + 26 * hour_ms)).toEqual([[12, []]]);
});

test("a home lists the readings that are still on its gateway", async () => {
  await told(12, { last_seq: 105 }, { heard_ms: start_ms, last_ms: start_ms });
  expect(await home(start_ms)).toMatchObject({ backlog: 100 });
});

test("what a home needs is among the alerts of who lives there, until it is mended", async () => {
  const subjects = [7, 8, 9].map((subjectid) => ({ type: "subjects", record: subject(subjectid) }) as const);
  const enrollments = [
    enrolled(7, { homeid: 12, stop: null }),
    enrolled(8, { homeid: 12, stop: 1_700_000_000 }),
    enrolled(9, { homeid: 15, stop: null }),
  ].map((record) => ({ type: "project_enrollments", record }) as const);
  const own = { subjectid: 7, alerttypeid: 3, alerttypename: "Visit", alertmessage: "Key is under the mat" };
  await store.importRecords([[...subjects, ...enrollments, { type: "alerts", record: own }]]);
  await told(12, { disk_free_bytes: 1e6 }, { heard_ms: start_ms, last_ms: start_ms });
  const keeper = new AlertKeeper({
    store,
    clock: { ...clock, now: () => ({ ...clock.now(), unix_ms: start_ms }), after: clock.after },
    log,
  });
  await keeper.look();
  expect(await store.recordsOf("alerts", 7)).toEqual([
    own,
    {
      subjectid: 7,
      alerttypeid: 90_004,
      alerttypename: "Disk nearly full",
      alertmessage: "The disk of the gateway of home 12 is nearly full",
    },
  ]);
  expect(await store.recordsOf("alerts", 8)).toEqual([]);
  expect(await store.recordsOf("alerts", 9)).toEqual([]);
  await told(12, {}, { heard_ms: start_ms, last_ms: start_ms });
  await keeper.look();
  expect(await store.recordsOf("alerts", 7)).toEqual([own]);
});

test("alerts of a home that the store does not take are put there with the next look, and hold up nobody's for ever", async () => {
  for (const [subjectid, homeid] of [
    [7, 12],
    [9, 15],
  ] as const) {
    const enrollment = {
      type: "project_enrollments",
      record: enrolled(subjectid, { homeid, stop: null }),
    } as const;
    await store.importRecords([[{ type: "subjects", record: subject(subjectid) }, enrollment]]);
    await told(homeid, { disk_free_bytes: 1e6 }, { heard_ms: start_ms, last_ms: start_ms });
  }
  const refused = new Set([12, 15]);
  const refusing: typeof store = Object.assign(Object.create(store), {
    replaceAlerts: async (home: number, alerts: Parameters<typeof store.replaceAlerts>[1]) => {
      await Promise.resolve();
      if (refused.delete(home)) throw new Error("the disk is full");
      await store.replaceAlerts(home, alerts);
    },
  });
  const at = { ...clock, now: () => ({ ...clock.now(), unix_ms: start_ms }), after: clock.after };
  const keeper = new AlertKeeper({ store: refusing, clock: at, log });
  for (const _ of [12, 15]) await expect(keeper.look()).rejects.toThrow("the disk is full");
  await keeper.look();
  for (const subjectid of [7, 9]) expect(await store.recordsOf("alerts", subjectid)).toHaveLength(1);
});

interface Told {
  readonly heard_ms: number;
  /** Until when its driver listened. */
  readonly last_ms: number;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
}

/** A home with one sensor uploads five readings and reports. */
async function told(
  homeid: number,
  report: Partial<GatewayReport>,
  { last_ms, ...state }: Told,
): Promise<void> {
  const gateway = new SimulatedGateway(homeid, `home ${homeid}`).add(...events(1, 5));
  const sender = { home: homeid, at_ms: start_ms };
  if ((await store.items("wirelesssensors", { skip: 0, limit: 1_000, homes: [homeid] })).length === 0) {
    await take(store, item(1, { currenthomeid: homeid, currenthomestart: 1 }));
    await store.receive(gateway.all(), sender);
  }
  await store.noteReport(
    gateway.report(
      {
        devices: [sensor(1)],
        listeners: [{ name: "zigbee", first_ms: start_ms - hour_ms, last_ms }],
        states: [{ device: 0, first_ms: start_ms - hour_ms, listener: "zigbee", ...state }],
      },
      { ...well, ...report },
    ),
    sender,
  );
}

async function home(now_ms: number): Promise<FleetHome> {
  const homes = await fleetOf(store, now_ms);
  expect(homes).toHaveLength(1);
  return homes[0] as FleetHome;
}

function subject(subjectid: number): Record<string, unknown> {
  return {
    subjectid,
    subjectname: `S${subjectid}`,
    titleid: null,
    titlename: null,
    lname: null,
    fname: null,
    oadc: null,
    email: null,
    genderid: null,
    gendername: null,
    dob: null,
    dod: null,
  };
}

function enrolled(
  subjectid: number,
  where: { homeid: number; stop: number | null },
): Record<string, unknown> {
  return {
    subjectid,
    projectid: 1,
    projectname: null,
    statename: null,
    stateid: null,
    start: 1_600_000_000,
    ...where,
  };
}
