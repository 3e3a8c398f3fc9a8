import { expect, test } from "bun:test";
import type { Events, Models } from "zigbee-herdsman";
import type { LastStatus } from "../../../drivers/zigbee/last-status.ts";
import {
  delay_max_ms,
  heartbeat_least_ms,
  isSilent,
  zoneEndpoint,
  zoneReport,
  zoneTypeOf,
} from "../../../drivers/zigbee/zone-status.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { StandInDevice } from "../../../testbed/stand-in-device.ts";

function message(type: string, data: object, cluster = "ssIasZone"): Events.MessagePayload {
  return { type, cluster, data } as unknown as Events.MessagePayload;
}
const notification = (data: object) => zoneReport(message("commandStatusChangeNotification", data));

test("a notification has its status, and a delay in quarters of a second that can be believed", () => {
  const of = (delay_ms: number) => ({ zonestatus: 33, notified: true, delay_ms });
  expect(notification({ zonestatus: 33 })).toEqual(of(0));
  expect(notification({ zonestatus: 33, delay: 6 })).toEqual(of(1_500));
  expect(notification({ zonestatus: 33, delay: delay_max_ms / 250 })).toEqual(of(delay_max_ms));
  expect(notification({ zonestatus: 33, delay: delay_max_ms / 250 + 1 })).toEqual(of(0));
  expect(notification({ zonestatus: 33, delay: "6" })).toEqual(of(0));
  expect(notification({ zonestatus: "33" })).toBeUndefined();
  expect(delay_max_ms).toBe(3_600_000);
});

test("an attribute that is reported or read is a status, and nothing else is", () => {
  for (const type of ["attributeReport", "readResponse"]) {
    expect(zoneReport(message(type, { zoneStatus: 5 }))).toEqual({
      zonestatus: 5,
      notified: false,
      delay_ms: 0,
    });
    expect(zoneReport(message(type, { zoneStatus: "5" }))).toBeUndefined();
    expect(zoneReport(message(type, { zonestatus: 5 }))).toBeUndefined();
  }
  expect(zoneReport(message("commandEnrollRequest", { zoneStatus: 5 }))).toBeUndefined();
  expect(zoneReport(message("attributeReport", { zoneStatus: 5 }, "genBasic"))).toBeUndefined();
});

const moment = { unix_ms: 5_000_000_000, monotonic_ms: 50_000_000, quality: clockQuality.synchronised };
const told = (zonestatus: number, notified: boolean) => ({ zonestatus, notified, delay_ms: 0 });
function known(zonestatus: number, ago_ms: number): LastStatus {
  return { zonestatus, monotonic_ms: moment.monotonic_ms - ago_ms };
}

test.each<[string, ReturnType<typeof told>, LastStatus | undefined, boolean]>([
  ["an attribute as it was", told(1, false), known(1, 0), true],
  ["an attribute that has changed", told(1, false), known(0, 0), false],
  ["an attribute of a new sensor", told(0, false), undefined, false],
  ["supervision ten minutes after the last", told(0x10, true), known(0x10, heartbeat_least_ms), true],
  ["supervision and restore", told(0x30, true), known(0x30, heartbeat_least_ms), true],
  ["supervision a moment too early", told(0x10, true), known(0x10, heartbeat_least_ms - 1), false],
  ["another status than the last", told(0x10, true), known(0x30, heartbeat_least_ms), false],
  ["a status without supervision", told(0x20, true), known(0x20, heartbeat_least_ms), false],
  ["supervision with an alarm", told(0x11, true), known(0x11, heartbeat_least_ms), false],
  ["a notification of a new sensor", told(0x10, true), undefined, false],
])("%s is a heartbeat or the same again: %#", (_, zone, last, silent) => {
  expect(heartbeat_least_ms).toBe(600_000);
  expect(isSilent(zone, last, moment)).toBe(silent);
});

test("the zone of a device is the endpoint that has the cluster, and its type the number that is known of it", () => {
  const stand = new StandInDevice("0x4000000000000001", { modelID: "of nobody" });
  const device = stand as unknown as Models.Device;
  stand.getEndpoint(1);
  expect([zoneEndpoint(device), zoneTypeOf(device)]).toEqual([undefined, undefined]);
  const zone = stand.getEndpoint(2);
  zone.inputClusters.push(0x0500);
  expect(zoneEndpoint(device)?.ID).toBe(2);
  const known: Record<string, unknown> = {};
  zone.getClusterAttributeValue = ((cluster: string, name: string) => known[`${cluster} ${name}`]) as never;
  for (const [type, told] of [
    [0x000d, 0x000d],
    ["door", undefined],
    [undefined, undefined],
  ]) {
    known["ssIasZone zoneType"] = type;
    expect(zoneTypeOf(device)).toBe(told as number);
  }
});
