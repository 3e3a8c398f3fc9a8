import type { Events, Models } from "zigbee-herdsman";
import type { Moment } from "../../src/clock.ts";
import type { Device } from "../../src/reading.ts";
import type { Host } from "../driver.ts";
import { age_ms, type LastStatuses } from "./last-status.ts";
import { batteryMillivolts, batteryPercent, type SensorModel, sensorModel, zoneSubtypes } from "./models.ts";

const iasZoneCluster = 0x0500;

/** ZoneStatus bits (ZCL 8.2.2.2.1.3). */
const zoneBit = { alarm1: 1 << 0, alarm2: 1 << 1, supervision: 1 << 4, restore: 1 << 5 } as const;

/** A repeated status is a heartbeat only this long after the last notification of its device. */
export const heartbeat_least_ms = 10 * 60_000;

/** A stated delay is in quarter-seconds; one that is longer than this is taken for a mistake of the device. */
const delay_unit_ms = 250;
export const delay_max_ms = 60 * 60_000;

interface Sensor {
  readonly device: Device;
  readonly model: SensorModel | undefined;
}

/** Turns what zigbee-herdsman hears from sensors into readings and states. */
export class Sensors {
  readonly #host: Host;
  readonly #statuses: LastStatuses;
  /** By IEEE address; as many as there are paired devices. */
  readonly #known = new Map<string, Sensor>();

  constructor(options: { host: Host; statuses: LastStatuses }) {
    this.#host = options.host;
    this.#statuses = options.statuses;
  }

  /** Takes a message that arrived at `moment`. Messages of devices that are no sensors are ignored. */
  message(message: Events.MessagePayload, moment: Moment): void {
    const zone = zoneReport(message);
    const sensor = this.#sensor(message.device, zone !== undefined);
    if (sensor === undefined) return;
    if (zone !== undefined) this.#zone(sensor, zone, moment);
    this.#host.heard({
      device: sensor.device,
      heard_ms: moment.unix_ms,
      ...linkqualityOf(message.linkquality),
      ...(message.cluster === "genPowerCfg" ? batteryOf(message, sensor.model) : {}),
    });
  }

  /** Notes a sign of life that carries no message, such as an announcement. */
  alive(device: Models.Device, moment: Moment): void {
    const sensor = this.#sensor(device, false);
    if (sensor !== undefined) this.#host.heard({ device: sensor.device, heard_ms: moment.unix_ms });
  }

  /** A device as the driver knows it; undefined when it is no sensor. */
  describe(device: Models.Device): Device | undefined {
    return this.#sensor(device, false)?.device;
  }

  /** Looks at a device anew when it is next heard: it has been interviewed. */
  refresh(ieee: string): void {
    this.#known.delete(ieee);
  }

  /** A device that has left may come back in another state. */
  forget(ieee: string): void {
    this.#known.delete(ieee);
    this.#statuses.forget(addressOf(ieee));
  }

  #zone(sensor: Sensor, zone: ZoneReport, moment: Moment): void {
    const address = sensor.device.address;
    const last = this.#statuses.get(address);
    const same = last?.zonestatus === zone.zonestatus;
    const quiet_ms = last === undefined ? 0 : age_ms(last, moment);
    const silent = zone.notified ? same && isAtRest(zone.zonestatus) && quiet_ms >= heartbeat_least_ms : same;
    // Before the reading: the status in the file must never be older than the reading on disk.
    this.#statuses.set(address, {
      zonestatus: zone.zonestatus,
      at_ms: moment.unix_ms,
      monotonic_ms: moment.monotonic_ms,
    });
    if (silent) return;
    const reading = {
      device: sensor.device,
      series: "wirelesssensor_events",
      stamp_ms: moment.unix_ms - zone.delay_ms,
      clock: moment.quality,
      monotonic_ms: moment.monotonic_ms - zone.delay_ms,
      values: { event: zone.zonestatus },
    } as const;
    // A refused reading has already been counted and logged by the host.
    this.#host.accept(reading).catch(() => {});
  }

  #sensor(device: Models.Device, speaksAsOne: boolean): Sensor | undefined {
    const known = this.#known.get(device.ieeeAddr);
    if (known !== undefined) return known;
    if (!speaksAsOne && !isSensor(device)) return undefined;
    const model = sensorModel(modelOf(device));
    const subtype = model?.subtype ?? zoneSubtypes.get(zoneTypeOf(device) ?? -1);
    const vendor = model?.vendor ?? device.manufacturerName?.trim();
    const sensor: Sensor = {
      model,
      device: {
        kind: "wirelesssensors",
        address: addressOf(device.ieeeAddr),
        ...(subtype === undefined ? {} : { subtype }),
        ...(modelOf(device) === "" ? {} : { model: modelOf(device) }),
        ...(vendor === undefined || vendor === "" ? {} : { vendor }),
      },
    };
    this.#known.set(device.ieeeAddr, sensor);
    return sensor;
  }
}

/** `00:0d:6f:…` from zigbee-herdsman's `0x000d6f…`. */
export function addressOf(ieee: string): string {
  return (ieee.replace(/^0x/, "").toLowerCase().match(/../g) ?? []).join(":");
}

export function isSensor(device: Models.Device): boolean {
  return (
    sensorModel(modelOf(device)) !== undefined ||
    device.endpoints.some((endpoint) => endpoint.inputClusters.includes(iasZoneCluster))
  );
}

export function zoneEndpoint(device: Models.Device): Models.Endpoint | undefined {
  return device.endpoints.find((endpoint) => endpoint.inputClusters.includes(iasZoneCluster));
}

export function zoneTypeOf(device: Models.Device): number | undefined {
  const type = zoneEndpoint(device)?.getClusterAttributeValue("ssIasZone", "zoneType");
  return typeof type === "number" ? type : undefined;
}

/** Some makes fill their model identifier with zeros or blanks. */
export function modelOf(device: Models.Device): string {
  return (device.modelID ?? "").replace(/[\0\s]+$/, "");
}

interface ZoneReport {
  readonly zonestatus: number;
  /** A Zone Status Change Notification, rather than an attribute that was reported or read. */
  readonly notified: boolean;
  readonly delay_ms: number;
}

function zoneReport(message: Events.MessagePayload): ZoneReport | undefined {
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

/** A status that says no more than "I am here": supervision, and no bit set but those of the two kinds of report. */
function isAtRest(zonestatus: number): boolean {
  return (
    (zonestatus & zoneBit.supervision) !== 0 && (zonestatus & ~(zoneBit.supervision | zoneBit.restore)) === 0
  );
}

function linkqualityOf(linkquality: unknown): { linkquality?: number } {
  return typeof linkquality === "number" && linkquality >= 0 && linkquality <= 255 ? { linkquality } : {};
}

function batteryOf(
  message: Events.MessagePayload,
  model: SensorModel | undefined,
): { battery_percent?: number; battery_mv?: number } {
  if (message.type !== "attributeReport" && message.type !== "readResponse") return {};
  const { batteryPercentageRemaining: charge, batteryVoltage: voltage } = message.data as Record<
    string,
    unknown
  >;
  const battery_percent = typeof charge === "number" ? batteryPercent(charge, model) : undefined;
  const battery_mv = typeof voltage === "number" ? batteryMillivolts(voltage) : undefined;
  return {
    ...(battery_percent === undefined ? {} : { battery_percent }),
    ...(battery_mv === undefined ? {} : { battery_mv }),
  };
}
