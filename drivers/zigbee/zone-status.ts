import type { Events, Models } from "zigbee-herdsman";
import type { Moment } from "../../src/base/clock.ts";
import { age_ms, type LastStatus } from "./last-status.ts";

const iasZoneCluster = 0x0500;

/** Zone type of a motion sensor (ZCL 8.2.2.2.1.2). */
export const motionZone = 0x000d;

/** ZoneStatus bits (ZCL 8.2.2.2.1.3). */
const zoneBit = { supervision: 1 << 4, restore: 1 << 5 } as const;

/** A repeated status is a heartbeat only this long after the last notification of its device. */
export const heartbeat_least_ms = 10 * 60_000;

/** A stated delay is in quarter-seconds; one that is longer than this is taken for a mistake of the device. */
const delay_unit_ms = 250;
export const delay_max_ms = 60 * 60_000;

/** A status that an IAS zone told. */
export interface ZoneReport {
  readonly zonestatus: number;
  /** A Zone Status Change Notification, rather than an attribute that was reported or read. */
  readonly notified: boolean;
  readonly delay_ms: number;
}

/** The zone status that a message has; undefined where it has none. */
export function zoneReport(message: Events.MessagePayload): ZoneReport | undefined {
  if (message.cluster !== "ssIasZone") return undefined;
  const data = message.data as Record<string, unknown>;
  if (message.type === "commandStatusChangeNotification") {
    const { zonestatus, delay } = data;
    if (typeof zonestatus !== "number") return undefined;
    const delay_ms = typeof delay === "number" ? delay * delay_unit_ms : 0;
    return { zonestatus, notified: true, delay_ms: delay_ms <= delay_max_ms ? delay_ms : 0 };
  }
  const { zoneStatus } = data;
  if (message.type !== "attributeReport" && message.type !== "readResponse") return undefined;
  return typeof zoneStatus === "number"
    ? { zonestatus: zoneStatus, notified: false, delay_ms: 0 }
    : undefined;
}

/** Whether a report says no more than what was known: a heartbeat, or an attribute that is as it was. */
export function isSilent(zone: ZoneReport, last: LastStatus | undefined, moment: Moment): boolean {
  const same = last?.zonestatus === zone.zonestatus;
  if (!zone.notified) return same;
  const quiet_ms = last === undefined ? 0 : age_ms(last, moment);
  return same && isAtRest(zone.zonestatus) && quiet_ms >= heartbeat_least_ms;
}

/** A status that says no more than "I am here": supervision, and no bit set but those of the two kinds of report. */
function isAtRest(zonestatus: number): boolean {
  return (
    (zonestatus & zoneBit.supervision) !== 0 && (zonestatus & ~(zoneBit.supervision | zoneBit.restore)) === 0
  );
}

export function zoneEndpoint(device: Models.Device): Models.Endpoint | undefined {
  return device.endpoints.find((endpoint) => endpoint.inputClusters.includes(iasZoneCluster));
}

export function zoneTypeOf(device: Models.Device): number | undefined {
  const type = zoneEndpoint(device)?.getClusterAttributeValue("ssIasZone", "zoneType");
  return typeof type === "number" ? type : undefined;
}
