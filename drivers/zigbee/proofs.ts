import type { Events } from "zigbee-herdsman";
import { clockQuality } from "../../src/base/clock.ts";
import type { Device } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { bytesOf, type ProvenTable } from "../wire/example.ts";
import { attributeRows, commandRows } from "./clusters.ts";
import { HerdsmanLog } from "./herdsman-log.ts";
import { LastStatuses } from "./last-status.ts";
import { sensorModels, zoneSubtypes } from "./models.ts";
import { Sensors } from "./sensors.ts";

const moment = { unix_ms: 1_800_000_000_250, monotonic_ms: 5_000_000, quality: clockQuality.synchronised };

/**
 * Attribute reports of a device that no definition describes: cluster, then what stands behind the head of the frame: attribute, type, value. The
 * values that stand for "not known" are those of the type (ZCL 2.6.2), where the attribute has none of its own.
 */
const attributes: ProvenTable["proofs"] = {
  "msOccupancySensing occupancy": [
    "ZCL 4.8.2.2.1: bit 0, the others are reserved",
    ["0406 0000 18 01", "event 2"],
    ["0406 0000 18 00", "event 0"],
    ["0406 0000 18 02", "event 0"],
    ["0406 0000 18 ff", "event 2"],
  ],
  "msTemperatureMeasurement measuredValue": [
    "ZCL 4.4.2.2.1: hundredths of a degree from -273.15 to 327.67; 8000 is invalid",
    ["0402 0000 29 6608", "temperature 21.5 °C"],
    ["0402 0000 29 ffff", "temperature -0.01 °C"],
    ["0402 0000 29 0000", "temperature 0 °C"],
    ["0402 0000 29 4d95", "temperature -273.15 °C"],
    ["0402 0000 29 ff7f", "temperature 327.67 °C"],
    ["0402 0000 29 0080", ""],
  ],
  "msRelativeHumidity measuredValue": [
    "ZCL 4.7.2.2.1: hundredths of a per cent to 100; ffff is invalid",
    ["0405 0000 21 a811", "humidity 45.2 %"],
    ["0405 0000 21 0000", "humidity 0 %"],
    ["0405 0000 21 1027", "humidity 100 %"],
    ["0405 0000 21 ffff", ""],
  ],
  "msIlluminanceMeasurement measuredValue": [
    "ZCL 4.2.2.2.1: 10,000 × log10(lx) + 1; 0 is too dark to be measured, ffff invalid",
    ["0400 0000 21 214e", "illuminance 100 lx"],
    ["0400 0000 21 0100", "illuminance 1 lx"],
    ["0400 0000 21 419c", "illuminance 10000 lx"],
    ["0400 0000 21 0000", "illuminance 0 lx"],
    ["0400 0000 21 ffff", ""],
  ],
  "msPressureMeasurement measuredValue": [
    "ZCL 4.5.2.2.1: tenths of a kilopascal; 8000 is invalid",
    ["0403 0000 29 f503", "pressure 1013 hPa"],
    ["0403 0000 29 ff7f", "pressure 32767 hPa"],
    ["0403 0000 29 0180", "pressure -32767 hPa"],
    ["0403 0000 29 0080", ""],
  ],
  "haElectricalMeasurement activePower": [
    "ZCL 4.9.2.2.4: watts, times the multiplier and by the divisor, here 2 and 10; negative where it is delivered; 8000 is invalid",
    ["0b04 0b05 29 b004", "power 240 W"],
    ["0b04 0b05 29 ffff", "power -0.2 W"],
    ["0b04 0b05 29 ff7f", "power 6553.4 W"],
    ["0b04 0b05 29 0080", ""],
  ],
  "genOnOff onOff": [
    "ZCL 3.8.2.2.1: 1 is on, which is open; ff is no boolean (ZCL 2.6.2)",
    ["0006 0000 10 01", "event 1"],
    ["0006 0000 10 00", "event 0"],
    ["0006 0000 10 ff", ""],
  ],
  "genPowerCfg batteryPercentageRemaining": [
    "ZCL 3.3.2.2.3.2: half per cent to 200; ff is not known",
    ["0001 2100 20 aa", "battery 85 %"],
    ["0001 2100 20 00", "battery 0 %"],
    ["0001 2100 20 c8", "battery 100 %"],
    ["0001 2100 20 ff", ""],
  ],
  "genPowerCfg batteryVoltage": [
    "ZCL 3.3.2.2.3.1: 100 mV; ff is not known, and 0 is no battery",
    ["0001 2000 20 1e", "battery 3000 mV"],
    ["0001 2000 20 fe", "battery 25400 mV"],
    ["0001 2000 20 00", ""],
    ["0001 2000 20 ff", ""],
  ],
};

const zone = (alarm: string, event: number, battery: string, told: string) =>
  [
    "NYCE data sheets of the NCZ series; ZCL 8.2.2.4.1, 3.3.2.2.3.2",
    [`0500 ${alarm}`, `event ${event}`],
    [`0001 2100 20 ${battery}`, told],
    ["0001 2100 20 ff", ""],
  ] as const;

const subtype = (told: string) => ["ZCL 8.2.2.2.1.2", ["0500 3100 00 17 0000", told]] as const;

export const zigbeeTables: readonly ProvenTable[] = [
  {
    name: "zigbee attributes",
    rows: attributeRows.map(({ cluster, attribute }) => `${cluster} ${attribute}`),
    proofs: attributes,
    moment,
    feed: async (message, host) => void (await hear(message, host, { modelID: "of nobody" })),
  },
  {
    name: "zigbee commands",
    rows: Object.keys(commandRows),
    proofs: {
      commandOff: ["ZCL 3.8.2.3.1", ["0006 00", "action_off 1"]],
      commandOn: ["ZCL 3.8.2.3.2", ["0006 01", "action_on 1"]],
      commandToggle: ["ZCL 3.8.2.3.3", ["0006 02", "action_toggle 1"]],
    },
    moment,
    feed: async (message, host) => void (await hear(message, host, { modelID: "of nobody" })),
  },
  {
    name: "zigbee models",
    rows: Object.keys(sensorModels),
    proofs: {
      "3041": zone("3200 00 17 0000", 0x32, "55", "battery 85 %"),
      "3043": zone("3200 00 17 0000", 0x32, "aa", "battery 85 %"),
      "3045": zone("3200 00 17 0000", 0x32, "55", "battery 85 %"),
      "3010": zone("3100 00 17 0000", 0x31, "aa", "battery 85 %"),
      "3011": zone("3100 00 17 0000", 0x31, "aa", "battery 85 %"),
      "3014": zone("3100 00 17 0000", 0x31, "aa", "battery 85 %"),
    },
    moment,
    feed: async (message, host, modelID) => void (await hear(message, host, { modelID })),
  },
  {
    name: "zigbee subtypes of zones",
    rows: [...zoneSubtypes.keys()].map(String),
    proofs: { 13: subtype("wall"), 21: subtype("door") },
    moment,
    feed: async (message, host, type) =>
      (await hear(message, host, { modelID: "of nobody", zoneType: Number(type) }))?.subtype,
  },
];

/** Hands a message of a device to the sensors, taken apart by zigbee-herdsman. */
async function hear(
  message: string,
  host: Host,
  { modelID, zoneType }: { modelID: string; zoneType?: number },
): Promise<Device | undefined> {
  const { Zcl } = await import("zigbee-herdsman");
  const id = Number.parseInt(message.slice(0, 4), 16);
  const body = bytesOf(message.slice(4));
  const isCommand = id === 0x0500 || body.length === 1;
  const head = isCommand ? [id === 0x0500 ? 0x19 : 0x11, 1, ...(id === 0x0500 ? [0] : [])] : [0x18, 1, 0x0a];
  const frame = Buffer.from([...head, ...body]);
  const header = Zcl.Header.fromBuffer(frame);
  const { payload, command } = Zcl.Frame.fromBuffer(id, header, frame, {});
  const cluster = Zcl.Utils.getCluster(id, undefined, {});
  const known: Readonly<Record<string, number | undefined>> = {
    acPowerMultiplier: 2,
    acPowerDivisor: 10,
    zoneType,
  };
  const endpoint = {
    inputClusters: zoneType === undefined ? [] : [0x0500],
    supportsInputCluster: () => true,
    supportsOutputCluster: () => true,
    getClusterAttributeValue: (_: string, name: string) => known[name],
  };
  const device = {
    ieeeAddr: "0x000d6f0005a1b2c3",
    modelID,
    type: "EndDevice",
    interviewState: "SUCCESSFUL",
    meta: { configured: true },
    endpoints: [endpoint],
  };
  const data = isCommand
    ? payload
    : Object.fromEntries(
        (payload as { attrId: number; attrData: unknown }[]).map(({ attrId, attrData }) => [
          Object.values(cluster.attributes).find(({ ID }) => ID === attrId)?.name,
          attrData,
        ]),
      );
  const type = isCommand
    ? `command${command.name.charAt(0).toUpperCase()}${command.name.slice(1)}`
    : "attributeReport";
  const sensors = new Sensors({
    host,
    statuses: new LastStatuses(host),
    herdsmanLog: new HerdsmanLog({ ...host, dropped: (what) => host.dropped(what) }),
  });
  const heard = { type, cluster: cluster.name, data, device, endpoint, linkquality: 150 };
  await sensors.identify(device as never);
  // The fields that zigbee-herdsman adds to the payload, as far as they are read of a sensor's message.
  sensors.message(heard as unknown as Events.MessagePayload, moment);
  await sensors.settled();
  return sensors.known(device.ieeeAddr)?.device;
}
