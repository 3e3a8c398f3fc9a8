import { describe, expect, test } from "bun:test";
import { type FleetHome, type FleetNeedType, fleetNeeds } from "../../../src/domain/fleet-home.ts";
import { needsVisit, toBring, whyOf } from "../../../src/web/pages/home/home-needs.ts";

const nothing = { silent: [], low_batteries: [], poor_links: [], rivals: [], conflicts: [] };
/** A home with such needs, and of its state what these are about. */
const home = (types: readonly string[], state: object = {}) =>
  ({
    ...nothing,
    ...state,
    needs: types.map((type) => ({ type, message: `message of ${type}` })),
  }) as unknown as FleetHome;
const silentSince = (...heard: (number | null)[]) => ({
  silent: heard.map((heard_ms, at) => ({ typename: "wirelesssensors", itemname: `s${at}`, heard_ms })),
});
const low = (...names: string[]) => ({ low_batteries: names.map((itemname) => ({ itemname })) });
const poor = (...names: string[]) => ({ poor_links: names.map((name) => ({ name })) });
const conflict = { address: "aa", why: "another key" };

describe("a need is told", () => {
  test.each<[FleetNeedType, object, object]>([
    ["never_heard", { expected_since_ms: 7 }, { text: "its gateway was never heard", since_ms: 7 }],
    ["never_heard", { expected_since_ms: null }, { text: "its gateway was never heard" }],
    [
      "upload_overdue",
      { last_upload_ms: 5, last_report_ms: 7, failure: null },
      { text: "no upload", since_ms: 7 },
    ],
    [
      "upload_overdue",
      { last_upload_ms: 7, last_report_ms: 5, failure: "refused" },
      { text: "no upload (refused)", since_ms: 7 },
    ],
    ["upload_overdue", { last_upload_ms: null, last_report_ms: null, failure: null }, { text: "no upload" }],
    [
      "two_gateways",
      { rivals: ["a", "b"] },
      {
        text: "3 gateways upload for this home: one of them has the token of another home, or a copy of the other's card",
      },
    ],
    ["crash_loop", { restarts: 9 }, { text: "the gateway ends by itself: 9 times in a day" }],
    [
      "joining_open",
      { joining_since_ms: 7 },
      { text: "the gateway lets in every device that asks to join", since_ms: 7 },
    ],
    [
      "joining_open",
      { joining_since_ms: null },
      { text: "the gateway lets in every device that asks to join" },
    ],
    [
      "minutes_missing",
      { deaf_minutes: 9 },
      { text: "the gateway did not listen for 9 minutes of the day before its last report" },
    ],
    ["gateway_hot", { temperature_c: 84.5 }, { text: "the gateway is too hot: 85 °C" }],
    ["gateway_hot", { temperature_c: null }, { text: "the gateway is too hot" }],
    [
      "identity_conflict",
      { conflicts: [conflict] },
      {
        text: "another device says that it is aa (another key): accept or refuse it at the gateway with lintel items",
      },
    ],
    [
      "identity_conflict",
      { conflicts: [conflict, conflict, conflict] },
      {
        text: "another device says that it is aa (another key): accept or refuse it at the gateway with lintel items, and 2 more",
      },
    ],
    ["identity_conflict", {}, { text: "another device claims the address of a known one" }],
    ["item_silent", silentSince(9, 7), { text: "not heard", names: ["s0", "s1"], since_ms: 7 }],
    // Since when one of them is silent nobody knows: then a time would be that of others.
    ["item_silent", silentSince(9, null), { text: "not heard", names: ["s0", "s1"] }],
    ["link_poor", poor("a"), { text: "its Zigbee link is weak", names: ["a"] }],
    ["link_poor", poor("a", "b"), { text: "their Zigbee links are weak", names: ["a", "b"] }],
    ["battery_low", low("a"), { text: "its battery is nearly empty", names: ["a"] }],
    ["battery_low", low("a", "b"), { text: "their batteries are nearly empty", names: ["a", "b"] }],
    ["burn_in_due", {}, { text: "message of burn_in_due" }],
  ])("%s of %j", (type, state, why) => {
    const { remedy: _, ...said } = whyOf(home([type, type], state))[0] ?? { remedy: "" };
    expect(said as object).toEqual(why);
  });

  test.each(Object.keys(fleetNeeds) as FleetNeedType[])("with what to do about it: %s", (type) => {
    const state = { ...silentSince(1), ...low("a"), ...poor("a"), conflicts: [conflict] };
    const [why] = whyOf(home([type], state));
    const others = ["recording_ends", "retention_due", "burn_in_due", "not_accepted", "erased_there"];
    // Of these the message of the need has it.
    const isTold = others.includes(type) || /: accept or refuse/.test(why?.text ?? "");
    const things = toBring(home([type], { ...nothing, ...(/item|battery/.test(type) ? state : {}) }));
    expect(isTold || things.length > 0 || (why?.remedy ?? "") !== "").toBe(true);
  });

  test("and since when central has known of it, where nobody tells since when it is so", () => {
    const of = home(["power_low", "item_silent"], silentSince(7));
    expect(whyOf(of, () => 5)).toEqual([
      { text: "the power supply of the gateway is too weak", known_ms: 5 },
      { text: "not heard", names: ["s0"], since_ms: 7 },
    ]);
  });

  test("once where a saying has all of it, and each where it has its own words", () => {
    expect(whyOf(home(["crash_loop", "burn_in_due", "crash_loop", "burn_in_due"]))).toHaveLength(3);
  });
});

test.each<[FleetNeedType[], object, string[]]>([
  [[], {}, []],
  [["upload_overdue"], {}, ["a spare gateway", "a network cable"]],
  [["disk_nearly_full"], {}, ["a larger memory card"]],
  [["power_low"], {}, ["a power supply and a short cable for the gateway"]],
  [["disk_worn"], {}, ["a new memory card"]],
  [["clock_wrong"], {}, ["a battery for the clock of the gateway"]],
  [["link_poor"], {}, ["a plug that passes on Zigbee messages"]],
  [["two_gateways"], {}, ["the token of this home"]],
  [["battery_low"], low("a"), ["a battery"]],
  [["battery_low"], low("a", "b"), ["2 batteries"]],
  [["item_silent"], silentSince(1), ["a battery", "a spare sensor"]],
  [["item_silent"], silentSince(1, 2), ["2 batteries", "2 spare devices"]],
  // A device that is silent and was low needs one battery.
  [["item_silent", "battery_low"], { ...silentSince(1), ...low("s0") }, ["a battery", "a spare sensor"]],
])("for %j with %j somebody brings %j", (types, state, things) => {
  expect(toBring(home(types, state))).toEqual(things);
});

test("nobody goes there for what is dealt with at the desk, and for everything else somebody does", () => {
  const desk = Object.keys(fleetNeeds).filter((type) => !needsVisit(home([type])));
  expect(desk.toSorted()).toEqual([
    "clock_doubted",
    "data_differ",
    "erased_there",
    "memory_high",
    "went_back",
  ]);
  expect(needsVisit(home([]))).toBe(false);
  expect(needsVisit(home(["went_back", "disk_worn"]))).toBe(true);
});
