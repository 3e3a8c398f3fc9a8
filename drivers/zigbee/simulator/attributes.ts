import type { SimulatedModel } from "./models.ts";
import { type AttributeValue, cluster, encodeValue, status } from "./zcl.ts";

/** The state of a device that its attributes tell. */
interface Attributed {
  readonly manufacturer: string;
  readonly identifier: string;
  readonly model: SimulatedModel;
  readonly zone_type: number | undefined;
  readonly zonestatus: number;
  readonly enrolled: boolean;
  readonly battery_percent: number;
  readonly battery_mv: number;
  readonly cie: Buffer;
  readonly firmware: string;
  readonly datecode: string;
}

/** The records that answer a Read Attributes command (ZCL 2.5.2): id, status and, where there is one, the value. */
export function readRecords(device: Attributed, clusterId: number, wanted: Buffer): Buffer {
  const own = Object.entries(device.model.attributes?.[clusterId] ?? {});
  const have = new Map([
    ...attributesOf(device, clusterId),
    ...own.map(([id, held]) => [Number(id), held] as const),
  ]);
  const records: Buffer[] = [];
  for (let at = 0; at + 2 <= wanted.length; at += 2) {
    const id = wanted.subarray(at, at + 2);
    const attribute = have.get(id.readUInt16LE(0));
    if (attribute === undefined) records.push(id, Buffer.from([status.unsupportedAttribute]));
    else records.push(id, Buffer.from([status.success]), encodeValue(attribute));
  }
  return Buffer.concat(records);
}

/** Charge in the unit that this model uses, and voltage in steps of 100 mV. */
export function batteryAttributes(device: Attributed, voltage: boolean): [number, AttributeValue][] {
  const raw = device.model.unhalvedBattery ? device.battery_percent : device.battery_percent * 2;
  const attributes: [number, AttributeValue][] = [[0x0021, { type: "u8", value: Math.round(raw) }]];
  if (voltage) attributes.unshift([0x0020, { type: "u8", value: Math.round(device.battery_mv / 100) }]);
  return attributes;
}

function attributesOf(device: Attributed, clusterId: number): ReadonlyMap<number, AttributeValue> {
  switch (clusterId) {
    case cluster.basic:
      return new Map<number, AttributeValue>([
        [0x0000, { type: "u8", value: 3 }],
        [0x0004, { type: "string", value: device.manufacturer }],
        [0x0005, { type: "string", value: device.identifier }],
        [0x0006, { type: "string", value: device.datecode }],
        [0x0007, { type: "enum8", value: device.model.router ? 0x01 : 0x03 }],
        [0x4000, { type: "string", value: device.firmware }],
      ]);
    case cluster.power:
      return new Map(batteryAttributes(device, true));
    case cluster.pollControl:
      return new Map<number, AttributeValue>([[0x0000, { type: "u32", value: checkIn_quarter_s }]]);
    case cluster.iasZone:
      return new Map<number, AttributeValue>([
        [0x0000, { type: "enum8", value: device.enrolled ? 1 : 0 }],
        [0x0001, { type: "enum16", value: device.zone_type ?? 0 }],
        [0x0002, { type: "bitmap16", value: device.zonestatus }],
        [0x0010, { type: "eui64", value: device.cie }],
      ]);
    default:
      return new Map();
  }
}

/** Once an hour. */
const checkIn_quarter_s = 4 * 3600;
