/**
 * The few parts of the Zigbee Cluster Library that a sensor speaks: frame header, attribute records and the
 * commands of the IAS Zone cluster. Source: ZCL specification (075123), chapter 2 (foundation) and 8.2
 * (IAS Zone).
 */
export interface ZclFrame {
  /** A command of its cluster, rather than one that every cluster has. */
  readonly specific: boolean;
  readonly fromServer: boolean;
  readonly disableDefaultResponse: boolean;
  readonly manufacturer?: number;
  readonly sequence: number;
  readonly command: number;
  readonly payload: Buffer;
}

export const cluster = {
  basic: 0x0000,
  power: 0x0001,
  pollControl: 0x0020,
  onOff: 0x0006,
  iasZone: 0x0500,
} as const;

/** Commands that every cluster has. */
export const foundation = {
  readAttributes: 0x00,
  readResponse: 0x01,
  writeAttributes: 0x02,
  writeResponse: 0x04,
  configureReporting: 0x06,
  configureReportingResponse: 0x07,
  reportAttributes: 0x0a,
  defaultResponse: 0x0b,
} as const;

/** Commands of the IAS Zone cluster. */
export const iasZone = { statusChange: 0x00, enrolRequest: 0x01, enrolResponse: 0x00 } as const;

export const status = { success: 0x00, notAuthorized: 0x7e, unsupportedAttribute: 0x86 } as const;

const control = {
  specific: 0x01,
  manufacturer: 0x04,
  fromServer: 0x08,
  disableDefaultResponse: 0x10,
} as const;

export function encodeZcl(frame: ZclFrame): Buffer {
  const bits =
    (frame.specific ? control.specific : 0) |
    (frame.manufacturer === undefined ? 0 : control.manufacturer) |
    (frame.fromServer ? control.fromServer : 0) |
    (frame.disableDefaultResponse ? control.disableDefaultResponse : 0);
  const manufacturer =
    frame.manufacturer === undefined ? [] : [frame.manufacturer & 0xff, frame.manufacturer >> 8];
  return Buffer.concat([Buffer.from([bits, ...manufacturer, frame.sequence, frame.command]), frame.payload]);
}

/** The bytes of a frame with another sequence number. */
export function withSequence(zcl: Buffer, sequence: number): Buffer {
  const bytes = Buffer.from(zcl);
  bytes.writeUInt8(sequence, (bytes.readUInt8(0) & control.manufacturer) === 0 ? 1 : 3);
  return bytes;
}

/** Undefined when `bytes` is too short to be a frame. */
export function decodeZcl(bytes: Buffer): ZclFrame | undefined {
  const bits = bytes[0];
  if (bits === undefined) return undefined;
  const hasManufacturer = (bits & control.manufacturer) !== 0;
  const at = hasManufacturer ? 3 : 1;
  if (bytes.length < at + 2) return undefined;
  return {
    specific: (bits & 0x03) === control.specific,
    fromServer: (bits & control.fromServer) !== 0,
    disableDefaultResponse: (bits & control.disableDefaultResponse) !== 0,
    ...(hasManufacturer ? { manufacturer: bytes.readUInt16LE(1) } : {}),
    sequence: bytes.readUInt8(at),
    command: bytes.readUInt8(at + 1),
    payload: Buffer.from(bytes.subarray(at + 2)),
  };
}

/** A value of an attribute, with its data type (2.6.2). */
export type AttributeValue =
  | {
      readonly type: "bool" | "u8" | "u16" | "u32" | "s16" | "enum8" | "enum16" | "bitmap8" | "bitmap16";
      readonly value: number;
    }
  | { readonly type: "eui64"; readonly value: Buffer }
  | { readonly type: "string"; readonly value: string };

const dataTypes = {
  bool: { code: 0x10, bytes: 1 },
  u8: { code: 0x20, bytes: 1 },
  u16: { code: 0x21, bytes: 2 },
  u32: { code: 0x23, bytes: 4 },
  s16: { code: 0x29, bytes: 2 },
  enum8: { code: 0x30, bytes: 1 },
  enum16: { code: 0x31, bytes: 2 },
  bitmap8: { code: 0x18, bytes: 1 },
  bitmap16: { code: 0x19, bytes: 2 },
  eui64: { code: 0xf0, bytes: 8 },
  string: { code: 0x42, bytes: 0 },
} as const;

/** `type value` as it stands in attribute records. */
export function encodeValue(attribute: AttributeValue): Buffer {
  const { code, bytes } = dataTypes[attribute.type];
  if (attribute.type === "string") {
    const text = Buffer.from(attribute.value, "utf8");
    return Buffer.concat([Buffer.from([code, text.length]), text]);
  }
  if (attribute.type === "eui64") return Buffer.concat([Buffer.from([code]), attribute.value]);
  const value = Buffer.alloc(1 + bytes);
  value[0] = code;
  if (attribute.type === "s16") value.writeIntLE(attribute.value, 1, bytes);
  else value.writeUIntLE(attribute.value, 1, bytes);
  return value;
}

/** The value at the start of `bytes` and how many bytes it takes; undefined for types that sensors are not sent. */
export function decodeValue(bytes: Buffer): { attribute: AttributeValue; length: number } | undefined {
  const entry = Object.entries(dataTypes).find(([, type]) => type.code === bytes[0]);
  if (entry === undefined) return undefined;
  const type = entry[0] as keyof typeof dataTypes;
  const length = 1 + (type === "string" ? 1 + (bytes[1] ?? 0) : entry[1].bytes);
  if (bytes.length < length) return undefined;
  if (type === "string") return { attribute: { type, value: bytes.toString("utf8", 2, length) }, length };
  if (type === "eui64") return { attribute: { type, value: Buffer.from(bytes.subarray(1, length)) }, length };
  const value = type === "s16" ? bytes.readIntLE(1, length - 1) : bytes.readUIntLE(1, length - 1);
  return { attribute: { type, value }, length };
}

/** Zone Status Change Notification (8.2.2.4.1): zone status, extended status, zone id, delay in quarter-seconds. */
export interface StatusChange {
  readonly zonestatus: number;
  readonly zone: number;
  readonly delay_quarter_s: number;
}

export function encodeStatusChange(change: StatusChange): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16LE(change.zonestatus, 0);
  payload.writeUInt8(change.zone, 3);
  payload.writeUInt16LE(change.delay_quarter_s, 4);
  return payload;
}

/** Devices made before ZCL revision 4 leave zone and delay out. */
export function decodeStatusChange(payload: Buffer): StatusChange | undefined {
  if (payload.length < 3) return undefined;
  return {
    zonestatus: payload.readUInt16LE(0),
    zone: payload[3] ?? 0,
    delay_quarter_s: payload.length >= 6 ? payload.readUInt16LE(4) : 0,
  };
}
